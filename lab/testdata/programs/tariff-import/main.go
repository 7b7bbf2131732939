// Tariff-import reads the tariffs of carriers from files, two at a time.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/tariff-import/tariff"
)

const (
	carriers = 12
	rates    = 2700
	readers  = 2
)

func main() {
	dir, err := os.MkdirTemp("", "tariffs-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	writeFiles(dir)
	rec.Start()
	took, read := importAll(dir, func(f *os.File) io.Reader { return f })
	rec.Stop()
	mended, _ := importAll(dir, func(f *os.File) io.Reader { return bufio.NewReader(f) })
	fmt.Fprintf(os.Stderr, "proof: %d rates in %v; with a buffer, untraced: %v\n", read, took, mended)
}

func writeFiles(dir string) {
	for carrier := range carriers {
		var text strings.Builder
		for rate := range rates {
			fmt.Fprintf(&text, "zone %04d;%d.%02d EUR\n", rate, rate%90, carrier)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.csv", carrier)), []byte(text.String()), 0o644); err != nil {
			panic(err)
		}
	}
}

func importAll(dir string, open func(*os.File) io.Reader) (took time.Duration, read int64) {
	begin := time.Now()
	names, _ := filepath.Glob(filepath.Join(dir, "*.csv"))
	todo := make(chan string)
	var count atomic.Int64
	var workers sync.WaitGroup
	for range readers {
		workers.Go(func() {
			for name := range todo {
				count.Add(importFile(name, open))
			}
		})
	}
	for _, name := range names {
		todo <- name
	}
	close(todo)
	workers.Wait()
	return time.Since(begin), count.Load()
}

func importFile(name string, open func(*os.File) io.Reader) (read int64) {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	table := make(map[string]string)
	for r := tariff.NewReader(open(f)); ; read++ {
		rate, ok := r.Next()
		if !ok {
			return read
		}
		table[rate.Zone] = rate.Price
	}
}

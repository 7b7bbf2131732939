// Backup-stream copies a file into a compressed archive. Reading, compressing
// and writing are one stream by design; meanwhile a heartbeat tells the
// scheduler of backups every 20 ms that the job lives.
package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const fileBytes = 12 << 20

type backup struct {
	source, target string
	read           int64
}

type heartbeat struct {
	period time.Duration
	late   []time.Duration
}

func main() {
	dir, err := os.MkdirTemp("", "backup")
	check(err)
	defer os.RemoveAll(dir)
	b := &backup{source: filepath.Join(dir, "table.dat"), target: filepath.Join(dir, "table.dat.gz")}
	writeTable(b.source)
	beat := &heartbeat{period: 20 * time.Millisecond}
	done := make(chan struct{})
	ended := make(chan struct{})
	rec.Start()
	begin := time.Now()
	go func() { beat.run(done); close(ended) }()
	b.run()
	total := time.Since(begin)
	close(done)
	<-ended
	rec.Stop()
	slices.Sort(beat.late)
	fmt.Fprintf(os.Stderr, "proof: %d MB in %v; %d heartbeats, late by p50 %v, longest %v\n", b.read>>20,
		total.Round(time.Millisecond), len(beat.late), beat.late[len(beat.late)/2], beat.late[len(beat.late)-1])
}

func writeTable(path string) {
	rng := rand.New(rand.NewPCG(1, 2))
	file, err := os.Create(path)
	check(err)
	w := bufio.NewWriter(file)
	for n := 0; n < fileBytes; {
		k, err := fmt.Fprintf(w, "%08d;customer %d;%d;open\n", n, rng.IntN(5000), rng.IntN(90000))
		check(err)
		n += k
	}
	check(w.Flush())
	check(file.Close())
}

func (b *backup) run() {
	in, err := os.Open(b.source)
	check(err)
	defer in.Close()
	out, err := os.Create(b.target)
	check(err)
	defer out.Close()
	archive := gzip.NewWriter(out)
	b.read, err = io.CopyBuffer(struct{ io.Writer }{archive}, struct{ io.Reader }{in}, make([]byte, 256<<10))
	check(err)
	check(archive.Close())
}

func (h *heartbeat) run(done <-chan struct{}) {
	ticker := time.NewTicker(h.period)
	defer ticker.Stop()
	for {
		select {
		case due := <-ticker.C:
			h.late = append(h.late, time.Since(due))
		case <-done:
			return
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

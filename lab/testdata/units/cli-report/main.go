// Cli-report reads sales, sorts them, has another program look names up, and writes a report.
package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

func read(dir string) (sales []int) {
	defer mark.Begin("read").End()
	for n := range 40 {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(n)))
		mark.Check(err)
		for _, line := range bytes.Fields(data) {
			sale := 0
			_, err := fmt.Sscan(string(line), &sale)
			mark.Check(err)
			sales = append(sales, sale)
		}
	}
	return sales
}

func sort(sales []int) []int {
	defer mark.Begin("sort").End()
	var parts sync.WaitGroup
	for part := range slices.Chunk(sales, len(sales)/4) {
		parts.Go(func() {
			slices.Sort(part)
			mark.Work(40000)
		})
	}
	parts.Wait()
	slices.Sort(sales)
	return sales
}

// resolve waits for a program that is slow.
func resolve() {
	defer mark.Begin("resolve").End()
	mark.Check(exec.Command("sleep", "0.3").Run())
}

func write(dir string, sales []int) {
	defer mark.Begin("write").End()
	for n := range 20 {
		mark.Work(1500)
		mark.Check(os.WriteFile(filepath.Join(dir, fmt.Sprint("report", n)), fmt.Appendln(nil, sales), 0o644))
	}
}

func main() {
	dir, err := os.MkdirTemp("", "cli-report-")
	mark.Check(err)
	defer os.RemoveAll(dir)
	for n := range 40 {
		var text []byte
		for range 300 {
			text = fmt.Appendln(text, rand.IntN(10000))
		}
		mark.Check(os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), text, 0o644))
	}
	mark.Start()
	sales := read(dir)
	sales = sort(sales)
	resolve()
	write(dir, sales)
	mark.Stop()
}

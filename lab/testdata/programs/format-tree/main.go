// Format-tree formats all source files of a tree. The walk is far ahead of the
// formatters, and a short queue holds it back, so that it does not read the
// whole tree into memory.
package main

import (
	"fmt"
	"go/format"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const files = 2000

type source struct {
	path string
	text string
}

type tally struct {
	files, changed int
	busy           time.Duration
}

func main() {
	body := makeSource()
	formatters := runtime.GOMAXPROCS(0)
	tallies := make([]tally, formatters)
	queue := make(chan source, 2*formatters)
	rec.Start()
	start := time.Now()
	var open sync.WaitGroup
	open.Go(func() { walk(body, queue) })
	for i := range tallies {
		open.Go(func() { tallies[i] = formatAll(queue) })
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	var sum tally
	for _, t := range tallies {
		sum.files += t.files
		sum.changed += t.changed
		sum.busy += t.busy
	}
	fmt.Fprintf(os.Stderr, "proof: %d files (%d changed) in %v; the %d formatters were busy for %v of %v\n",
		sum.files, sum.changed, took, formatters, sum.busy, time.Duration(formatters)*took)
}

func makeSource() string {
	var b strings.Builder
	b.WriteString("package tree\n\nimport \"fmt\"\n")
	for i := range 24 {
		fmt.Fprintf(&b, "func f%d(a int,b int) (int,error) {\nif a<b { return a+b*%d,nil }\nreturn 0,fmt.Errorf(\"no %%d\",a)\n}\n", i, i)
	}
	return b.String()
}

// walk sends all files of the tree.
func walk(body string, queue chan<- source) {
	defer close(queue)
	for i := range files {
		queue <- source{fmt.Sprintf("pkg%d/file%d.go", i/20, i), body}
	}
}

func formatAll(queue <-chan source) (t tally) {
	for src := range queue {
		start := time.Now()
		if formatFile(src) {
			t.changed++
		}
		t.files++
		t.busy += time.Since(start)
	}
	return t
}

// formatFile reports whether formatting changes the file.
func formatFile(src source) bool {
	out, err := format.Source([]byte(src.text))
	if err != nil {
		fmt.Fprintln(os.Stderr, src.path, err)
		os.Exit(1)
	}
	return string(out) != src.text
}

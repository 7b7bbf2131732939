// Csv-rows splits CSV files into rows, and sums a column of each.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	rows  = 800
	files = 30
)

func main() {
	var file bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&file, "row-%06d,%d\n", i, i%100)
	}
	direct := time.Now()
	want := 0
	for range files {
		for line := range strings.Lines(file.String()) {
			want += column(line)
		}
	}
	alone := time.Since(direct)
	sum, took := 0, time.Duration(0)
	rec.Start()
	for range files {
		start := time.Now()
		sum += pipeRows(file.String())
		took += time.Since(start)
		time.Sleep(10 * time.Millisecond)
	}
	rec.Stop()
	if sum != want {
		panic("wrong sum")
	}
	fmt.Fprintf(os.Stderr, "proof: %d rows of %d files took %v through the channels, %v without\n", files*rows, files, took, alone)
}

func pipeRows(file string) int {
	lines := make(chan string)
	values := make(chan int)
	go splitRows(file, lines)
	go parseRows(lines, values)
	return sumColumn(values)
}

func splitRows(file string, out chan<- string) {
	defer close(out)
	for line := range strings.Lines(file) {
		out <- line
	}
}

func parseRows(in <-chan string, out chan<- int) {
	defer close(out)
	for line := range in {
		out <- column(line)
	}
}

func sumColumn(in <-chan int) (sum int) {
	for v := range in {
		sum += v
	}
	return sum
}

func column(line string) int {
	_, field, _ := strings.Cut(strings.TrimSpace(line), ",")
	v, err := strconv.Atoi(field)
	if err != nil {
		panic(err)
	}
	return v
}

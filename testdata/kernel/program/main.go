// Handlers is recorded both ways, by the Go tracer and by the kernel's, while the machine
// interferes: see ../README.md.
//
// Goroutines answer requests for DURATION: each request burns 100 µs of CPU and is handed
// over a channel.  It writes its trace to its first argument, and to the second, for each
// thread, how long it was on a CPU meanwhile by /proc/self/task/TID/schedstat: "TID ns"
// lines.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"time"
)

func main() {
	long, err := time.ParseDuration(os.Getenv("DURATION"))
	if err != nil || len(os.Args) != 3 {
		log.Fatal("usage: DURATION=400ms handlers TRACE TRUTH")
	}
	var buf bytes.Buffer
	buf.Grow(8 << 20)
	before := onCPU()
	if err := trace.Start(&buf); err != nil {
		log.Fatal(err)
	}
	serve(time.Now().Add(long))
	trace.Stop()
	var truth strings.Builder
	for tid, ns := range onCPU() {
		fmt.Fprintln(&truth, tid, ns-before[tid])
	}
	if err := os.WriteFile(os.Args[1], buf.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], []byte(truth.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}

// serve has eight handlers answer requests until a time.
func serve(until time.Time) {
	requests, done := make(chan int, 16), make(chan bool)
	for range 8 {
		go handle(requests, done)
	}
	for n := 0; time.Now().Before(until); n++ {
		requests <- n
	}
	close(requests)
	for range 8 {
		<-done
	}
}

var sink int

func handle(requests <-chan int, done chan<- bool) {
	x := 0
	for n := range requests {
		for i := range 45_000 {
			x += i * n
		}
	}
	sink = x
	done <- true
}

// onCPU returns for how many ns each thread of the process was on a CPU.
func onCPU() map[string]int64 {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	ns := map[string]int64{}
	for _, f := range files {
		var on int64
		if text, err := os.ReadFile(f); err == nil {
			fmt.Sscan(string(text), &on)
			ns[filepath.Base(filepath.Dir(f))] = on
		}
	}
	return ns
}

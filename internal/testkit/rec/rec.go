// Package rec is what the scenario programs share: they record their own
// execution trace with Start and Stop, and burn CPU with Work.
//
// A program is started as "PROGRAM FILE" and writes its trace to FILE. The
// trace is collected in memory and written after trace.Stop, so that the trace
// holds no file writes of the trace reader's.
package rec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"time"
)

var (
	buf      bytes.Buffer
	waitedAt map[string]int64
)

// Start starts tracing and returns when the tracer's own goroutines have run:
// on one P the run queues are then empty, and the caller has a fresh time
// slice. No GC cycle is under way, and none follows before the program has
// allocated some 8 MB.
func Start() {
	buf.Grow(8 << 20)
	// While all Ps are idle sysmon goes to sleep, and wakes up with its
	// shortest delay, 20 µs instead of up to 10 ms: retakes and preemptions
	// then come about as soon after Start in each recording.
	time.Sleep(20 * time.Millisecond)
	waitedAt = threadWaits()
	runtime.GC()
	if err := trace.Start(&buf); err != nil {
		fatal(err)
	}
	// trace.Start leaves new goroutines in the local run queue. A yield puts
	// the caller at the tail of the global queue, behind them; three of them,
	// because at every 61st tick the global queue comes first.
	for i := 0; i < 3; i++ {
		runtime.Gosched()
	}
}

// Stop stops tracing and writes the trace to the file named by the program's
// only argument. It prints for how many nanoseconds, summed over the
// threads still alive, a thread could have run but had no CPU since Start
// (-1: not known here).
func Stop() {
	trace.Stop()
	wait := int64(-1)
	for thread, nanos := range threadWaits() {
		wait = max(wait, 0) + nanos - waitedAt[thread]
	}
	if len(os.Args) != 2 {
		fatal(fmt.Errorf("usage: %s FILE", os.Args[0]))
	}
	if err := os.WriteFile(os.Args[1], buf.Bytes(), 0o644); err != nil {
		fatal(err)
	}
	fmt.Println(wait)
}

// CaseVariable is the variable that tells a program of several cases which one to
// be.
const CaseVariable = "CASE"

// Case is the value of [CaseVariable]: "" for the case that is called like the
// program's folder.
func Case() string { return os.Getenv(CaseVariable) }

// roundsPerUnit makes a unit of Work last about one microsecond on the
// machines this was written on (2.2 ns a round).
const roundsPerUnit = 450

// Work burns CPU: units × about one microsecond. It is a fixed amount of
// work, not of time, makes no call, and can be preempted only by a signal.
//
//go:noinline
func Work(units int) uint64 {
	x := uint64(88172645463325252)
	for i := 0; i < units*roundsPerUnit; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// threadWaits returns for how many nanoseconds each live thread of this
// process was runnable but without a CPU; nothing where Linux's schedstat is
// missing.
func threadWaits() map[string]int64 {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	waits := make(map[string]int64)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		var ran, waited int64
		if _, err := fmt.Sscan(string(data), &ran, &waited); err == nil {
			waits[file] = waited
		}
	}
	return waits
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Package mark is what programs share that write down when each of their units of work begins
// and ends, by the clock of their trace.
package mark

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync/atomic"
	_ "unsafe" // for go:linkname

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

// nanotime is the clock of a trace.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// most is how many units a program may do.
const most = 1 << 16

var (
	done  [most]record // no lock, which would be an event at the end of a unit
	count atomic.Int64
	twin  = os.Getenv("MARK") == "region"
)

// record is a unit that is over.
type record struct {
	kind     string
	start    uintptr // a program counter in the start function of its goroutine
	g        int64
	from, to int64
	written  int64 // when it was written down
}

// Unit is a unit that is under way.
type Unit struct {
	kind   string
	from   int64
	region *trace.Region // nil where units are not marked in the trace
}

// Start starts the trace.
func Start() {
	for i := range done {
		done[i].kind = "" // a page fault now is none in a unit
	}
	rec.Start()
}

// Stop stops the trace, and writes it to the file named by the program's only argument, and the
// units beside it.
func Stop() {
	rec.Stop()
	Check(os.WriteFile(os.Args[1]+".jsonl", lines(), 0o644))
}

// lines has a line for each unit.
func lines() []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for i := range count.Load() {
		r := &done[i]
		frames := runtime.CallersFrames([]uintptr{r.start})
		frame, more := frames.Next()
		for more { // what was inlined comes first
			frame, more = frames.Next()
		}
		line := struct {
			Kind  string `json:"kind"`
			Class string `json:"class"`
			G     int64  `json:"g"`
			T0    int64  `json:"t0_ns"`
			T1    int64  `json:"t1_ns"`
			W1    int64  `json:"w1_ns"`
		}{r.kind, frame.Function, r.g, r.from, r.to, r.written}
		Check(enc.Encode(line))
	}
	return out.Bytes()
}

// Begin begins a unit on the calling goroutine.
func Begin(kind string) Unit {
	u := Unit{kind: kind, from: nanotime()}
	if twin {
		u.region = trace.StartRegion(context.Background(), kind)
	}
	return u
}

// End ends the unit on the goroutine that began it.
func (u Unit) End() {
	if u.region != nil {
		u.region.End()
	}
	to := nanotime()
	r := &done[count.Add(1)-1]
	*r = record{u.kind, start(), goroutine(), u.from, to, 0}
	r.written = nanotime()
}

// start returns a program counter in the start function of the calling goroutine.
func start() uintptr {
	var pcs [128]uintptr
	n := runtime.Callers(3, pcs[:]) - 1                         // the last one is runtime.goexit
	if runtime.FuncForPC(pcs[n-1]-1).Name() == "runtime.main" { // a return address less one is in the call
		n--
	}
	return pcs[n-1]
}

// goroutine returns the number of the calling goroutine.
func goroutine() int64 {
	var text [64]byte
	n := runtime.Stack(text[:], false)
	number, _, _ := bytes.Cut(text[len("goroutine "):n], []byte(" "))
	g, err := strconv.ParseInt(string(number), 10, 64)
	Check(err)
	return g
}

// Work computes for about that many microseconds. The stack of a goroutine that is preempted in
// a function without a frame, such as rec.Work, lacks its caller: this one.
//
//go:noinline
func Work(micros int) { rec.Work(micros) }

// Check ends the program if there is an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

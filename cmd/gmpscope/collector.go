package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// gcRoom is by how many bytes the heap grows, while a trace is analysed, before the
	// collector comes again. What the analysis keeps are large pieces without pointers,
	// which cost the collector next to nothing: it can come often. With 12 MB memory is
	// up to 13 MB less, but tests of net/http and a compiler's stacks take 4 to 7 % more
	// CPU time.
	gcRoom = 24 << 20
	// gcLeast and gcMost bound that, as shares of what is live, in percent.
	gcLeast, gcMost = 8, 40
	// gcFirst is GOGC until the collector has come once, which is when the heap has 80 MB
	// (runtime.gcControllerState.heapMinimum: 4 MB at GOGC=100). Else it would come twenty
	// times while the heap grows to that, which a short trace does not need.
	gcFirst = 2000
	// gcNext is that for further traces, of which there may be many small ones: the heap has 16 MB.
	gcNext = 400
)

// analyzed reports whether the collector kept the heap small for a trace before.
var analyzed atomic.Bool

// collectOften has the garbage collector keep the heap small until done is called.
func collectOften() (done func()) {
	var over atomic.Bool
	until := gcFirst
	if analyzed.Swap(true) {
		until = gcNext
	}
	before := debug.SetGCPercent(until)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var collected func(*[16]byte)
	collected = func(*[16]byte) {
		if over.Load() {
			return
		}
		metrics.Read(live)
		debug.SetGCPercent(min(gcMost, max(gcLeast, int(100*gcRoom/max(1, live[0].Value.Uint64())))))
		runtime.SetFinalizer(new([16]byte), collected) // for the next time
	}
	runtime.SetFinalizer(new([16]byte), collected)
	return func() {
		over.Store(true)
		debug.SetGCPercent(before)
	}
}

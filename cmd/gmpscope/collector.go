package main

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

const (
	// gcPercent is GOGC while a trace is analysed. What the analysis keeps are large
	// pieces without pointers, which cost the collector next to nothing: it can come
	// four times as often, for a third less memory.
	gcPercent = 25
	// gcFirst is GOGC until the collector has come once, which is when the heap has 96 MB
	// (runtime.gcControllerState.heapMinimum: 4 MB at GOGC=100). Else it would come twenty
	// times while the heap grows to that, which a short trace does not need.
	gcFirst = 2400
)

// collectOften has the garbage collector keep the heap small until done is called.
func collectOften() (done func()) {
	var over atomic.Bool
	before := debug.SetGCPercent(gcFirst)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) {
		if !over.Load() {
			debug.SetGCPercent(gcPercent)
		}
	})
	return func() {
		over.Store(true)
		debug.SetGCPercent(before)
	}
}

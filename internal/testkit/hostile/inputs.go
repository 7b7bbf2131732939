package hostile

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Inputs returns all traces that are made to cost much. Those called v1 are in the format
// before Go 1.22.
func Inputs() []Input {
	return append(unitInputs(), []Input{
		{"tiny-batches", "millions of batches with one event, and no frequency", func(w *writer) { tinyBatches(w, false) }},
		{"tiny-batches-sound", "millions of batches with one event, all sound", func(w *writer) { tinyBatches(w, true) }},
		{"empty-batches", "millions of batches without an event, and a stack that is not there", emptyBatches},
		{"waiting-threads", "60,000 threads, each of which waits for the next", func(w *writer) { waitingThreads(w, 60_000) }},
		{"waiting-threads-again", "generations of 500 threads, each of which waits for the next", func(w *writer) { waitingThreads(w, 500) }},
		{"waiting-threads-refused", "60,000 threads that wait, and then a contradiction", waitingRefused},
		{"threads", "a new thread for each event", manyThreads},
		{"procs", "65,536 Ps, all running", manyProcs},
		{"gomaxprocs", "GOMAXPROCS that changes from 1 to 2 billion and back", func(w *writer) {
			w.generations(1<<20, func(i int) { w.event(wire.ProcsChange, 1, 1+uint64(i%2)<<31, 0) })
		}},
		{"goroutines", "goroutines that are created and never run", func(w *writer) {
			w.generations(math.MaxInt, func(i int) { w.event(wire.GoCreate, 1, uint64(i+2), 0, 0) })
		}},
		{"goroutines-blocked", "goroutines that existed before", func(w *writer) {
			w.generations(math.MaxInt, func(i int) { w.event(wire.GoStatus, 0, uint64(i+2), math.MaxUint64, goWaiting) })
		}},
		{"churn", "goroutines that are created, run and end", churn},
		{"events", "as many events as fit", func(w *writer) {
			w.fill()
			w.generations(1<<20, func(int) { w.event(wire.HeapAlloc, 1, 1) })
		}},
		{"yields", "goroutines that yield in turns", yields},
		{"syscalls", "system calls, one after the other", syscalls},
		{"collections", "collections of garbage, one after the other", collections},
		{"stop-the-world", "the world is stopped all the time", func(w *writer) {
			w.generations(1<<20, func(i int) {
				w.event(wire.STWBegin, 1, w.only("read mem stats"), 0)
				w.event(wire.STWEnd, 1)
			})
		}},
		{"generations", "generations with one event", func(w *writer) {
			w.generations(1, func(int) { w.event(wire.HeapAlloc, 1, 1) })
		}},
		{"leaps", "times that leap by years, and back", leaps},
		{"classes", "goroutines with as many start functions", classes},
		{"deep-stacks", "stacks of 128 frames, all different", deepStacks},
		{"strings", "labels, all different", func(w *writer) {
			w.generations(60_000, func(i int) { w.event(wire.GoLabel, 1, w.string(fmt.Sprint(i))) })
		}},
		{"long-strings", "labels of 1 KiB, all different", func(w *writer) {
			long := strings.Repeat("x", wire.MaxStringSize-10)
			w.generations(1000, func(i int) { w.event(wire.GoLabel, 1, w.string(fmt.Sprintf("%d%s", i, long))) })
		}},
		{"tasks", "tasks that never end", func(w *writer) {
			w.generations(1<<20, func(i int) { w.event(wire.UserTaskBegin, 1, uint64(i+1), 0, w.only("task"), 0) })
		}},
		{"regions", "regions inside of each other, all with names of their own", func(w *writer) {
			w.generations(60_000, func(i int) { w.event(wire.UserRegionBegin, 1, 0, w.string(fmt.Sprintf("region%d", i)), 0) })
		}},
		{"logs", "logs of the program", func(w *writer) {
			w.generations(1<<20, func(i int) { w.event(wire.UserLog, 1, 0, w.only("log"), 1, 0) })
		}},
		{"samples", "CPU samples only", samples},
		{"dense", "a generation of 20 MiB behind a small one, both sound", func(w *writer) {
			for _, batches := range []int{1, min(400, w.size.Unpacked>>16)} {
				w.begin()
				w.running()
				w.event(wire.GoCreate, 1000, w.gen+1, 0, 0)
				w.flush()
				for range batches {
					w.batchOf(wire.ExperimentalBatch, w.now, make([]byte, 50<<10))
				}
				w.end()
			}
		}},
		{"wakes", "a goroutine that wakes as many as there are", wakes},
		{"bad-batches", "what may be batches, and is not", badBatches},
		{"zeros", "nothing, packed a thousand-fold", (*writer).bomb},
		{"zeros-zstd", "nothing, packed by zstd", func(w *writer) {
			w.zstd()
			w.bomb()
		}},
		{"v1-events", "as many events as fit", func(w *writer) {
			w.v1(func(i int) { w.eventV1(heapAllocV1, 1, 1) })
		}},
		{"v1-goroutines", "goroutines that are created and never run", func(w *writer) {
			w.v1(func(i int) { w.eventV1(goCreateV1, 1, uint64(i+2), 0, 0) })
		}},
		{"v1-churn", "goroutines that are created, run and end", func(w *writer) {
			w.v1(func(i int) {
				w.eventV1(goEndV1, 1)
				w.eventV1(goCreateV1, 1, uint64(i+2), 0, 0)
				w.eventV1(goStartV1, 1, uint64(i+2), 1)
			})
		}},
		{"v1-long-names", "names of 0.9 MB", longNamesV1},
		{"v1-strings", "strings, all different", func(w *writer) {
			w.v1(func(i int) { w.stringV1(uint64(i+1), fmt.Sprintf("%x", i)) })
		}},
		{"v1-regions", "regions, all with names of their own", func(w *writer) {
			w.v1(func(i int) {
				w.stringV1(uint64(i+1), fmt.Sprintf("%x", i))
				w.eventV1(regionV1, 1, 0, 0, 0, uint64(i+1))
			})
		}},
		{"v1-stacks", "stacks of 100 frames, all different", func(w *writer) {
			w.v1(func(i int) {
				args := []uint64{uint64(i + 1), 100}
				for j := range uint64(100) {
					args = append(args, uint64(i)*100+j+1, 1, 1, 1)
				}
				w.eventV1(stackV1, args...)
			})
		}},
		{"v1-procs", "a P for each event", func(w *writer) {
			w.v1(func(i int) {
				w.eventV1(batchV1, uint64(i+1), uint64(i+2))
				w.eventV1(procStartV1, 1, 1)
			})
		}},
		{"v1-logs", "logs of the program, with texts", func(w *writer) {
			w.v1(func(i int) {
				w.eventV1(logV1, 1, 0, 0, 0)
				w.batch = append(w.batch, 4, byte(i), byte(i>>8), byte(i>>16), 'x')
			})
		}},
	}...)
}

func tinyBatches(w *writer, sound bool) {
	w.begin0(sound)
	w.filler()
	for !w.full() {
		w.event(wire.HeapAlloc, 1, 1)
		w.flush()
	}
	w.end()
}

// begin0 begins a generation, if it is a sound one with its clock.
func (w *writer) begin0(sound bool) {
	if !sound {
		w.gen++
		w.start = w.now
		return
	}
	w.begin()
	w.running()
	w.flush()
}

func emptyBatches(w *writer) {
	w.begin()
	w.running()
	w.event(wire.ProcsChange, 1, 1, 1_000_003)
	w.filler()
	for !w.full() {
		w.batchOf(wire.EventBatch, w.now, nil)
	}
	w.end()
}

// waitingThreads is goroutines that n threads want to run in the opposite order of
// their times.
func waitingThreads(w *writer, n int) {
	for !w.full() {
		w.waiting(n)
		w.end()
	}
}

// waiting has n threads run on P 1 one after the other, each at an earlier time
// than the one before.
func (w *writer) waiting(n int) {
	w.begin()
	w.running()
	w.event(wire.ProcStatus, 1, 1, procIdle)
	at := w.now
	for i := range uint64(n) {
		if w.full() {
			break
		}
		w.flush()
		w.m, w.start = i+2, at+1000*(uint64(n)-i)
		w.event(wire.ProcStart, 0, 1, i+1)
		w.event(wire.ProcStop, 0)
	}
	w.flush()
	w.now = at + 1000*uint64(n)
}

func waitingRefused(w *writer) {
	w.waiting(60_000)
	w.on(1)
	w.event(wire.GoSyscallEnd, 1) // of none
	w.end()
}

func manyThreads(w *writer) {
	w.generations(100_000, func(i int) {
		w.on(uint64(i + 2))
		w.event(wire.ProcStatus, 1, 1, procIdle)
	})
}

func manyProcs(w *writer) {
	for !w.full() {
		w.begin()
		w.running()
		for p := range uint64(1<<16 - 1) {
			w.event(wire.ProcStatus, 1, p+1, procIdle)
		}
		for p := range uint64(1<<16 - 1) {
			if w.full() {
				break
			}
			w.on(p + 2)
			w.event(wire.ProcStart, 1, p+1, 1)
			w.event(wire.GoStatus, 1, p+2, p+2, goRunning)
		}
		w.end()
	}
}

func churn(w *writer) {
	w.fill()
	w.generations(1<<20, func(int) {
		w.event(wire.GoCreate, 1, 2, 0, 0)
		w.event(wire.GoBlock, 1, 0, 0)
		w.event(wire.GoStart, 1, 2, 1)
		w.event(wire.GoUnblock, 1, 1, 1, 0)
		w.event(wire.GoDestroy, 1)
		w.event(wire.GoStart, 1, 1, 2)
		w.event(wire.GoStatus, 1, 1, 1, goRunning) // numbers begin again
	})
}

func yields(w *writer) {
	w.fill()
	w.generations(1<<20, func(int) {
		w.event(wire.GoStop, 1, 0, 0)
		w.event(wire.GoStart, 1, 1, 1)
		w.event(wire.GoStatus, 1, 1, 1, goRunning)
	})
}

func syscalls(w *writer) {
	w.fill()
	w.generations(1<<20, func(int) {
		w.event(wire.GoSyscallBegin, 1, 1, 0)
		w.event(wire.GoSyscallEnd, 1)
		w.event(wire.ProcStatus, 1, 0, procRunning)
	})
}

func collections(w *writer) {
	w.generations(1<<16, func(i int) {
		seq := uint64(2*i + 1)
		w.event(wire.GCBegin, 1, seq, 0)
		w.event(wire.GCMarkAssistBegin, 1, 0)
		w.event(wire.GCMarkAssistEnd, 1)
		w.event(wire.GCEnd, 1, seq+1)
	})
}

func leaps(w *writer) {
	w.generations(1000, func(i int) {
		w.event(wire.GoCreate, 1<<(i%56), uint64(i+2), 0, 0)
		w.event(wire.GoStop, 1, 0, 0)
		w.event(wire.GoStart, 1<<(i%50), 1, 1)
		w.event(wire.GoStatus, 1, 1, 1, goRunning)
		if i%56 == 55 {
			w.flush()
			w.now = second
			w.start = second
		}
	})
}

func classes(w *writer) {
	w.generations(60_000, func(i int) {
		id := w.string(fmt.Sprintf("f%x", i))
		w.event(wire.GoCreate, 1, uint64(i+2), w.stack(frame{uint64(i + 1), id, id, 1}), 0)
		w.event(wire.GoBlock, 1, 0, 0)
		w.event(wire.GoStart, 1, uint64(i+2), 1)
		w.event(wire.GoUnblock, 1, 1, 1, 0)
		w.event(wire.GoDestroy, 1)
		w.event(wire.GoStart, 1, 1, 2)
		w.event(wire.GoStatus, 1, 1, 1, goRunning)
	})
}

func deepStacks(w *writer) {
	frames := make([]frame, 128)
	w.generations(1000, func(i int) {
		f := w.only("f")
		for j := range frames {
			frames[j] = frame{uint64(j + 1), f, f, 1}
		}
		frames[0] = frame{uint64(1000 + i), f, f, uint64(i)}
		w.event(wire.GoStop, 1, 0, w.stack(frames...))
		w.event(wire.GoStart, 1, 1, 1)
		w.event(wire.GoStatus, 1, 1, 1, goRunning)
	})
}

func samples(w *writer) {
	data := []byte{wire.CPUSamples}
	for len(data)+64 < wire.MaxBatchSize {
		data = append(data, wire.CPUSample, 1, 1, 0, 1, 0)
	}
	w.generations(100, func(int) {
		w.flush()
		w.batchOf(wire.EventBatch, w.now, data)
	})
}

func wakes(w *writer) {
	n := w.size.Stored / 32
	for !w.full() {
		w.begin()
		w.running()
		for g := range uint64(n) {
			if w.full() {
				break
			}
			w.event(wire.GoStatus, 1, g+2, math.MaxUint64, goWaiting)
			w.event(wire.GoUnblock, 1, g+2, 1, 0)
		}
		for g := range uint64(n) {
			if w.full() {
				break
			}
			w.event(wire.GoBlock, 1, 0, 0)
			w.event(wire.GoStart, 1, g+2, 2)
			w.event(wire.GoUnblock, 1, 1, 1, 0)
			w.event(wire.GoBlock, 1, 0, 0)
			w.event(wire.GoStart, 1, 1, 2)
			w.event(wire.GoStatus, 1, 1, 1, goRunning)
		}
		w.end()
	}
}

// bomb writes zeros, beyond the size that may be unpacked: to be refused.
func (w *writer) bomb() {
	zeros := make([]byte, 1<<20)
	for w.unpacked < 4*w.size.Unpacked && w.out.Len() < w.size.Stored*7/8 {
		w.write(zeros)
	}
}

// badBatches is headers of batches that lead to each other, for so long that a
// search for the next batch nearly believes them.
func badBatches(w *writer) {
	w.begin()
	w.running()
	w.end()
	w.filler()
	almost := bytes.Repeat([]byte{wire.EventBatch, 1, 1, 0, 1, wire.HeapAlloc}, 4)
	almost = append(almost, 0)
	for !w.full() {
		w.write(bytes.Repeat(almost, 1000))
	}
}

// v1 writes a trace in the format before Go 1.22, until it is full.
func (w *writer) v1(f func(i int)) {
	w.header = "go 1.21 trace\x00\x00\x00"
	w.eventV1(batchV1, 0, 1)
	w.eventV1(frequencyV1, second)
	w.eventV1(gomaxprocsV1, 1, 1, 0)
	w.eventV1(procStartV1, 1, 1)
	w.eventV1(goCreateV1, 1, 1, 0, 0)
	w.eventV1(goStartV1, 1, 1, 1)
	for i := 0; !w.full(); i++ {
		f(i)
	}
	w.flushV1()
}

func longNamesV1(w *writer) {
	long := strings.Repeat("x", 900_000)
	w.v1(func(i int) {
		id := uint64(i + 1)
		w.stringV1(id, fmt.Sprint(long, i))
		w.eventV1(stackV1, id, 1, id, id, id, 1)
		w.eventV1(goCreateV1, 1, uint64(i+2), id, id)
		w.eventV1(taskCreateV1, 1, id, 0, 0, id)
	})
}

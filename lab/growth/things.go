package growth

import (
	"fmt"
	"io"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/tracewriter"
)

// thing is what a trace can have many of.
type thing struct {
	name string
	most int // of them
	make func(p *program, n, events int)
}

// things are what is tried. A program has a driver, which runs on P0, and workers, which run on
// P1 unless it says where.
var things = []thing{
	{"goroutines", 1 << 15, func(p *program, n, events int) { p.wakeInTurn(n, events, same) }},
	{"classes", 1 << 15, func(p *program, n, events int) { p.wakeInTurn(n, events, distinct) }},
	{"stacks", 1 << 15, func(p *program, n, events int) {
		p.create(1, same)
		for i := 0; p.events < events; i++ {
			p.wake(0, p.stack("runtime.chansend1", "main.send"))
			p.start(1, 0)
			p.block("chan receive", p.deep(i%n))
		}
	}},
	{"sites", 1 << 12, func(p *program, n, events int) {
		p.lockInTurn(8, events, func(i int) (lock, unlock uint64) {
			name := fmt.Sprintf("main.hold%d", i%n)
			return p.stack("sync.(*Mutex).Lock", name), p.stack("sync.(*Mutex).Unlock", "main.hold")
		})
	}},
	{"holders", 1 << 12, func(p *program, n, events int) {
		p.lockInTurn(8, events, func(i int) (lock, unlock uint64) {
			name := fmt.Sprintf("main.hold%d", i%n)
			return p.stack("sync.(*Mutex).Lock", "main.hold"), p.stack("sync.(*Mutex).Unlock", name)
		})
	}},
	{"waiters", 1 << 12, func(p *program, n, events int) {
		p.lockInTurn(n, events, func(int) (lock, unlock uint64) {
			return p.stack("sync.(*Mutex).Lock", "main.hold"), p.stack("sync.(*Mutex).Unlock", "main.hold")
		})
	}},
	{"queue length", 1 << 15, func(p *program, n, events int) {
		p.create(n, same)
		at := p.stack("runtime.Gosched", "main.poll")
		for i := range n {
			p.wake(i, at)
		}
		for i := 0; p.events < events; i++ {
			p.start(1, i%n)
			p.thread(1, wire.GoStop, p.encoder.String("runtime.Gosched"), at)
		}
	}},
	{"burst", 1 << 15, func(p *program, n, events int) {
		p.create(n, same)
		at := p.stack("runtime.chanrecv1", "main.receive")
		for p.events < events {
			for i := range n {
				p.wake(i, at)
			}
			for i := range n {
				p.start(1, i)
				p.block("chan receive", at)
			}
		}
	}},
	{"Ps", 1 << 9, func(p *program, n, events int) {
		p.create(n, same)
		at := p.stack("runtime.chanrecv1", "main.receive")
		for i := 0; p.events < events; i++ {
			on := 1 + i%n
			p.wake(i%n, at)
			p.start(int64(on), i%n)
			p.thread(int64(on), wire.GoBlock, p.encoder.String("chan receive"), at)
		}
	}},
	{"tasks", 1 << 14, func(p *program, n, events int) {
		p.create(1, same)
		task := p.encoder.String("task")
		for i := 0; p.events < events; i++ {
			p.thread(0, wire.UserTaskBegin, uint64(i+1), 0, task, 0)
			if i >= n {
				p.thread(0, wire.UserTaskEnd, uint64(i+1-n), 0)
			}
		}
	}},
	{"task types", 1 << 14, func(p *program, n, events int) {
		p.create(1, same)
		for i := 0; p.events < events; i++ {
			p.thread(0, wire.UserTaskBegin, uint64(i+1), 0, p.encoder.String(fmt.Sprintf("task%d", i%n)), 0)
			p.thread(0, wire.UserTaskEnd, uint64(i+1), 0)
		}
	}},
	{"short lives", 1 << 15, func(p *program, n, events int) {
		p.create(1, same)
		at, start := p.stack("main.spawn"), p.stack("main.job")
		for g := uint64(1000); p.events < events; g += uint64(n) {
			for i := range uint64(n) {
				p.thread(0, wire.GoCreate, g+i, start, at)
			}
			for i := range uint64(n) {
				p.seq[int(g+i)] = 1
				p.thread(1, wire.GoStart, g+i, 1)
				p.thread(1, wire.GoDestroy)
			}
		}
	}},
}

// program writes what one does.
type program struct {
	encoder *tracewriter.Encoder
	now     int64
	events  int
	seq     map[int]uint64 // by goroutine
}

// write writes the trace of a program that has n of a thing.
func (t *thing) write(to io.Writer, n, events int) error {
	p := &program{encoder: tracewriter.NewEncoder(to, 26), seq: map[int]uint64{}}
	p.encoder.Begin()
	const running = 1 // a P
	p.thread(0, wire.ProcStatus, 0, running)
	p.thread(0, wire.GoStatus, 1, 0, 2) // it runs
	ps := 1
	if t.name == "Ps" {
		ps = n
	}
	for i := range ps {
		p.thread(int64(i+1), wire.ProcStatus, uint64(i+1), running)
	}
	t.make(p, n, events)
	p.encoder.End()
	return p.encoder.Err()
}

// thread appends an event to those of a thread, a µs after the last one.
func (p *program) thread(m int64, kind byte, args ...uint64) {
	p.now += 1000
	p.events++
	p.encoder.Event(m, p.now, kind, args...)
}

func (p *program) stack(functions ...string) uint64 { return p.encoder.Stack(functions...) }

// deep returns a stack of 30 functions, of which each number has its own.
func (p *program) deep(number int) uint64 {
	functions := strings.Fields(strings.Repeat("main.descend ", 30))
	functions[0], functions[15] = "runtime.chanrecv1", fmt.Sprintf("main.parse%d", number)
	return p.stack(functions...)
}

// firstWorker is the goroutine of worker 0.
const firstWorker = 100

// same and distinct are names of start functions, by the number of the worker.
func same(int) string       { return "main.worker" }
func distinct(i int) string { return fmt.Sprintf("main.worker%d", i) }

// create has the driver create workers, which block at once.
func (p *program) create(n int, function func(i int) string) {
	at := p.stack("main.main")
	for i := range n {
		p.thread(0, wire.GoCreate, uint64(firstWorker+i), p.stack(function(i)), at)
		p.start(1, i)
		p.block("chan receive", p.stack("runtime.chanrecv1", function(i)))
	}
}

// start starts a worker.
func (p *program) start(m int64, i int) {
	p.seq[i]++
	p.thread(m, wire.GoStart, uint64(firstWorker+i), p.seq[i])
}

// block blocks the worker that runs on P1.
func (p *program) block(reason string, stack uint64) {
	p.thread(1, wire.GoBlock, p.encoder.String(reason), stack)
}

// wake has the driver wake a worker.
func (p *program) wake(i int, stack uint64) { p.wakeFrom(0, i, stack) }

func (p *program) wakeFrom(m int64, i int, stack uint64) {
	p.seq[i]++
	p.thread(m, wire.GoUnblock, uint64(firstWorker+i), p.seq[i], stack)
}

// wakeInTurn has the driver wake one worker after the other.
func (p *program) wakeInTurn(n, events int, function func(i int) string) {
	p.create(n, function)
	at := p.stack("runtime.chansend1", "main.send")
	for i := 0; p.events < events; i++ {
		p.wake(i%n, at)
		p.start(1, i%n)
		p.block("chan receive", p.stack("runtime.chanrecv1", function(i%n)))
	}
}

// lockInTurn has workers stand in line for a lock, which each hands on to the next.
func (p *program) lockInTurn(n, events int, stacks func(i int) (lock, unlock uint64)) {
	p.create(n, same)
	for i := range n {
		p.wake(i, p.stack("main.main"))
		p.start(1, i)
		lock, _ := stacks(i)
		p.block("sync", lock)
	}
	p.wake(0, p.stack("main.main"))
	for i := 0; p.events < events; i++ {
		p.start(1, i%n)
		lock, unlock := stacks(i)
		if n > 1 {
			p.now += 300_000
			p.wakeFrom(1, (i+1)%n, unlock)
		}
		p.block("sync", lock)
	}
}

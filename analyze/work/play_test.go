package work

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// play is a program of a few goroutines, told step by step. Each goroutine has a P of its
// own, by its number. Stacks and classes are named by what is in them.
type play struct {
	t       *testing.T
	now     int64
	ds      []reference.Decision
	stacks  [][]*Frame
	classes []string
	class   map[int64]int32
	waking  int32 // stack at which goroutines wake others
}

func newPlay(t *testing.T) *play {
	return &play{t: t, stacks: make([][]*Frame, 1), classes: make([]string, 1), class: map[int64]int32{}}
}

// stack returns the handle of a stack, from the root on. Each function is called at line 1,
// or at the line behind a colon.
func (p *play) stack(functions ...string) int32 {
	var frames []*Frame
	for i := len(functions) - 1; i >= 0; i-- {
		f := &Frame{Function: functions[i], File: "f.go", Line: 1}
		if k := len(f.Function) - 2; f.Function[k] == ':' {
			f.Function, f.Line = f.Function[:k], uint64(f.Function[k+1]-'0')
		}
		frames = append(frames, f)
	}
	p.stacks = append(p.stacks, frames)
	return int32(len(p.stacks) - 1)
}

func (p *play) add(d reference.Decision) {
	d.Time, d.Class, d.Victim = p.now, p.class[d.G], -1
	p.ds = append(p.ds, d)
}

func (p *play) after(ns int64) *play { p.now += ns; return p }

// begin has a goroutine run that was there before the trace.
func (p *play) begin(g int64) *play {
	p.add(reference.Decision{Kind: reference.KindReady, G: g, By: -1, Flags: reference.FlagFirst})
	p.add(reference.Decision{Kind: reference.KindStart, G: g, P: int32(g)})
	return p
}

// create has a goroutine create and run another.
func (p *play) create(by, g int64, start string, stack int32) *play {
	p.classes = append(p.classes, start)
	p.class[g] = int32(len(p.classes) - 1)
	p.add(reference.Decision{Kind: reference.KindReady, Why: reference.WhyCreate, G: g, By: by, P: int32(by), Stack: stack})
	p.add(reference.Decision{Kind: reference.KindStart, G: g, P: int32(g)})
	return p
}

// block has a goroutine wait for ns, and run at once.
func (p *play) block(g int64, r reference.Reason, stack int32, ns int64) *play {
	p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyBlock, Reason: r, G: g, P: int32(g), Stack: stack})
	why := reference.WhyNetwork
	if r == reference.ReasonSleep {
		why = reference.WhyTimer
	}
	p.after(ns).add(reference.Decision{Kind: reference.KindReady, Why: why, G: g, By: -1})
	p.add(reference.Decision{Kind: reference.KindStart, G: g, P: int32(g)})
	return p
}

// call has a goroutine be in a system call for ns.
func (p *play) call(g int64, stack int32, ns int64) *play {
	p.add(reference.Decision{Kind: reference.KindSyscall, G: g, P: int32(g), Stack: stack})
	p.after(ns).add(reference.Decision{Kind: reference.KindSyscallExit, G: g, P: int32(g)})
	return p
}

// stopWorld has a goroutine stop the world for ns.
func (p *play) stopWorld(g int64, stack int32, ns int64) *play {
	p.add(reference.Decision{Kind: reference.KindSTWBegin, G: g, P: int32(g), Stack: stack})
	p.after(ns).add(reference.Decision{Kind: reference.KindSTWEnd, G: g, P: int32(g)})
	return p
}

func (p *play) exit(g int64) *play {
	p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyExit, G: g, P: int32(g)})
	return p
}

// annotate has a goroutine begin or end a task or region of the type with a number.
func (p *play) annotate(k reference.Kind, g, task int64, label int32) *play {
	p.add(reference.Decision{Kind: k, G: g, By: task, P: int32(g), Label: label})
	return p
}

func (p *play) options() Options {
	stacks := make([][]*Frame, len(p.stacks)) // what an Accumulator learns stays with its frames
	for i, frames := range p.stacks {
		for _, f := range frames {
			stacks[i] = append(stacks[i], new(*f))
		}
	}
	return Options{
		Frames: func(stack int32) []*Frame { return stacks[stack] },
		Class:  func(class int32) Class { return Class{Name: p.classes[class], Start: p.classes[class]} },
		Label:  func(label int32) string { return string(rune('a' + label)) },
	}
}

// units plays to the end.
func (p *play) units() []Unit {
	var out []Unit
	o := p.options()
	o.OnUnit = func(u Unit) { out = append(out, u) }
	a := New(o)
	feed(a, p.ds)
	a.Finish(p.now, p.now, itself)
	return out
}

func feed(a *Accumulator, ds []reference.Decision) {
	ledger.NewFeed(func(b *ledger.Block) { a.Add(b, nil) }).AddAll(ds)
}

// itself gives names as they are.
var itself = Names{Function: func(name string) string { return name }, Label: func(label int32) string { return string(rune('a' + label)) }}

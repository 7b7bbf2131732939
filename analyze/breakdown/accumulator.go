package breakdown

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// ClassOthers is the ID of the account shared by all classes after the first 2000, as in
// package waits.
const ClassOthers = int32(-1)

// maxClasses is how many classes have an account of their own.
const maxClasses = 2000

// Accumulator sums the time that the goroutines of each class spend in each state, from a
// stream of decisions. Its memory depends on the number of goroutines alive at one time: 40
// bytes each, and 32 more for every three states beyond running, runnable and one. It is not
// safe for concurrent use.
type Accumulator struct {
	now     int64
	begin   int64 // of the trace, or end of the last gap
	part    ledger.Part
	gors    ids.Parts[record] // by slot of the ledger
	slots   int32
	more    []entries // index 0 is not used
	free    int32     // first of those that are free, or 0
	handles []int32   // of the classes
	classes []account // by the ledger's index of the class
}

// account is that of a class.
type account struct {
	goroutines int64
	complete   int64 // goroutines created and ended in the stream
	completeNs int64 // their lives
	runtime    bool  // some of them are the runtime's
	TimeByState
}

// New returns an empty Accumulator of a part of a stream.
func New(p ledger.Part) *Accumulator { return &Accumulator{part: p} }

// Add processes the next block of the stream. It does not retain the block. Timestamps that
// go backwards are clamped.
func (a *Accumulator) Add(b *ledger.Block) {
	a.gors.Grow(b.Slots)
	a.slots = max(a.slots, b.Slots)
	a.handles = b.Classes
	ds := b.Decisions
	for i := range b.Notes[:len(ds)] {
		switch n := &b.Notes[i]; {
		case n.Changed&ledger.Turned != 0:
			if r := a.turn(&ds[i], n); r.state == unseen {
				a.ended(r, &ds[i], n)
			}
		case n.Changed&ledger.Gap != 0:
			a.lose(&ds[i])
		}
	}
}

// ended folds a goroutine that has ended, and counts it as complete if nothing of its life
// lies before the stream.
func (a *Accumulator) ended(r *record, d *reference.Decision, n *ledger.Note) {
	life, begun := a.lifetime(r)
	c := a.fold(r, d.G, n.Class, n.Flags, life)
	if c == nil || d.Why == reference.WhyLost {
		return // not counted, or not over
	}
	if begun {
		c.complete++
		c.completeNs += life
	}
}

// fold adds goroutine g, which is over after a life of so many ns, to its class, and forgets
// it. It returns the account, or nil if the goroutine does not count.
func (a *Accumulator) fold(r *record, g int64, of int32, f reference.Flags, life int64) *account {
	if !a.part.Has(g, a.handles[of]) {
		a.end(r)
		return nil
	}
	of = min(of, maxClasses)
	for int(of) >= len(a.classes) {
		a.classes = append(a.classes, account{})
	}
	c := &a.classes[of]
	a.addTo(&c.TimeByState, r)
	a.end(r)
	if life <= 0 && (a.part.From > 0 || a.part.To > 0) {
		return nil
	}
	c.goroutines++
	c.runtime = c.runtime || !f.OfProgram()
	return c
}

// Result is the time that goroutines spent in each state, summed over the program, over the
// runtime, and by class.
type Result struct {
	Program TimeByState // goroutines of the program's classes
	Runtime TimeByState // goroutines of the runtime and the tracer
	Classes []Class     // the longest life first
}

// Class is the summed time in states of the goroutines of one class.
type Class struct {
	ID         int32  // its handle, or ClassOthers
	Name       string // start function of the class
	Creator    string // function that executed the go statement
	Runtime    bool   // goroutines of the runtime or the tracer
	Goroutines int64  // number of goroutines
	Complete   int64  // goroutines created and ended in the stream
	CompleteNs int64  // sum of their lives
	TimeByState
}

// Of returns the class with the given ID, or nil.
func (r *Result) Of(id int32) *Class {
	if i := slices.IndexFunc(r.Classes, func(c Class) bool { return c.ID == id }); i >= 0 {
		return &r.Classes[i]
	}
	return nil
}

// Finish ends all lives at end, the time of the last event in ns. open is
// [ledger.Ledger.Live], names may be nil. The Accumulator cannot be used afterwards.
func (a *Accumulator) Finish(end int64, open []ledger.Live, names func(class int32) (name, creator string)) Result {
	a.now = max(a.now, min(end, reference.MaxTime))
	for _, o := range open {
		if r := a.gors.At(o.Slot); r.state != unseen {
			a.book(r, r.since, a.now)
			life, _ := a.lifetime(r)
			a.fold(r, o.G, o.Class, o.Flags, life)
		}
	}
	var out Result
	for i := range a.classes {
		c := &a.classes[i]
		if c.goroutines == 0 {
			continue
		}
		of := &out.Program
		if c.runtime {
			of = &out.Runtime
		}
		of.Add(&c.TimeByState)
		out.Classes = append(out.Classes, a.class(i, names))
	}
	slices.SortFunc(out.Classes, func(x, y Class) int {
		return cmp.Or(cmp.Compare(y.LifeNs(), x.LifeNs()), cmp.Compare(x.ID, y.ID))
	})
	return out
}

// class returns the result of the account with an index.
func (a *Accumulator) class(i int, names func(int32) (string, string)) Class {
	c := &a.classes[i]
	out := Class{ID: ClassOthers, Name: "(other classes)", Runtime: c.runtime, Goroutines: c.goroutines, Complete: c.complete, CompleteNs: c.completeNs, TimeByState: c.TimeByState}
	if i < maxClasses {
		out.ID, out.Name = a.handles[i], ""
		if names != nil {
			out.Name, out.Creator = names(out.ID)
		}
	}
	return out
}

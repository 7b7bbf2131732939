package findings

import (
	"cmp"
	"slices"
)

// Tally sums up waiting by class, for up to 1,023 classes; all further ones share a Cell of class
// 0. The zero value is ready to use.
type Tally struct {
	Cells  []Cell // one for each class, in order of appearance
	at     map[int32]int32
	Total  Cell                       // of all classes; its Class is not set
	recent struct{ class, end int32 } // the class that was looked up last; its cell is before end, 0: none
}

// Cell is the sum of the waits, or of what else a detector adds up, of one class, with the longest of
// them as an example. A Cell that is added to another stands for one wait: N and Worst need not be
// set then.
type Cell struct {
	Class    int32 // handle of the class, for Facts.Name
	N        int64 // number of waits
	Ns       int64 // their sum, ns
	Worst    int64 // length of the longest, ns
	From, To int64 // the longest is within [From, To), ns
	G        int64 // ID of the goroutine that waited longest
	P        int32 // P of the longest wait; reference.NoP if none
	Stack    int32 // handle of the stack of the longest wait, for Facts.Frames; 0 if unknown
}

const maxCells = 1024

// Add adds one wait, x.Ns nanoseconds of goroutine x.G, to its class and to the total. x becomes the
// example if it is the longest so far.
func (t *Tally) Add(x *Cell) {
	t.Total.Add(x)
	t.cell(x.Class).Add(x)
}

// Merge adds the waits that o has summed up, class by class.
func (t *Tally) Merge(o *Tally) {
	t.Total.Merge(&o.Total)
	for i := range o.Cells {
		t.cell(o.Cells[i].Class).Merge(&o.Cells[i])
	}
}

// cell is that of a class.
func (t *Tally) cell(class int32) *Cell {
	if t.recent.end > 0 && t.recent.class == class {
		return &t.Cells[t.recent.end-1]
	}
	i, ok := t.at[class]
	if !ok {
		if t.at == nil {
			t.at = map[int32]int32{}
		}
		if len(t.Cells) >= maxCells {
			// The last one is for all that come too late.
			i = maxCells - 1
			t.Cells[i].Class = 0
		} else {
			i = int32(len(t.Cells))
			t.Cells = append(t.Cells, Cell{Class: class})
			t.at[class] = i
		}
	}
	t.recent.class, t.recent.end = class, i+1
	return &t.Cells[i]
}

// Add adds one wait, x.Ns nanoseconds long, and takes it as the example if it is the longest so far.
func (c *Cell) Add(x *Cell) {
	if c.N == 0 || x.Ns > c.Worst {
		c.Worst, c.From, c.To, c.G, c.P, c.Stack = x.Ns, x.From, x.To, x.G, x.P, x.Stack
	}
	c.N++
	c.Ns += x.Ns
}

// Merge adds the number and the sum of o, and takes over its example if that is longer. The class
// stays.
func (c *Cell) Merge(o *Cell) {
	if o.N > 0 && (c.N == 0 || o.Worst > c.Worst) {
		c.Worst, c.From, c.To, c.G, c.P, c.Stack = o.Worst, o.From, o.To, o.G, o.P, o.Stack
	}
	c.N += o.N
	c.Ns += o.Ns
}

// Include is [Cell.Merge] for a cell that may be of another class: c then has the class of the longer
// example.
func (c *Cell) Include(o *Cell) {
	if o.N > 0 && (c.N == 0 || o.Worst > c.Worst) {
		c.Class = o.Class
	}
	c.Merge(o)
}

// Actor returns an actor with a role, Victim or Cause: the class of the cell, with goroutine, P and
// stack of its example.
func (c *Cell) Actor(f *Facts, role string) Actor {
	a := f.Actor(role, c.Class, c.G, c.Stack)
	a.P = OnP(c.P)
	return a
}

// Finding returns a finding with severity s and a basis, [Certain], [Inferred] or [Suspected], whose
// cost is the sum of the cell, c.Ns, and whose window is that of its longest wait, [c.From, c.To). The
// caller adds actors and texts.
func (c *Cell) Finding(s Severity, basis string) Finding {
	return Finding{Severity: s, CostNs: c.Ns, FromNs: c.From, ToNs: c.To, Basis: basis}
}

// KeepLonger sets c to x if the sum of x, Ns, is longer than that of c.
func (c *Cell) KeepLonger(x *Cell) {
	if x.Ns > c.Ns {
		*c = *x
	}
}

// Top returns the cells of the n classes with the most waiting, most first; fewer if there are not
// so many.
func (t *Tally) Top(n int) []Cell {
	s := slices.Clone(t.Cells)
	slices.SortFunc(s, func(x, y Cell) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(y.N, x.N), cmp.Compare(x.Class, y.Class))
	})
	return s[:min(n, len(s))]
}

// Actors returns actors with a role, Victim or Cause, for the n classes with the most waiting, most
// first.
func (t *Tally) Actors(f *Facts, role string, n int) []Actor {
	var out []Actor
	for _, c := range t.Top(n) {
		out = append(out, c.Actor(f, role))
	}
	return out
}

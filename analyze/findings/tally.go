package findings

import (
	"cmp"
	"slices"
)

// Tally sums waiting by class, in ns, for up to 1,023 classes; further ones count as
// class 0. The zero value is ready to use.
type Tally struct {
	Cells  []Cell
	at     map[int32]int32
	Total  Cell
	recent struct{ class, end int32 } // the class that was looked up last; its cell is before end, 0: none
}

// Cell is the waiting of one class, in ns, with its worst example.
type Cell struct {
	Class    int32
	N        int64
	Ns       int64
	Worst    int64 // ns of the worst example
	From, To int64 // its window
	G        int64
	P        int32
	Stack    int32
}

const maxCells = 1024

// Add adds ns of waiting of goroutine x.G, with the window of x as an example.
func (t *Tally) Add(x *Cell) {
	t.Total.Add(x)
	t.cell(x.Class).Add(x)
}

// Merge adds the sums of another Tally.
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

// Add adds the waiting of x, and takes over its example if that is worse.
func (c *Cell) Add(x *Cell) {
	if c.N == 0 || x.Ns > c.Worst {
		c.Worst, c.From, c.To, c.G, c.P, c.Stack = x.Ns, x.From, x.To, x.G, x.P, x.Stack
	}
	c.N++
	c.Ns += x.Ns
}

// Merge adds the sums of another cell, and takes over its example if that is worse.
func (c *Cell) Merge(o *Cell) {
	if o.N > 0 && (c.N == 0 || o.Worst > c.Worst) {
		c.Worst, c.From, c.To, c.G, c.P, c.Stack = o.Worst, o.From, o.To, o.G, o.P, o.Stack
	}
	c.N += o.N
	c.Ns += o.Ns
}

// Include is Merge of a cell that may be of another class: that of the worst example remains.
func (c *Cell) Include(o *Cell) {
	if o.N > 0 && (c.N == 0 || o.Worst > c.Worst) {
		c.Class = o.Class
	}
	c.Merge(o)
}

// Actor returns an actor for the class of a cell and its worst example.
func (c *Cell) Actor(f *Facts, role string) Actor {
	a := f.Actor(role, c.Class, c.G, c.Stack)
	a.P = OnP(c.P)
	return a
}

// KeepLonger makes c equal to x if that is longer.
func (c *Cell) KeepLonger(x *Cell) {
	if x.Ns > c.Ns {
		*c = *x
	}
}

// Top returns the n classes with the most waiting, most first.
func (t *Tally) Top(n int) []Cell {
	s := slices.Clone(t.Cells)
	slices.SortFunc(s, func(x, y Cell) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(y.N, x.N), cmp.Compare(x.Class, y.Class))
	})
	return s[:min(n, len(s))]
}

// Actors returns the top n classes as actors.
func (t *Tally) Actors(f *Facts, role string, n int) []Actor {
	var out []Actor
	for _, c := range t.Top(n) {
		out = append(out, c.Actor(f, role))
	}
	return out
}

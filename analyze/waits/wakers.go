package waits

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Waker is what made goroutines of a class runnable. Over all wakers, Count and WaitNs sum
// to the waits of the class.
type Waker struct {
	Why     string `json:"why"`     // how it did that, such as "unblock", "timer" or "network" ("why" of dump)
	Class   int32  `json:"class"`   // class of the goroutine that did; 0 if none or unknown
	Name    string `json:"name"`    // start function of the class; empty if none
	Creator string `json:"creator"` // function that executed the go statement; empty if none
	Count   int64  `json:"count"`   // finished waits that began so
	WaitNs  int64  `json:"wait_ns"` // sum of these waits
}

// BlockedBefore is what goroutines of a class were blocked on before they became runnable.
// Over all reasons, Count and WaitNs sum to the waits of the class.
type BlockedBefore struct {
	Reason string `json:"reason"`  // as in the "blocked" of a life; empty if not blocked: new, preempted, or in a system call
	Count  int64  `json:"count"`   // finished waits after it
	WaitNs int64  `json:"wait_ns"` // sum of these waits
}

// how a goroutine became runnable.
type how struct {
	why    reference.Why
	reason uint8 // it was blocked on: a breakdown.Reason plus 1; 0: it was not
}

// countNs is a number of waits and their sum.
type countNs struct{ n, ns int64 }

func (f *countNs) add(n, ns int64) {
	f.n += n
	f.ns += ns
}

// wakings are the waits of a class by what ended the block before them.
type wakings struct {
	before [breakdown.Reasons + 1]countNs // by how.reason
	by     []wakerOf
	recent int32
}

// wakerOf is one of them.
type wakerOf struct {
	class int32
	why   reference.Why
	countNs
}

// maxWakers bounds the wakers of a class; what is beyond goes to ClassOthers.
const maxWakers = 256

// woke notes how g becomes runnable, by the goroutine at slot by, and what it was blocked for before;
// nil if it was not.
func (a *Accumulator) woke(g *goroutine, d *reference.Decision, by int32, before *ledger.Blocked) {
	g.by, g.wakerIs, g.wakerAt, g.how.why = d.By, none, d.Stack, d.Why
	if by != 0 {
		if x := a.gors.At(by); x.slot != 0 {
			g.wakerIs = x.class
		}
	}
	g.how.reason, g.blockedNs = 0, -1
	if before != nil {
		g.how.reason = uint8(breakdown.ReasonOf(before.Why, before.Reason)) + 1
		g.blockedNs = a.now - min(before.From, reference.MaxTime)
	}
}

// countWaker adds waits of g, of that class and of so many ns, to what made them begin.
func (c *class) countWaker(g *goroutine, n, ns int64) {
	if c.wakings == nil {
		c.wakings = &wakings{}
	}
	k := c.wakings
	k.before[g.how.reason].add(n, ns)
	k.of(g.wakerIs, g.how.why).add(n, ns)
}

// of returns the entry of a waker.
func (k *wakings) of(class int32, why reference.Why) *countNs {
	if int(k.recent) < len(k.by) {
		if x := &k.by[k.recent]; x.class == class && x.why == why {
			return &x.countNs
		}
	}
	i := slices.IndexFunc(k.by, func(x wakerOf) bool { return x.class == class && x.why == why })
	switch {
	case i >= 0:
	case len(k.by) >= maxWakers && class != classOthers:
		return k.of(classOthers, why)
	default:
		i, k.by = len(k.by), append(k.by, wakerOf{class: class, why: why})
	}
	k.recent = int32(i)
	return &k.by[i].countNs
}

// blockedOn is a reason in words.
func blockedOn(reason uint8) string {
	if reason == 0 {
		return ""
	}
	return breakdown.Reason(reason - 1).String()
}

// results returns both, the most waiting first.
func (k *wakings) results(name func(ci int32) (int32, string, string)) ([]Waker, []BlockedBefore) {
	by, before := []Waker{}, []BlockedBefore{}
	if k == nil {
		return by, before
	}
	for i := range k.by {
		x := &k.by[i]
		w := Waker{Why: x.why.String(), Count: x.n, WaitNs: x.ns}
		if x.class != none {
			w.Class, w.Name, w.Creator = name(x.class)
		}
		by = append(by, w)
	}
	slices.SortFunc(by, func(x, y Waker) int {
		return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Why, y.Why), cmp.Compare(x.Class, y.Class))
	})
	for r := range k.before {
		if x := &k.before[r]; x.n != 0 || x.ns != 0 {
			before = append(before, BlockedBefore{Reason: blockedOn(uint8(r)), Count: x.n, WaitNs: x.ns})
		}
	}
	slices.SortStableFunc(before, func(x, y BlockedBefore) int {
		return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(y.Count, x.Count))
	})
	return by, before
}

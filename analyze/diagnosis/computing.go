package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Computing is a function, not of the standard library, in which goroutines were preempted, or in what it
// calls. The runtime preempts what runs for 10 ms: enough of that says where a program computes, as a profile
// does.
type Computing struct {
	Function string
	From     string // function of the owner's that leads to it most often; "" if it is one
	Via      string // function, of a library, that From calls then; "" if that is Function
	Module   string // of the function, as "path@version"; "" if it is the owner's, or that is not known
	N, Of    int64  // preemptions there, and of all

	// Kinds are units of work, or the run, that users wait for. Of the time of all of them, or that goroutines
	// ran if there are none, TotalNs, Ns was spent there, in ns, if it is as with the preemptions.
	Kinds       []*work.UnitKind
	Ns, TotalNs int64

	ofTest bool
}

// Bounds on such a function.
const (
	fewPreempted  = 10          // preemptions from which on it is named, if it has so many of them,
	mostPreempted = 0.4         // as a share
	surePreempted = 20          // of all, from which on a verdict may be about it,
	leastComputed = 100_000_000 // as from so many ns,
	longComputed  = 300_000_000 // and a warning from so many
)

// computing returns where goroutines compute: in the function in which most were preempted, callees left
// out, or, if that was seldom, in the innermost one with many, callees included; nil if no function stands
// out.
func (d *Diagnosis) computing() *Computing {
	type place struct {
		in, within, depth int64 // preemptions in it, callees left out or not, and its depth, summed over these
		frame             int32
		from              map[[2]string]int64 // by the owner's nearest function above it, and what that calls
	}
	at, of := map[string]*place{}, int64(0)
	frames := d.r.Stacks.Frames
	for i := range d.r.Stacks.Rows {
		row := &d.r.Stacks.Rows[i]
		if row.Place != stacks.Stopped || row.BlockedNs > 0 || len(row.Stack) == 0 || yields(frames[row.Stack[0]].Function) {
			continue
		}
		of += row.Waits
		own, via := "", ""
		var seen []string
		for _, n := range slices.Backward(row.Stack) {
			f := &frames[n]
			if pkg, _ := std.Split(f.Function); std.Has(pkg) || slices.Contains(seen, f.Function) {
				continue
			}
			seen = append(seen, f.Function)
			p := at[f.Function]
			if p == nil {
				p = &place{frame: n, from: map[[2]string]int64{}}
				at[f.Function] = p
			}
			p.within += row.Waits
			p.depth += row.Waits * int64(len(seen))
			if !strings.Contains(f.File, "@") && !strings.Contains(f.File, "/vendor/") {
				own, via = f.Function, ""
			} else if own != "" {
				via = cmp.Or(via, f.Function)
				p.from[[2]string{own, via}] += row.Waits
			}
		}
		if len(seen) > 0 {
			at[seen[len(seen)-1]].in += row.Waits
		}
	}
	name := most(at, func(p *place) float64 { return float64(p.in) }, func(p *place) bool { return float64(p.in) >= mostPreempted*float64(of) })
	c := &Computing{Function: name, Of: of}
	if name != "" {
		c.N = at[name].in
	} else if c.Function = most(at, func(p *place) float64 { return quantity.Ratio(p.depth, p.within) }, func(p *place) bool { return float64(p.within) >= mostPreempted*float64(of) }); c.Function != "" {
		c.N = at[c.Function].within
	}
	if of < fewPreempted || c.Function == "" {
		return nil
	}
	p := at[c.Function]
	way := most(p.from, func(n int64) float64 { return float64(n) }, func(int64) bool { return true })
	if c.From = way[0]; way[1] != c.Function {
		c.Via = way[1]
	}
	f := frames[p.frame]
	c.ofTest = strings.HasSuffix(f.File, "_test.go")
	c.Module = (&findings.Actor{Innermost: true, Stack: []string{fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)}}).Module()
	c.Kinds = d.Awaited()
	running := work.RunningNs(c.Kinds)
	for _, k := range c.Kinds {
		c.TotalNs += k.TotalNs
	}
	if len(c.Kinds) == 0 {
		running, c.TotalNs = d.RanNs, d.RanNs
	}
	c.Ns = int64(float64(running) * quantity.Ratio(c.N, c.Of))
	return c
}

// Awaited returns the kinds of units that users wait for: tests, requests, or the run.
func (d *Diagnosis) Awaited() []*work.UnitKind {
	switch u := &d.r.Work; d.r.Program.Kind {
	case analyze.Tests:
		return u.Tests()
	case analyze.Batch:
		return u.Run()
	case analyze.Server:
		return slices.Concat(d.awaited()...)
	}
	return nil
}

// computes reports whether units spend so much of their time there that a verdict may be about it. Benchmarks
// compute, and what runs in none must not be little.
func (d *Diagnosis) computes() bool {
	c := d.Computing
	return c != nil && !c.ofTest && d.r.Program.Kind != analyze.Benchmarks && c.N >= fewPreempted && c.Of >= surePreempted && c.Ns >= leastComputed &&
		float64(c.Ns) >= smallShare*float64(c.TotalNs) && (len(c.Kinds) > 0 || float64(c.Ns) >= smallShare*float64(d.r.RecordedNs()))
}

// computingLeads reports whether the verdict is about that rather than about a note: one that explains less of
// what units do, and does not say why the function takes so long.
func (d *Diagnosis) computingLeads(note *findings.Finding) bool {
	switch {
	case !d.computes() || note == nil:
		return d.computes()
	case (note.Counted || note.CostOf == findings.OfPTime) && note.At(d.Computing.Function):
		return false
	}
	return small(note) || note.WorkShare < halfShare && note.CostOf != findings.OfBlocked
}

// computesMostly reports whether tests spend half of their time in one function. A job may well do that.
func (d *Diagnosis) computesMostly() bool {
	return d.computes() && d.r.Program.Kind == analyze.Tests && d.Computing.Ns >= longComputed && float64(d.Computing.Ns) >= halfShare*float64(d.Computing.TotalNs)
}

// most returns the key whose value has the largest size of those that fit; of several the first, the zero value if none does.
func most[K comparable, V any](m map[K]V, size func(V) float64, fits func(V) bool) (key K) {
	top := 0.0
	for k, v := range m {
		if x := size(v); fits(v) && x > 0 && (x > top || x == top && fmt.Sprint(k) < fmt.Sprint(key)) {
			key, top = k, x
		}
	}
	return key
}

// yields reports whether a goroutine that stops at a function, and is not blocked, yields, hands its P to
// whom it has given a lock, or is in a system call: else it was preempted.
func yields(function string) bool {
	pkg, name := std.Split(function)
	return strings.HasSuffix(pkg, "syscall") || strings.HasSuffix(pkg, "sync") || strings.HasPrefix(name, "_Cfunc_") ||
		pkg == "runtime" && (strings.HasPrefix(strings.ToLower(name), "gosched") || name == "gopark" || name == "goyield" || name == "cgocall")
}

package findings

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// Allocators counts which functions started cycles of the garbage collector. A cycle is started by
// the allocation that reaches the trigger (mallocgc, gcTrigger.test; Go 1.22 to 1.27), so each is a
// sample of the allocated bytes, and tells who allocates most.
type Allocators struct {
	begun int64           // who has begun a cycle, and not stopped the world for it yet
	at    map[int32]int64 // cycles by stack
}

// NewAllocators returns Allocators that count the cycles in the stream that w follows.
func NewAllocators(w *View) *Allocators {
	a := &Allocators{begun: reference.NoG, at: map[int32]int64{}}
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin}}, func(d *reference.Decision) { a.begun = d.G })
	w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindSTWBegin}}, a.stopped)
	return a
}

// stopped is for a stop of the world: that of a cycle comes right after its beginning.
func (a *Allocators) stopped(d *reference.Decision) {
	if d.G >= 0 && d.G == a.begun {
		CountIn(a.at, d.Stack, MaxKept)
	}
	a.begun = reference.NoG
}

// Allocator is a function of the program that allocates. [Allocators.Top] returns them.
type Allocator struct {
	Function Name
	By       Name   // the program's own function that calls it, if it is a library's; else ""
	Place    string // of an allocation in it: "file:line", without folders
	Cycles   int64  // number of cycles of the garbage collector that its allocations started
}

// Doer returns the function and its caller, as in "jwt.Parse, called by main.auth,".
func (x *Allocator) Doer() Text {
	if x.By == "" {
		return Say("%s", x.Function)
	}
	return Say("%s, called by %s,", x.Function, x.By)
}

// Top returns all, the number of cycles that allocations started, and the one or two functions, the
// busiest first, that started at least half of these: the innermost ones outside the standard library,
// or else the program's own. top is nil if there are no such functions, or fewer than 3 cycles.
func (a *Allocators) Top(f *Facts) (top []Allocator, all int64) {
	if top, all = a.top(f, InnermostFunction, false); top == nil {
		top, all = a.top(f, ProgramsFunction, false)
	}
	return top, all
}

// Asked returns the function of the program that asked for most cycles of the garbage collector, as by
// runtime.GC, in the field Cycles how often, and how many cycles there were; nil if it did not ask for
// half of them.
func (a *Allocators) Asked(f *Facts) (by *Allocator, all int64) {
	top, _ := a.top(f, ProgramsFunction, true)
	for _, k := range a.at {
		all += k
	}
	if len(top) == 0 || 2*top[0].Cycles < all {
		return nil, all
	}
	return &top[0], all
}

func (a *Allocators) top(f *Facts, of func(frames []string, tested string) (Name, string), asked bool) (top []Allocator, all int64) {
	for stack, k := range a.at {
		frames := f.Frames(stack)
		if len(frames) == 0 || slices.ContainsFunc(frames, requestsGC) != asked {
			continue
		}
		all += k
		name, place := of(frames, f.Tested)
		if name == "" || OfLibrary(name) {
			continue
		}
		by, _ := ProgramsFunction(frames, f.Tested)
		if by == name || !ofModule(place) || OfLibrary(by) {
			by = ""
		}
		i := slices.IndexFunc(top, func(x Allocator) bool { return x.Function == name })
		if i < 0 {
			i = len(top)
			top = append(top, Allocator{Function: name, By: by})
		}
		if place = path.Base(place); top[i].Place == "" || place < top[i].Place {
			top[i].Place = place
		}
		top[i].Cycles += k
	}
	slices.SortFunc(top, func(x, y Allocator) int {
		return cmp.Or(cmp.Compare(y.Cycles, x.Cycles), cmp.Compare(x.Function, y.Function))
	})
	var n int64
	for i := range top[:min(2, len(top))] {
		if n += top[i].Cycles; 2*n >= all && all >= minCycles {
			return top[:i+1], all
		}
	}
	return nil, all
}

// minCycles is how many cycles there must be to say who allocates.
const minCycles = 3

// Advice returns the advice, for users, how to have fewer and shorter cycles of the garbage
// collector. It names the functions of [Allocators.Top], if there are any.
func (a *Allocators) Advice(f *Facts) Text {
	var where Text
	top, _ := a.Top(f)
	for i, x := range top {
		where = append(where, Say([...]string{" in %s (%s)", " and in %s (%s)"}[i], x.Function, Place(x.Place))...)
	}
	if more := f.MoreRoom(); more != "" {
		return Say("%s Or keep less alive (and fewer pointers in it), and allocate less%s.", more, where)
	}
	return Say("Have fewer and shorter cycles: allocate less%s, keep less alive (and fewer pointers in it), raise GOGC, or set GOMEMLIMIT if there is memory to spare.", where)
}

// requestsGC reports whether a frame shows that somebody asked for a cycle.
func requestsGC(frame string) bool {
	return strings.HasPrefix(frame, "runtime.GC ") || strings.HasPrefix(frame, "runtime/debug.")
}

// MoreRoom returns the advice, for users, which setting to raise so that the heap has room to grow
// between two cycles of the garbage collector; "" if it has room.
func (f *Facts) MoreRoom() string {
	r := &f.Headroom
	if !r.LacksRoom() {
		return ""
	}
	grow := "by " + quantity.Percent(r.Growth())
	if r.Growth() < 0.01 {
		grow = "by next to nothing"
	}
	return "Raise the memory limit (GOMEMLIMIT, debug.SetMemoryLimit) or GOGC: " + quantity.Size(r.Alive/r.Cycles) +
		" are alive, and the heap may grow " + grow + " from one cycle to the next, where GOGC=100 lets it double."
}

package class

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/internal/std"
)

// wrappers finds the functions that call others which they are given: errgroup's
// (*Group).Go.func1, testing.tRunner. The call at one program counter has one callee,
// unless it is that of a function value or an interface. So a function in whose call at
// one place several callees show is a wrapper, if three quarters of its stacks go through
// there: a function that calls a method of an interface also does other things.
type wrappers struct {
	tables  *events.Tables
	looked  int // stacks that have been looked at
	callers map[string]*caller
	split   map[string]bool // start functions whose goroutines are told apart
	memo    []memo          // by stack
	found   int             // calls that wrap
	epoch   int32           // number of changes of what wraps
}

// caller is a function as the outer frames of stacks show it.
type caller struct {
	stacks int // distinct ones, with a callee that is not the runtime's
	sites  map[site]*callees
}

// site is a call.
type site struct{ pc, line uint64 }

// callees are the functions that were called at a site.
type callees struct {
	stacks  int
	first   string
	several bool // functions
	program bool // one at least is not the standard library's
	loops   bool // one goroutine calls several
	wraps   bool
}

// memo is what was found for a stack.
type memo struct {
	given string // by given
	epoch int32  // plus 1; 0 is none
	lent  int32  // class that lent was asked for last; 0 is none
	runs  int32  // what it found
}

const (
	// maxNested bounds how far wrappers in wrappers are followed.
	maxNested = 3
	// maxWrappers bounds the calls that wrap: each has all stacks looked at again.
	maxWrappers = 100
	// cutFrames is from how many frames on a stack may be cut: traceStack keeps 128
	// program counters, less a header, runtime.goexit, runtime.main, and some that
	// it skips (runtime/tracestack.go).
	cutFrames = 120
)

// newWrappers returns wrappers that have looked at no stack. Stack 0 is none.
func newWrappers(t *events.Tables) *wrappers {
	return &wrappers{tables: t, looked: 1, callers: map[string]*caller{}, split: map[string]bool{}}
}

// wraps reports whether goroutines with a start function are told apart by the function
// that it was given.
func (w *wrappers) wraps(start string) bool { return w.split[start] }

// look looks at the stacks that are new. It reports whether other start functions are
// found to be wrappers.
func (w *wrappers) look() bool {
	n, from := w.tables.Stacks(), w.looked
	if from == n {
		return false
	}
	before, epoch := len(w.split), w.epoch
	for ; w.looked < n; w.looked++ {
		w.observe(w.tables.Frames(events.Handle(w.looked)))
	}
	w.memo = append(w.memo, make([]memo, n-len(w.memo))...)
	if w.epoch != epoch {
		from = 1 // older ones may go through what wraps now
	}
	for h := from; h < n && w.found > 0; h++ {
		if f := w.tables.Frames(events.Handle(h)); w.find(f) != "" {
			w.split[f[len(f)-1].Func] = true
		}
	}
	return len(w.split) > before
}

// observe counts the calls in the outermost frames of a stack.
func (w *wrappers) observe(f []*events.Frame) {
	if len(f) >= cutFrames {
		return
	}
	for at := len(f) - 1; at > interrupted(f) && at >= len(f)-maxNested; at-- {
		fn, callee := f[at], f[at-1].Func
		if ofRuntime(callee) || at == len(f)-1 && ofRuntime(fn.Func) || strings.HasPrefix(callee, fn.Func+".") {
			return // the last: a literal of its own, deferred
		}
		c := w.callers[fn.Func]
		if c == nil {
			c = &caller{sites: map[site]*callees{}}
			w.callers[fn.Func] = c
		}
		w.count(c, site{fn.PC, fn.Line}, callee)
	}
}

// interrupted returns how many frames at least are above a call that a stack shows as it
// was, less one. Of a goroutine which a signal has interrupted, walked by frame pointers, it
// lacks the caller of the function that ran if that has not set up its frame: the one shown
// in its place did not call that.
func interrupted(f []*events.Frame) int {
	n := 0
	for n < len(f) && strings.HasPrefix(f[n].Func, "runtime.asyncPreempt") {
		n++
	}
	if n == 0 {
		return 0
	}
	return n + 1
}

// given returns the function that the start function of a stack was given, and runs;
// empty if it is none's.
func (w *wrappers) given(h events.Handle) string {
	m := &w.memo[h]
	if m.epoch != w.epoch+1 {
		m.given, m.epoch = w.find(w.tables.Frames(h)), w.epoch+1
	}
	return m.given
}

// find is given, of frames. On the way to a call that wraps, it passes functions that call
// nothing but one other.
func (w *wrappers) find(f []*events.Frame) string {
	given := ""
	if len(f) >= cutFrames {
		return ""
	}
	for at := len(f) - 1; at > 0 && at >= len(f)-maxNested; at-- {
		c := w.callers[f[at].Func]
		if c == nil || ofRuntime(f[at-1].Func) {
			return given
		}
		switch x := c.sites[site{f[at].PC, f[at].Line}]; {
		case x != nil && x.wraps:
			given = f[at-1].Func
		case given != "" || !c.passes():
			return given
		}
	}
	return given
}

// passes reports whether a function calls nothing but one other, at one place or several.
func (c *caller) passes() bool {
	first := ""
	for _, x := range c.sites {
		if x.several || first != "" && x.first != first {
			return false
		}
		first = x.first
	}
	return first != ""
}

// loops notes that one goroutine runs several functions that a function is given: a
// worker takes them from a queue, and none of them is what it does. That is the innermost
// one that wraps; what calls it may be a wrapper all the same.
func (w *wrappers) loops(h events.Handle) {
	f := w.tables.Frames(h)
	for at := max(1, len(f)-maxNested); at < len(f); at++ {
		c := w.callers[f[at].Func]
		if c == nil {
			continue
		}
		if x := c.sites[site{f[at].PC, f[at].Line}]; x != nil && x.wraps {
			x.loops, x.wraps = true, false
			if at == len(f)-1 {
				delete(w.split, f[at].Func)
			}
			break
		}
	}
	w.epoch++
}

// only returns the one function of the program that a start function of the standard
// library calls, empty if it calls none or several: the library cannot know it, but is
// given it.
func (w *wrappers) only(start string) string {
	c := w.callers[start]
	if c == nil || !ofLibrary(start) || start == "runtime.main" {
		return ""
	}
	found := ""
	for _, x := range c.sites {
		switch {
		case x.several, x.first == "": // the name may be lost
			return ""
		case ofLibrary(x.first):
		case found != "" && found != x.first:
			return ""
		default:
			found = x.first
		}
	}
	return found
}

// ofLibrary reports whether a function is the standard library's.
func ofLibrary(fn string) bool {
	pkg, _ := std.Split(fn)
	return std.Has(pkg)
}

// ofRuntime reports whether a function is the runtime's; what the runtime calls for
// iter.Pull is not.
func ofRuntime(fn string) bool {
	return strings.HasPrefix(fn, "runtime.") && fn != "runtime.corostart"
}

// innermost is the innermost function of a stack that is not the runtime's.
func innermost(f []*events.Frame) string {
	for i := range f {
		if !ofRuntime(f[i].Func) {
			return f[i].Func
		}
	}
	return f[0].Func
}

// count counts a call.
func (w *wrappers) count(c *caller, at site, callee string) {
	x := c.sites[at]
	if x == nil {
		x = &callees{first: callee}
		c.sites[at] = x
	}
	c.stacks++
	x.stacks++
	x.several = x.several || callee != x.first
	x.program = x.program || !ofLibrary(callee) // the library's may be the method of an interface, such as io.Reader's
	if !x.wraps && !x.loops && x.several && x.program && 4*x.stacks >= 3*c.stacks && w.found < maxWrappers {
		x.wraps = true
		w.found++
		w.epoch++
	}
}

// Package stacks recognises by the stack of an event what the runtime was doing: no event
// says that a goroutine was woken by injectglist, or that it is the scavenger.
package stacks

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
)

// Trait is a set of facts about the runtime that a stack shows.
type Trait uint16

// The traits that [Classify] finds in a stack.
const (
	seen        Trait = 1 << iota // the stack was looked at
	Goyield                       // a yield to the waiter that was handed a semaphore (goyield)
	Inject                        // a whole list of goroutines is woken (injectglist)
	SysStack                      // runtime code on g0: the leaf is runtime.systemstack_switch, or injectglist shows
	StartWorld                    // called from startTheWorld
	FinishSweep                   // called from gcStart: finishsweep_m wakes the scavenger
	Finalizer                     // the goroutine that runs finalizers
	Scavenger                     // the goroutine that returns memory to the system (bgscavenge)
	Worker                        // a mark worker (gcBgMarkWorker)
	MarkDone                      // in gcMarkDone
	MarkNotDone                   // leaves gcMarkDone, which has found more to mark
	Bubble                        // waits for the goroutines of a synctest bubble (synctestRun)
	Advance                       // begins a generation of the trace (traceAdvance)
)

// Traits caches the traits of the stacks of a trace.
type Traits struct {
	tables *events.Tables
	known  []Trait // by stack, 0 if it was not looked at yet
}

// New returns the Traits of the stacks of t.
func New(t *events.Tables) Traits { return Traits{tables: t, known: []Trait{seen}} }

// Given returns Traits in which stack i+1 has the i-th traits, for tests without a table
// of stacks.
func Given(traits ...Trait) Traits {
	t := New(events.NewTables())
	for _, known := range traits {
		t.known = append(t.known, seen|known)
	}
	return t
}

// Has reports whether a stack has one of the wanted traits.
func (s *Traits) Has(stack events.Handle, wanted Trait) bool { return s.Of(stack)&wanted != 0 }

// Of returns the traits that the stack with a handle has.
func (s *Traits) Of(stack events.Handle) Trait {
	if t := s.known[stack]; t != 0 {
		return t
	}
	return s.look(stack)
}

// Grow makes room for the stacks that were added to the tables since New or the last Grow.
func (s *Traits) Grow() {
	if n := s.tables.Stacks(); n > len(s.known) {
		s.known = append(s.known, make([]Trait, n-len(s.known))...)
	}
}

// look looks at a stack for the first time.
func (s *Traits) look(stack events.Handle) Trait {
	s.known[stack] = seen | Classify(s.tables.Frames(stack))
	return s.known[stack]
}

// Classify returns the traits of a stack with these frames, innermost first.
func Classify(frames []*events.Frame) Trait {
	t := byLeaf(frames)
	for i := range frames {
		t |= byFrame[frames[i].Func]
		if i > 0 && frames[i].Func == "runtime.gcMarkDone" && frames[i-1].Func == "runtime.semrelease" {
			t |= MarkNotDone
		}
	}
	return t
}

// byFrame is what a stack shows that holds a function anywhere.
var byFrame = map[string]Trait{
	"runtime.injectglist":      SysStack | Inject,
	"runtime.gcWakeAllAssists": Inject,
	"runtime.runfinq":          Finalizer, // until Go 1.24
	"runtime.runFinalizers":    Finalizer,
	"runtime.bgscavenge":       Scavenger,
	"runtime.gcBgMarkWorker":   Worker,
	"runtime.traceAdvance":     Advance,
	"runtime.gcMarkDone":       MarkDone,
}

// byLeaf returns the traits that the two innermost frames show.
func byLeaf(frames []*events.Frame) Trait {
	name := func(i int) string {
		if i < len(frames) {
			return frames[i].Func
		}
		return ""
	}
	leaf, caller := name(0), name(1)
	switch leaf {
	case "runtime.goyield":
		return Goyield
	case "runtime.semrelease1": // before Go 1.25 the stack of a yield lacks its leaf
		switch caller {
		case "sync.runtime_Semrelease", "internal/sync.runtime_Semrelease", "runtime.traceAdvance":
			return Goyield
		}
	case "runtime.systemstack_switch":
		switch {
		case strings.HasPrefix(caller, "runtime.startTheWorld"):
			return SysStack | StartWorld
		case caller == "runtime.gcStart":
			return SysStack | FinishSweep
		}
		return SysStack
	case "internal/synctest.Run":
		return Bubble
	case "runtime.gopark": // from Go 1.25 on the stack of a park has its leaf
		if caller == "internal/synctest.Run" {
			return Bubble
		}
	}
	return 0
}

package reconstruct

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// classes numbers the pairs of start function and creator. 0 is unknown.
type classes struct {
	tables *events.Tables
	list   []class
	byKey  map[[2]string]int32
	byPair map[[2]events.Handle]int32 // stack handles seen before
	pair   [2]events.Handle           // that were asked for last
	pairID int32
}

type class struct {
	name, creator string
	flags         reference.Flags
	advancer      bool
}

func newClasses(t *events.Tables) *classes {
	return &classes{
		tables: t,
		list:   []class{{}},
		byKey:  map[[2]string]int32{{}: 0},
		byPair: map[[2]events.Handle]int32{},
	}
}

func (c *classes) names(id int32) (name, creator string) {
	if id < 0 || int(id) >= len(c.list) {
		return "", ""
	}
	return c.list[id].name, c.list[id].creator
}

// created is the class of a goroutine by its start stack and the stack of the
// go statement.
func (c *classes) created(start, creator events.Handle) int32 {
	key := [2]events.Handle{start, creator}
	if key == c.pair {
		return c.pairID
	}
	id, ok := c.byPair[key]
	if !ok {
		var name, by string
		if f := c.tables.Frames(start); len(f) > 0 {
			name = f[0].Func
		}
		if f := c.tables.Frames(creator); len(f) > 0 {
			by = f[0].Func
		}
		id = c.id(name, by)
		c.byPair[key] = id
	}
	c.pair, c.pairID = key, id
	return id
}

// blocked is the class of a goroutine of which only a stack is known: the
// outermost frame is its start function.
func (c *classes) blocked(stack events.Handle) int32 {
	key := [2]events.Handle{-1, stack}
	id, ok := c.byPair[key]
	if !ok {
		if f := c.tables.Frames(stack); len(f) > 0 {
			id = c.id(f[len(f)-1].Func, "")
		}
		c.byPair[key] = id
	}
	return id
}

func (c *classes) id(name, creator string) int32 {
	key := [2]string{name, creator}
	id, ok := c.byKey[key]
	if !ok {
		id = int32(len(c.list))
		c.list = append(c.list, class{name: name, creator: creator, flags: flagsOf(name), advancer: isAdvancer(name)})
		c.byKey[key] = id
	}
	return id
}

// flagsOf tells the runtime's own goroutines by their start function, as
// runtime/traceback.go:isSystemGoroutine does.
func flagsOf(name string) reference.Flags {
	switch {
	case name == "runtime.gcBgMarkWorker":
		return reference.FlagGC | reference.FlagSystem
	case strings.HasPrefix(name, "runtime/trace."),
		strings.HasPrefix(name, "runtime.(*traceAdvancerState)"),
		name == "runtime.traceStartReadCPU.func1":
		return reference.FlagTracer | reference.FlagSystem
	case name == "runtime.main", name == "runtime.corostart", name == "runtime.handleAsyncEvent":
		return 0
	case strings.HasPrefix(name, "runtime."):
		return reference.FlagSystem
	}
	return 0
}

// isTraceReader says that a start function is that of the goroutine which
// empties the trace buffers; the scheduler runs it without a queue.
func isTraceReader(name string) bool {
	return strings.HasPrefix(name, "runtime/trace.Start.func") ||
		strings.HasPrefix(name, "runtime/trace.(*traceMultiplexer).startLocked.func")
}

// isAdvancer says that a start function is that of the goroutine which begins
// a new generation of the trace every second.
func isAdvancer(name string) bool {
	return strings.HasPrefix(name, "runtime.(*traceAdvancerState)")
}

// stackTraits classifies stacks once per handle.
type stackTraits struct {
	tables *events.Tables
	known  []trait
}

type trait uint16

const (
	traitSeen        trait = 1 << iota
	traitGoyield           // a yield to the waiter that was handed a semaphore
	traitInject            // a whole list of goroutines is woken
	traitSysStack          // runtime code on g0: leaf is runtime.systemstack_switch, or injectglist shows
	traitStartWorld        // called from startTheWorld
	traitFinishSweep       // called from gcStart: finishsweep_m wakes the scavenger
	traitFinalizer
	traitCleanup
	traitScavenger
	traitSweeper
	traitWorker
	traitMarkDone
	traitMarkNotDone // leaves gcMarkDone
	traitBubble      // waits for the goroutines of a synctest bubble (synctestRun)
	traitAdvance     // begins a generation of the trace (traceAdvance)
)

func (s *stackTraits) of(h events.Handle) trait {
	if t := s.known[h]; t != 0 {
		return t
	}
	return s.look(h)
}

// grow makes room for the stacks that there are now.
func (s *stackTraits) grow() {
	if n := s.tables.Stacks(); n > len(s.known) {
		s.known = append(s.known, make([]trait, n-len(s.known))...)
	}
}

func (s *stackTraits) look(h events.Handle) trait {
	s.known[h] = classify(s.tables.Frames(h))
	return s.known[h]
}

func classify(f []events.Frame) trait {
	t := traitSeen
	at := func(i int) string {
		if i < len(f) {
			return f[i].Func
		}
		return ""
	}
	if at(0) == "runtime.goyield" {
		t |= traitGoyield
	}
	// Before Go 1.25 the stack of a yield lacks its leaf.
	if at(0) == "runtime.semrelease1" {
		switch at(1) {
		case "sync.runtime_Semrelease", "internal/sync.runtime_Semrelease", "runtime.traceAdvance":
			t |= traitGoyield
		}
	}
	if at(0) == "runtime.systemstack_switch" {
		t |= traitSysStack
		switch {
		case strings.HasPrefix(at(1), "runtime.startTheWorld"):
			t |= traitStartWorld
		case at(1) == "runtime.gcStart":
			t |= traitFinishSweep
		}
	}
	// From Go 1.25 on the stack of a park has its leaf.
	if at(0) == "internal/synctest.Run" || at(0) == "runtime.gopark" && at(1) == "internal/synctest.Run" {
		t |= traitBubble
	}
	for i := range f {
		switch f[i].Func {
		case "runtime.injectglist":
			t |= traitSysStack | traitInject
		case "runtime.gcWakeAllAssists":
			t |= traitInject
		case "runtime.runfinq", "runtime.runFinalizers":
			t |= traitFinalizer
		case "runtime.(*cleanupQueue).dequeue", "runtime.runCleanups":
			t |= traitCleanup
		case "runtime.bgscavenge":
			t |= traitScavenger
		case "runtime.bgsweep":
			t |= traitSweeper
		case "runtime.gcBgMarkWorker":
			t |= traitWorker
		case "runtime.traceAdvance":
			t |= traitAdvance
		case "runtime.gcMarkDone":
			t |= traitMarkDone
			if i > 0 && f[i-1].Func == "runtime.semrelease" {
				t |= traitMarkNotDone
			}
		}
	}
	return t
}

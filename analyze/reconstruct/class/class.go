// Package class tells goroutines apart by what they run: the function of their go statement,
// who executed that, and, where that function only runs what it was given, what that is.
//
// A trace names functions in stacks only, and not every goroutine shows one. So the class of
// a goroutine may become known late, or stay open.
package class

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// Table assigns numbers to the classes of the goroutines of a trace. 0 is the class of
// unknown goroutines.
type Table struct {
	tables *events.Tables
	list   []class
	byKey  map[classKey]int32
	byPair map[[2]events.Handle]int32 // stack handles seen before
	pair   [2]events.Handle           // that were asked for last
	pairID int32
	*wrappers
	unknown int              // classes that are told apart by something else than what they run
	calls   map[classKey]int // by start and creator
}

// classKey identifies a class.
type classKey struct {
	start   string // function
	creator string
	does    string // the function that the start function was given; empty if it is none's, or not shown
	call    uint64 // PC of the program's call that gave it to the library, 0 if the library started it otherwise
	kind    classKind
}

type classKind uint8

const (
	kindKnown   classKind = iota
	kindStopped           // of the start function nothing is known; does is where it stopped last
	kindWoken             // nor is that; does is who woke it
)

type class struct {
	classKey
	flags reference.Flags
	open  bool // a stack may tell more of a goroutine of this class
	// The library starts goroutines of this class with a literal that runs what one call
	// gave it, or with several functions given there, the one that is in does.
	lent bool
	runs string // the first function that showed of those given by that call
	nth  int    // of the calls of its creator
}

// Class is what is known of a class of goroutines. Unknown fields are empty.
type Class struct {
	Start   string // start function, empty if unknown
	Creator string // function that executed the go statement, empty if unknown
	// Wrapper is set if Start calls functions that it is given, one for each goroutine, or
	// always the same one. Does is the one of this class, empty if the trace does not show
	// it.
	Wrapper bool
	Does    string
	// Lent is set if Start is a function literal of package sync or errgroup, and Creator the
	// program's function that gave it what it runs.
	Lent bool
	// Call is set with Lent: which of the calls in Creator that give a function away it was,
	// in the order in which the trace shows them, from 1.
	Call    int
	Stopped string // if Start is unknown: the function in which it stopped last
	Waker   string // if Stopped is unknown, too: what the goroutine ran that woke it
}

// NewTable returns a Table of the classes in the stacks of t.
func NewTable(t *events.Tables) *Table {
	return &Table{
		tables:   t,
		list:     []class{{open: true}},
		byKey:    map[classKey]int32{{}: 0},
		byPair:   map[[2]events.Handle]int32{},
		wrappers: newWrappers(t),
		calls:    map[classKey]int{},
	}
}

// Len returns the number of classes; their numbers are below it.
func (c *Table) Len() int32 { return int32(len(c.list)) }

// Describe returns what is known so far of the class with number id.
func (c *Table) Describe(id int32) Class {
	if id < 0 || int(id) >= len(c.list) {
		return Class{}
	}
	k := c.list[id].classKey
	switch k.kind {
	case kindStopped:
		return Class{Stopped: k.does}
	case kindWoken:
		return Class{Waker: k.does}
	}
	if k.call != 0 {
		x := &c.list[id]
		return Class{Start: k.start, Creator: k.creator, Does: x.runs, Wrapper: true, Lent: true, Call: x.nth}
	}
	x := Class{Start: k.start, Creator: k.creator, Does: k.does, Wrapper: k.does != "" || c.wraps(k.start)}
	if !x.Wrapper {
		x.Does = c.only(k.start)
		x.Wrapper = x.Does != ""
	}
	return x
}

// Created returns the class of a goroutine by its start stack and the stack of the
// go statement.
func (c *Table) Created(start, creator events.Handle) int32 {
	key := [2]events.Handle{start, creator}
	if key == c.pair {
		return c.pairID
	}
	id, ok := c.byPair[key]
	if !ok {
		var name string
		if f := c.tables.Frames(start); len(f) > 0 {
			name = f[0].Func
		}
		by, call := creatorOf(name, c.tables.Frames(creator))
		id = c.id(classKey{start: name, creator: by, call: call})
		c.byPair[key] = id
	}
	c.pair, c.pairID = key, id
	return id
}

// Started returns the class for a start function and the function that executed the go
// statement.
func (c *Table) Started(start, creator string) int32 {
	return c.id(classKey{start: start, creator: creator})
}

// creatorOf returns the function that executed the go statement, by its stack. Where the
// standard library or errgroup started a function literal of its own, it is the program's
// function that had called it. If the literal runs what that gave it, as sync.(*WaitGroup).Go
// does, call is the PC of its call: one call nearly always gives one function.
func creatorOf(start string, f []*events.Frame) (by string, call uint64) {
	if len(f) == 0 {
		return "", 0
	}
	by = f[0].Func
	if !ofLibrary(by) && !lends(by) || !strings.HasPrefix(start, by+".func") {
		return by, 0
	}
	for i := range f {
		if fn := f[i].Func; !ofLibrary(fn) && !lends(fn) {
			if lends(by) {
				call = f[i].PC
			}
			return fn, call
		}
	}
	return by, 0
}

// lends reports whether a function starts a literal that runs what the program gave it.
func lends(fn string) bool {
	switch fn {
	case "sync.(*WaitGroup).Go", "golang.org/x/sync/errgroup.(*Group).Go", "golang.org/x/sync/errgroup.(*Group).TryGo":
		return true
	}
	return false
}

// Shown returns the class of a goroutine of class id after one of its stacks was seen: id
// itself, or a more precise class.
func (c *Table) Shown(id int32, stack events.Handle) int32 {
	f := c.tables.Frames(stack)
	if len(f) == 0 {
		return id
	}
	was := c.list[id].classKey
	if c.list[id].lent {
		return c.shownLent(id, stack, f)
	}
	if len(f) >= cutFrames {
		if id == 0 || was.kind == kindWoken {
			return c.unknownID(classKey{kind: kindStopped, does: innermost(f)}, id)
		}
		return id
	}
	k := classKey{start: f[len(f)-1].Func}
	if strings.HasPrefix(k.start, "runtime.doInit") {
		k.start = "main.main" // the main goroutine in an init function: stacks leave out runtime.main
	}
	if was.start != "" {
		k.start, k.creator = was.start, was.creator
	}
	k.does = c.given(stack)
	if was.kind == kindKnown && was.does != "" && k.does != was.does && c.wraps(k.start) {
		if k.does == "" {
			return id // in what the wrapper does by itself
		}
		c.loops(stack)
		k.does = c.given(stack)
	}
	if k == was { // mostly
		return id
	}
	return c.id(k)
}

// shownLent is lent, remembered for the class that has shown a stack last: what lent has
// found once for both stays.
func (c *Table) shownLent(id int32, stack events.Handle, f []*events.Frame) int32 {
	m := &c.memo[stack]
	if m.lent != id {
		m.lent, m.runs = id, c.lent(id, f)
	}
	return m.runs
}

// lent is the class of a goroutine of class id, which runs what the library was given, now
// that it has shown a stack. The first function to show gives its name to the class, so
// that goroutines which never show a stack have it, too; others have classes of their own.
func (c *Table) lent(id int32, f []*events.Frame) int32 {
	x := &c.list[id]
	outer := len(f) - 1
	if x.call == 0 || outer <= interrupted(f) || len(f) >= cutFrames || f[outer].Func != x.start || f[outer-1].Func == "" || ofRuntime(f[outer-1].Func) {
		return id
	}
	does := f[outer-1].Func
	if x.runs == "" {
		x.runs = does
	}
	k := classKey{start: x.start, creator: x.creator, does: does}
	if of, ok := c.byKey[k]; ok {
		return of
	}
	if x.runs == does {
		c.byKey[k] = id
		return id
	}
	of := c.id(k)
	c.list[of].lent, c.list[of].open = true, false
	return of
}

// Woken returns the class of a goroutine without a stack, by the class of its waker.
func (c *Table) Woken(by int32) int32 {
	k := c.list[by].classKey
	if k.kind != kindKnown || k.start == "" {
		return 0
	}
	name := k.start
	if k.does != "" {
		name = k.does
	}
	return c.unknownID(classKey{kind: kindWoken, does: name}, 0)
}

// maxUnknown bounds the classes of goroutines whose start function is unknown.
const maxUnknown = 50

// unknownID is id for what is not known by its start function; it is other if there
// are too many of those.
func (c *Table) unknownID(k classKey, other int32) int32 {
	if _, ok := c.byKey[k]; !ok {
		if c.unknown == maxUnknown {
			return other
		}
		c.unknown++
	}
	return c.id(k)
}

// id returns the number of the class with a key, a new one if there is none yet.
func (c *Table) id(k classKey) int32 {
	id, ok := c.byKey[k]
	if !ok {
		id = int32(len(c.list))
		x := class{classKey: k, open: k.kind != kindKnown || k.start == "" || k.call != 0 || c.wraps(k.start), lent: k.call != 0}
		if k.kind == kindKnown {
			x.flags = flagsOf(k.start)
		}
		if x.lent {
			by := classKey{start: k.start, creator: k.creator}
			c.calls[by]++
			x.nth = c.calls[by]
		}
		c.list = append(c.list, x)
		c.byKey[k] = id
	}
	return id
}

// Grow processes the stacks that were added to the trace's tables since the last call, and
// reopens classes whose start function turns out to be a wrapper.
func (c *Table) Grow() {
	if !c.look() {
		return
	}
	for i := range c.list {
		if x := &c.list[i]; x.kind == kindKnown && c.wraps(x.start) {
			x.open = true
		}
	}
}

// flagsOf recognizes the goroutines of the runtime by their start function, as
// runtime/traceback.go:isSystemGoroutine does, but for those that wait for events of the host
// on js/wasm (runtime/lock_js.go).
func flagsOf(name string) reference.Flags {
	switch {
	case name == "runtime.gcBgMarkWorker":
		return reference.FlagGC | reference.FlagSystem
	case strings.HasPrefix(name, "runtime/trace."),
		strings.HasPrefix(name, "runtime.(*traceAdvancerState)"),
		name == "runtime.traceStartReadCPU.func1":
		return reference.FlagTracer | reference.FlagSystem
	case name == "runtime.main", name == "runtime.corostart":
		return 0
	case strings.HasPrefix(name, "runtime."):
		return reference.FlagSystem
	}
	return 0
}

// Open reports whether a further stack of one of its goroutines may put it into a more precise
// class: see [Table.Shown].
func (c *Table) Open(id int32) bool { return c.list[id].open }

// Flags returns the flags of the goroutines of a class.
func (c *Table) Flags(id int32) reference.Flags { return c.list[id].flags }

// Start returns the start function of a class, empty if it is unknown.
func (c *Table) Start(id int32) string { return c.list[id].start }

// ReadsTrace reports whether a class is that of the goroutine which empties the trace
// buffers; the scheduler runs it without a queue (traceReader).
func (c *Table) ReadsTrace(id int32) bool {
	start := c.list[id].start
	return strings.HasPrefix(start, "runtime/trace.Start.func") || // until Go 1.24
		strings.HasPrefix(start, "runtime/trace.(*traceMultiplexer).startLocked.func")
}

// Advances reports whether a class is the runtime's goroutine that begins a new generation
// of the trace every second (traceAdvancerState).
func (c *Table) Advances(id int32) bool {
	return strings.HasPrefix(c.list[id].start, "runtime.(*traceAdvancerState)")
}

package findings

// callers counts system calls by the stack that they were made from.
type callers struct {
	byCaller []Caller // the first is for all stacks that come too late
	at       map[int32]int32
	recent   [64]struct{ stack, i int32 } // of those that were asked for
	last     [lastCalls]LastCall          // a ring
	begun    uint                         // calls
}

// lastCalls is of how many system calls [callers.LastCall] tells.
const lastCalls = 64

// LastCall is a system call that began a short time ago.
type LastCall struct {
	G           int64
	At          int64 // when it began
	Slot, Class int32 // of G
	Stack       int32
	Used        bool // for the watcher
}

// begin notes that g begins a system call.
func (c *callers) begin(g *Goroutine, stack int32, at int64) {
	x := &c.last[c.begun%lastCalls]
	x.G, x.At, x.Slot, x.Class, x.Stack, x.Used = g.ID, at, g.slot, g.Class, stack, false
	c.begun++
}

// LastCall returns the i-th latest system call, from 0 on; nil if there is none, or it is
// not kept. It is valid until the next decision.
func (c *callers) LastCall(i uint) *LastCall {
	if i >= min(c.begun, lastCalls) {
		return nil
	}
	return &c.last[(c.begun-1-i)%lastCalls]
}

// Caller is the system calls that began with a P and came from one stack.
type Caller struct {
	Stack int32
	Class int32 // of the first that called
	G     int64 // which that was
	N, Ns int64 // calls, and their time with the P
	// Runs is in how many run intervals they came; it is more than that where goroutines
	// call by turns whose slots are equal modulo 4.
	Runs     int64
	From, To int64    // from the begin of the first to the end of the last
	runAt    [4]int64 // when the last one began, by slot
}

// maxCallers bounds the stacks that are counted separately.
const maxCallers = 4096

func newCallers() callers { return callers{byCaller: make([]Caller, 1), at: map[int32]int32{}} }

// find returns the index of a stack.
func (c *callers) find(stack int32) int32 {
	r := &c.recent[uint32(stack)%uint32(len(c.recent))]
	if r.stack == stack && stack != 0 {
		return r.i
	}
	i, ok := c.at[stack]
	if !ok && len(c.byCaller) < maxCallers {
		i = int32(len(c.byCaller))
		c.byCaller = append(c.byCaller, Caller{Stack: stack})
		c.at[stack] = i
	}
	r.stack, r.i = stack, i
	return i
}

// count counts a system call of g.
func (c *callers) count(g *Goroutine, stack int32, from, to int64) {
	x := &c.byCaller[c.find(stack)]
	if x.N == 0 {
		x.G, x.Class, x.From = g.ID, g.Class, from
		x.runAt = [4]int64{-1, -1, -1, -1}
	}
	x.N++
	x.Ns += to - from
	x.To = to
	if at := &x.runAt[g.slot&3]; *at != g.StartAt {
		x.Runs++
		*at = g.StartAt
	}
}

// CallsFrom is how many system calls that began with a P came from a stack, and a
// small number for the stack, by which a [Watcher] can keep what it knows of them in
// a slice; all stacks beyond some thousands share 0.
func (c *callers) CallsFrom(stack int32) (n int64, number int32) {
	i := c.find(stack)
	return c.byCaller[i].N, i
}

// Callers returns the system calls by stack, but for the stacks beyond some thousands, in
// the order in which they appeared.
func (c *callers) Callers() []Caller { return c.byCaller[1:] }

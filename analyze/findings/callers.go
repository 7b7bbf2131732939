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

// LastCall is a recent system call.
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

// LastCall returns the i-th latest system call, from 0; nil if it is not kept. It is
// valid until the next decision.
func (c *callers) LastCall(i uint) *LastCall {
	if i >= min(c.begun, lastCalls) {
		return nil
	}
	return &c.last[(c.begun-1-i)%lastCalls]
}

// Caller counts the system calls with a P from one stack.
type Caller struct {
	Stack int32
	Class int32 // of the first that called
	G     int64 // which that was
	N, Ns int64 // calls, and their time with the P
	// Runs is the number of run intervals with such calls; too large where goroutines whose
	// slots are equal modulo 4 call in turns.
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

// CallsFrom returns the number of system calls with a P from a stack, and a small index
// for the stack; all stacks beyond some thousands share index 0.
func (c *callers) CallsFrom(stack int32) (n int64, number int32) {
	i := c.find(stack)
	return c.byCaller[i].N, i
}

// Callers returns the system calls by stack, for the first thousands of stacks, in order
// of appearance.
func (c *callers) Callers() []Caller { return c.byCaller[1:] }

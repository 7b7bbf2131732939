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

// LastCall is one of the latest system calls that goroutines of the program made. [View.LastCall]
// returns them.
type LastCall struct {
	G           int64 // ID of the goroutine
	At          int64 // time at which the call began, ns
	Slot, Class int32 // of G: its View.Slot, and the handle of its class
	Stack       int32 // handle of the stack from which it was made; 0 if unknown
	Used        bool  // free for a Watcher to mark a call that it has taken into account; false at first
}

// begin notes that g begins a system call.
func (c *callers) begin(g *Goroutine, stack int32, at int64) {
	x := &c.last[c.begun%lastCalls]
	x.G, x.At, x.Slot, x.Class, x.Stack, x.Used = g.ID, at, g.slot, g.Class, stack, false
	c.begun++
}

// LastCall returns the i-th latest system call of a goroutine of the program: 0 is the latest. It is
// nil unless i is below 64 and there were so many. The result is valid until the next decision.
func (c *callers) LastCall(i uint) *LastCall {
	if i >= min(c.begun, lastCalls) {
		return nil
	}
	return &c.last[(c.begun-1-i)%lastCalls]
}

// Caller counts the system calls that were made, with a P, from one stack. [View.Callers] returns
// them.
type Caller struct {
	Stack int32 // handle of the stack, for Facts.Frames
	Class int32 // handle of the class of G
	G     int64 // ID of the first goroutine that made such a call
	N, Ns int64 // number of calls, and for how long they kept their P, summed, in ns
	// Runs is the number of run intervals with such calls. It is an estimate, too large where many
	// goroutines call in turns.
	Runs     int64
	From, To int64    // ns: from the beginning of the first call to the end of the last
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

// CallsFrom returns n, the number of system calls made with a P from the stack with a handle, and
// number, a small index by which a Watcher can keep what it knows of the stack in a slice. All
// stacks beyond the first 4,095 share index 0, and the count that belongs to it.
func (c *callers) CallsFrom(stack int32) (n int64, number int32) {
	i := c.find(stack)
	return c.byCaller[i].N, i
}

// Callers returns the counts of system calls, one for each of the first 4,095 stacks from which some
// were made, in order of appearance.
func (c *callers) Callers() []Caller { return c.byCaller[1:] }

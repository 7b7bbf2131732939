package findings

// callers counts system calls by the stack that they were made from.
type callers struct {
	n      []int64 // the first is for all stacks that come too late
	at     map[int32]int32
	recent [64]struct{ stack, i int32 } // of those that were asked for
}

// maxCallers bounds the stacks that are counted separately.
const maxCallers = 4096

func newCallers() callers { return callers{n: make([]int64, 1), at: map[int32]int32{}} }

// find returns the index of a stack.
func (c *callers) find(stack int32) int32 {
	r := &c.recent[uint32(stack)%uint32(len(c.recent))]
	if r.stack == stack && stack != 0 {
		return r.i
	}
	i, ok := c.at[stack]
	if !ok && len(c.n) < maxCallers {
		i = int32(len(c.n))
		c.n = append(c.n, 0)
		c.at[stack] = i
	}
	r.stack, r.i = stack, i
	return i
}

// count counts a system call.
func (c *callers) count(stack int32) { c.n[c.find(stack)]++ }

// CallsFrom is how many system calls that began with a P came from a stack, and a
// small number for the stack, by which a [Watcher] can keep what it knows of them in
// a slice; all stacks beyond some thousands share 0.
func (c *callers) CallsFrom(stack int32) (n int64, number int32) {
	i := c.find(stack)
	return c.n[i], i
}

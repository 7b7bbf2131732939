package waits

import "math"

// order is the order in which those who wait in a queue became runnable. It
// answers one question: for how long did goroutines run that became runnable
// later? A run interval adds its length to the value of all that became runnable
// earlier.
//
// Most queues are served nearly in that order: then a run adds to no goroutine, to
// everybody, or to all but a few at one end, and those who come are the last. So
// they form a list as long as that holds. When it does not, all of the list go
// into a treap, which takes O(log n) for anything.
type order struct {
	first, last int32 // of the list; 0: none
	root        int32 // of the treap
	lo, hi      int64 // no sequence number in the treap is outside of these
	all, inTree int64 // part of the value of everyone in the list, and in the treap
}

// near is how many are looked at from an end of the list.
const near = 8

// insert puts node z in, for one that became runnable at seq, and returns its value.
// Values only mean something as differences.
func (o *order) insert(nodes []node, z int32, seq int64) int64 {
	nz, at := &nodes[z], o.last
	nz.seq = seq
	for i := 0; at != 0 && nodes[at].seq > seq; i++ {
		if i == near {
			return o.plant(nodes, z)
		}
		at = nodes[at].left
	}
	nz.rest, nz.left, nz.pre = inList, at, 0
	next := &o.first
	if at != 0 {
		next = &nodes[at].right
	}
	nz.right = *next
	*next = z
	if nz.right != 0 {
		nodes[nz.right].left = z
	} else {
		o.last = z
	}
	return o.all
}

// plant puts node z into the treap and returns its value there.
func (o *order) plant(nodes []node, z int32) int64 {
	nz := &nodes[z]
	nz.rest = 0
	if o.root == 0 {
		o.lo, o.hi = nz.seq, nz.seq
	} else {
		o.lo, o.hi = min(o.lo, nz.seq), max(o.hi, nz.seq)
	}
	return o.inTree + insert(nodes, &o.root, z)
}

// remove removes node z, which must be in, and returns its value.
func (o *order) remove(nodes []node, z int32) int64 {
	nz := &nodes[z]
	if nz.rest != inList {
		value, first, last := remove(nodes, &o.root, z)
		if first {
			o.lo = nz.seq + 1
		}
		if last {
			o.hi = nz.seq - 1
		}
		return o.inTree + value + nz.rest
	}
	if nz.left != 0 {
		nodes[nz.left].right = nz.right
	} else {
		o.first = nz.right
	}
	if nz.right != 0 {
		nodes[nz.right].left = nz.left
	} else {
		o.last = nz.left
	}
	return o.all + nz.pre
}

// value returns that of node z, which must be in.
func (o *order) value(nodes []node, z int32) int64 {
	nz := &nodes[z]
	if nz.rest == inList {
		return o.all + nz.pre
	}
	sum := o.inTree + nz.rest + nz.pre
	for at := o.root; at != z; {
		if t := &nodes[at]; nz.seq < t.seq {
			sum += t.pre
			at = t.left
		} else {
			at = t.right
		}
	}
	return sum
}

// addBefore adds x to the value of everyone who became runnable before seq.
func (o *order) addBefore(nodes []node, seq, x int64) {
	switch {
	case o.first == 0 || nodes[o.first].seq >= seq:
	case nodes[o.last].seq < seq:
		o.all += x
	default:
		o.addInList(nodes, seq, x)
	}
	switch { // after the list, of which all may have gone into the treap
	case o.root == 0 || seq <= o.lo:
	case seq > o.hi:
		o.inTree += x
	default:
		addBefore(nodes, o.root, seq, x)
	}
}

// addInList is addBefore for the list, where seq lies between two of it. If that is
// not near an end, the list goes into the treap instead.
func (o *order) addInList(nodes []node, seq, x int64) {
	begin, end := o.first, o.last
	for range near {
		begin, end = nodes[begin].right, nodes[end].left
		switch {
		case nodes[begin].seq >= seq:
			for i := o.first; i != begin; i = nodes[i].right {
				nodes[i].pre += x
			}
			return
		case nodes[end].seq < seq:
			o.all += x
			for i := o.last; i != end; i = nodes[i].left {
				nodes[i].pre -= x
			}
			return
		}
	}
	for i := o.first; i != 0; {
		next, value := nodes[i].right, o.all+nodes[i].pre
		nodes[i].rest = value - o.plant(nodes, i)
		i = next
	}
	o.first, o.last = 0, 0
}

// node is a waiting goroutine in an order: in its list, or in its treap, which
// is ordered by the sequence number at which it became runnable. There pre holds
// sums lazily:
//
//	value(v) = pre(v) + sum of pre(a) over all a that have v in their left subtree
//
// so adding to a prefix touches only the nodes of one path, and adding to
// nothing else. Compared with a Fenwick tree over sequence numbers it needs no
// window: memory follows the number of goroutines that wait, however long the
// oldest does.
type node struct {
	seq         int64
	pre         int64
	rest        int64 // part of the value that it brought into the treap, or inList
	left, right int32 // 0: none; in the list: before and after it
}

const inList = math.MinInt64

// priority is a node's in the heap. It comes of the sequence number, so that equal input
// gives an equal tree.
func (n *node) priority() uint64 {
	x := uint64(n.seq) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x * 0xbf58476d1ce4e5b9
}

// insert puts node z into the tree at root, and returns its value there.
func insert(nodes []node, root *int32, z int32) int64 {
	nz := &nodes[z]
	link, value, prio := root, int64(0), nz.priority()
	for *link != 0 {
		t := &nodes[*link]
		if t.priority() < prio {
			break
		}
		if nz.seq < t.seq {
			value += t.pre
			link = &t.left
		} else {
			link = &t.right
		}
	}
	// Split the rest below z. What leaves the left subtree of a node on the
	// right side takes that node's pre along.
	t := *link
	*link = z
	lp, rp, carry := &nz.left, &nz.right, int64(0)
	for t != 0 {
		n := &nodes[t]
		if n.seq < nz.seq {
			n.pre += carry
			*lp = t
			lp = &n.right
			t = n.right
		} else {
			carry += n.pre
			*rp = t
			rp = &n.left
			t = n.left
		}
	}
	*lp, *rp = 0, 0
	nz.pre = 0
	return value
}

// remove removes node z from the tree at root, and returns its value there and
// whether it was the first or the last.
func remove(nodes []node, root *int32, z int32) (value int64, first, last bool) {
	nz := &nodes[z]
	link := root
	first, last = nz.left == 0, nz.right == 0
	for *link != z {
		t := &nodes[*link]
		if nz.seq < t.seq {
			value += t.pre
			link, last = &t.left, false
		} else {
			link, first = &t.right, false
		}
	}
	value += nz.pre
	l, r, carry := nz.left, nz.right, nz.pre
	for {
		if l == 0 {
			*link = r
			break
		}
		if r == 0 {
			*link = l
			for l != 0 && carry != 0 {
				nodes[l].pre += carry
				l = nodes[l].right
			}
			break
		}
		nl, nr := &nodes[l], &nodes[r]
		if nl.priority() > nr.priority() {
			nl.pre += carry
			*link = l
			link = &nl.right
			l = nl.right
		} else {
			carry -= nr.pre
			*link = r
			link = &nr.left
			r = nr.left
		}
	}
	nz.left, nz.right, nz.pre = 0, 0, 0
	return value, first, last
}

// addBefore adds x to the value of every node that became runnable before seq.
func addBefore(nodes []node, t int32, seq, x int64) {
	for t != 0 {
		n := &nodes[t]
		if n.seq < seq {
			n.pre += x
			t = n.right
		} else {
			t = n.left
		}
	}
}

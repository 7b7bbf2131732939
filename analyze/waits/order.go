package waits

// node is a waiting goroutine in the treap of its queue, ordered by the
// sequence number at which it became runnable. The treap answers one question:
// for how long did goroutines run that became runnable later? A run interval
// adds its length to all that became runnable earlier, a prefix of the order,
// in O(log n), and pre holds such sums lazily:
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
	left, right int32 // 0: none
	prio        uint32
}

// priority derives a node's heap priority from its sequence number, so that
// equal input gives an equal tree.
func priority(seq int64) uint32 {
	x := uint64(seq) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return uint32(x >> 32)
}

// insert puts node z, whose seq and prio are set, into the tree at root, and
// returns its value. Values only mean something as differences.
func insert(nodes []node, root *int32, z int32) int64 {
	nz := &nodes[z]
	link, value := root, int64(0)
	for *link != 0 {
		t := &nodes[*link]
		if t.prio < nz.prio {
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

// remove takes node z out of the tree at root and returns its value. z must be
// in that tree.
func remove(nodes []node, root *int32, z int32) int64 {
	nz := &nodes[z]
	link, value := root, int64(0)
	for *link != z {
		t := &nodes[*link]
		if nz.seq < t.seq {
			value += t.pre
			link = &t.left
		} else {
			link = &t.right
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
		if nl.prio > nr.prio {
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
	return value
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

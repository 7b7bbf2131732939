package waits

import (
	"math/rand/v2"
	"testing"
)

// TestOrder compares an order with a plain list of values.
func TestOrder(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		nodes := make([]node, 1)
		var o order
		type entry struct {
			i    int32
			base int64 // value when it was inserted
			sum  int64 // what it should have got since
		}
		var live []entry
		var free []int64 // sequence numbers to be used, in any order
		for i := range int64(400) {
			free = append(free, i+1)
		}
		r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		if seed%2 == 0 { // the usual case: each new one is the newest
			for i := range free {
				free[i] = int64(i + 1)
			}
		}
		for range 2000 {
			switch k := r.IntN(5); {
			case k == 0 && len(free) > 0:
				seq := free[0]
				free = free[1:]
				nodes = append(nodes, node{})
				i := int32(len(nodes) - 1)
				live = append(live, entry{i: i, base: o.insert(nodes, i, seq)})
			case k == 1 && len(live) > 0:
				j := r.IntN(len(live))
				e := live[j]
				if got := o.remove(nodes, e.i) - e.base; got != e.sum {
					t.Fatalf("seed %d: node %d got %d, want %d", seed, e.i, got, e.sum)
				}
				live[j] = live[len(live)-1]
				live = live[:len(live)-1]
			default:
				seq, x := r.Int64N(402), r.Int64N(1000)
				o.addBefore(nodes, seq, x)
				for j := range live {
					if nodes[live[j].i].seq < seq {
						live[j].sum += x
					}
				}
			}
		}
		for _, e := range live {
			if got := o.remove(nodes, e.i) - e.base; got != e.sum {
				t.Fatalf("seed %d, end: node %d got %d, want %d", seed, e.i, got, e.sum)
			}
		}
		if o.root != 0 || o.first != 0 || o.last != 0 {
			t.Fatalf("seed %d: it is not empty", seed)
		}
	}
}

// TestOrderDepth keeps the treap flat when sequence numbers only rise.
func TestOrderDepth(t *testing.T) {
	const n = 100_000
	nodes := make([]node, 1)
	var o order
	for i := range int32(n) {
		nodes = append(nodes, node{})
		o.insert(nodes, i+1, int64(i)+1)
	}
	if o.root != 0 {
		t.Error("those who come in order are not in the list")
	}
	o.addBefore(nodes, n/2, 1)
	if o.first != 0 {
		t.Error("the list remains, though half of it was overtaken")
	}
	depth, deepest := map[int32]int{o.root: 1}, 0
	for todo := []int32{o.root}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		deepest = max(deepest, depth[i])
		for _, c := range [...]int32{nodes[i].left, nodes[i].right} {
			if c != 0 {
				depth[c] = depth[i] + 1
				todo = append(todo, c)
			}
		}
	}
	if len(depth) != n {
		t.Errorf("%d of %d in the treap", len(depth), n)
	}
	if deepest > 64 {
		t.Errorf("depth %d", deepest)
	}
}

package reference

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestLengthsAndOrder does random operations and counts what is shown, and who
// stands in front of whom, along the queues.
func TestLengthsAndOrder(t *testing.T) {
	const gs, ps = 60, 3
	random := rand.New(rand.NewPCG(1, 2))
	q := NewQueues(RulesFor(26))
	q.Grow(gs, ps)
	hidden := [gs]bool{}
	for step := range 20_000 {
		g, p := random.Int32N(gs), random.Int32N(ps)
		switch {
		case q.Place(g).Queue != QueueUnknown:
			switch place := q.Place(g); random.IntN(4) {
			case 0:
				q.Promote(g)
			case 1:
				q.Unhide(g)
				hidden[g] = false
			case 2:
				if place.Queue != QueueRunnext {
					break
				}
				if q.TakeRunnext(place.P); q.Runnext(place.P) != None || q.Place(g).Queue != QueueUnknown {
					t.Fatalf("step %d: %d is still in the runnext of P%d", step, g, place.P)
				}
			default:
				q.Remove(g)
			}
		case random.IntN(4) == 0:
			q.Hide(g)
			hidden[g] = true
		default:
			switch random.IntN(6) {
			case 0:
				q.PutTail(p, g)
			case 1:
				q.InsertAfter(p, q.Head(p), g)
			case 2:
				q.PutGlobal(g)
			case 3:
				q.PutGlobalHead(g)
			case 4:
				q.PutRunnext(p, g)
			case 5:
				if head := q.GlobalHead(); head != None {
					q.PutGlobalAfter(head, g)
				}
			}
		}
		if err := q.Check(); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		shown := q.ShownGlobalLen()
		for p := range int32(ps) {
			shown += q.ShownLen(p)
		}
		for g := range int32(gs) {
			if q.Place(g).Queue != QueueUnknown && !hidden[g] {
				shown--
			}
		}
		if shown != 0 {
			t.Fatalf("step %d: %d more are shown than are queued and not hidden", step, shown)
		}
	}
}

// TestViolations does operations whose preconditions do not hold: they panic, and change nothing.
func TestViolations(t *testing.T) {
	const runnext, ring, global, none = 1, 2, 4, 6 // where goroutines are; the ring is that of P 0
	rules := RulesFor(26)
	rules.RingSize = 4
	ignore := func(int32) {}
	for name, do := range map[string]func(q *Queues){
		"runnext twice":            func(q *Queues) { q.PutRunnext(1, runnext) },
		"runnext of no goroutine":  func(q *Queues) { q.PutRunnext(1, None) },
		"no runnext":               func(q *Queues) { q.TakeRunnext(1) },
		"tail twice":               func(q *Queues) { q.PutTail(0, ring) },
		"tail of no goroutine":     func(q *Queues) { q.PutTail(0, None) },
		"tail of an unknown one":   func(q *Queues) { q.PutTail(0, 1<<24-1) },
		"global twice":             func(q *Queues) { q.PutGlobal(global) },
		"head twice":               func(q *Queues) { q.PutGlobalHead(ring) },
		"behind one elsewhere":     func(q *Queues) { q.PutGlobalAfter(ring, none) },
		"behind nobody":            func(q *Queues) { q.PutGlobalAfter(None, none) },
		"behind itself":            func(q *Queues) { q.PutGlobalAfter(global, global) },
		"in another P's ring":      func(q *Queues) { q.InsertAfter(1, ring, none) },
		"insert twice":             func(q *Queues) { q.InsertAfter(0, ring, global) },
		"overflow of a queued one": func(q *Queues) { q.Overflow(0, global, ignore) },
		"overflow of a short ring": func(q *Queues) { q.Overflow(1, none, ignore) },
		"steal from elsewhere":     func(q *Queues) { q.Steal(0, 1, ring, ignore) },
		"batch out of a ring":      func(q *Queues) { q.TakeBatch(1, ring, 2, None, ignore) },
	} {
		t.Run(name, func(t *testing.T) {
			q, before := NewQueues(rules), NewQueues(rules)
			q.Grow(8, 2)
			q.PutRunnext(0, runnext)
			q.PutTail(0, ring)
			q.PutTail(0, ring+1)
			q.PutGlobal(global)
			q.PutGlobal(global + 1)
			before.CopyFrom(q)
			defer func() {
				if v, ok := recover().(Violation); !ok || v.Error() == "" {
					t.Errorf("the panic is %v, no Violation", v)
				}
				if !reflect.DeepEqual(q, before) {
					t.Error("the queues have changed")
				}
				if err := q.Check(); err != nil {
					t.Error(err)
				}
			}()
			do(q)
		})
	}
}

// TestMoves does each operation that moves several goroutines, and compares the
// order of the moves and what is queued afterwards, runnext first.
func TestMoves(t *testing.T) {
	rules := RulesFor(26)
	rules.RingSize = 4
	for _, c := range []struct {
		name           string
		local, global  []int32 // of P 0, runnext first; before
		do             func(q *Queues, moved func(int32))
		moved          []int32
		p0, p1, queued []int32 // queues of both Ps and the global one, afterwards
	}{
		{"overflow", []int32{1, 2, 3, 4, 5}, []int32{6}, func(q *Queues, moved func(int32)) { q.Overflow(0, 7, moved) },
			[]int32{2, 3}, []int32{1, 4, 5}, nil, []int32{6, 2, 3, 7}},
		{"steal half", []int32{1, 2, 3, 4, 5}, nil, func(q *Queues, moved func(int32)) { q.Steal(1, 0, 3, moved) },
			[]int32{2}, []int32{1, 4, 5}, []int32{2}, nil},
		{"steal one", []int32{1, 2}, nil, func(q *Queues, moved func(int32)) { q.Steal(1, 0, 2, moved) },
			nil, []int32{1}, nil, nil},
		{"batch", nil, []int32{1, 2, 3, 4}, func(q *Queues, moved func(int32)) { q.TakeBatch(1, 1, 3, None, moved) },
			[]int32{2, 3}, nil, []int32{2, 3}, []int32{4}},
		{"batch of one", nil, []int32{1, 2}, func(q *Queues, moved func(int32)) { q.TakeBatch(1, 1, 1, None, moved) },
			nil, nil, nil, []int32{2}},
		{"batch in front of the ring", []int32{1, 2}, []int32{3, 4, 5}, func(q *Queues, moved func(int32)) { q.TakeBatch(0, 3, 3, None, moved) },
			[]int32{4, 5}, []int32{1, 4, 5, 2}, nil, nil},
		{"drain", []int32{1, 2, 3}, []int32{4}, func(q *Queues, moved func(int32)) { q.Drain(0, 0, moved) },
			[]int32{1, 2, 3}, nil, nil, []int32{4, 1, 2, 3}},
		{"drain but for the newest", []int32{1, 2, 3}, []int32{4}, func(q *Queues, moved func(int32)) { q.Drain(0, 1, moved) },
			[]int32{1, 2}, []int32{3}, nil, []int32{4, 1, 2}},
		{"destroy", []int32{1, 2, 3}, []int32{4}, func(q *Queues, moved func(int32)) { q.Destroy(0, moved) },
			[]int32{3, 2, 1}, nil, nil, []int32{1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := NewQueues(rules)
			q.Grow(8, 2)
			for i, g := range c.local {
				if i == 0 {
					q.PutRunnext(0, g)
				} else {
					q.PutTail(0, g)
				}
			}
			for _, g := range c.global {
				q.PutGlobal(g)
			}
			var moved []int32
			c.do(q, func(g int32) { moved = append(moved, g) })
			if err := q.Check(); err != nil {
				t.Error(err)
			}
			queue := func(runnext, head int32) (out []int32) {
				if runnext != None {
					out = append(out, runnext)
				}
				for x := head; x != None; x = q.Next(x) {
					out = append(out, x)
				}
				return out
			}
			for _, list := range []struct {
				what      string
				got, want []int32
			}{
				{"moved", moved, c.moved},
				{"P 0", queue(q.Runnext(0), q.Head(0)), c.p0},
				{"P 1", queue(q.Runnext(1), q.Head(1)), c.p1},
				{"global", queue(None, q.GlobalHead()), c.queued},
			} {
				if !slices.Equal(list.got, list.want) {
					t.Errorf("%s: %v, not %v", list.what, list.got, list.want)
				}
			}
		})
	}
}

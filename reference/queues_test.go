package reference

import (
	"math/rand/v2"
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
		n := 0
		for x := q.GlobalHead(); x != None; x = q.Next(x) {
			if !hidden[x] {
				n++
			}
			if y := q.Next(x); y != None && (!q.AheadGlobal(x, y) || q.AheadGlobal(y, x)) {
				t.Fatalf("step %d: %d stands in front of %d", step, x, y)
			}
		}
		if q.ShownGlobalLen() != n {
			t.Fatalf("step %d: %d shown in the global queue, want %d", step, q.ShownGlobalLen(), n)
		}
		for p := range int32(ps) {
			n := 0
			if x := q.Runnext(p); x != None && !hidden[x] {
				n++
			}
			for x := q.Head(p); x != None; x = q.Next(x) {
				if !hidden[x] {
					n++
				}
			}
			if q.ShownLen(p) != n {
				t.Fatalf("step %d: %d shown on P%d, want %d", step, q.ShownLen(p), p, n)
			}
		}
	}
}

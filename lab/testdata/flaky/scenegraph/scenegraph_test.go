package scenegraph

import (
	"runtime"
	"testing"
	"time"
)

// 60 frames a second leave 16 ms a frame.
const budget = 16 * time.Millisecond

func TestFrameStaysInBudget(t *testing.T) {
	s := &Stage{Root: Forest(5, 8)} // 488281 nodes
	s.Frame(1000)
	runtime.GC()
	for i := range 12 {
		n, took := s.Frame(4000)
		if n != 4000 {
			t.Fatalf("frame %d shows %d nodes, want 4000", i, n)
		}
		if took > budget {
			t.Fatalf("frame %d took %v, budget %v", i, took.Round(100*time.Microsecond), budget)
		}
	}
}

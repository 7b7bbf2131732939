package timeline

import (
	"slices"
	"testing"
)

// TestHeap checks sizes before the picture begins, in it, and between; and sweeps.
func TestHeap(t *testing.T) {
	const bin = 1 << firstShift
	h := NewHeap(1000)
	h.Alloc(10, 70)
	h.Goal(20, 100)
	h.Sweep(500, 1, true)
	h.Alloc(1000+bin/2, 90)
	h.Alloc(1000+bin/2+1, 50)
	h.Sweep(1000+bin/4, 1, false)
	h.Alloc(1000+2*bin+1, 60)
	h.Goal(1000+2*bin+2, 0)
	h.Sweep(1000+3*bin, 0, true)
	r := h.Result(1000 + 4*bin)
	if r.BinNs != bin || r.Bins != 4 || !slices.Equal(r.Alloc, []int64{90, 50, 60, 60}) || !slices.Equal(r.Goal, []int64{100, 100, 0, 0}) {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.Sweep, []float32{0.25, 0, 0, 1}) {
		t.Errorf("sweep %v", r.Sweep)
	}
	if r := NewHeap(0).Result(10); r != nil {
		t.Errorf("%+v of a trace that does not tell", r)
	}
	h = NewHeap(0)
	h.Goal(300, 9)
	if r := h.Result(600); !slices.Equal(r.Alloc, []int64{-1, -1, -1}) || !slices.Equal(r.Goal, []int64{-1, 9, 9}) {
		t.Errorf("%+v", r)
	}
}

// TestHeapMerges has more time than bins: what was most and last stays, and so does the time
// of the sweeps.
func TestHeapMerges(t *testing.T) {
	const step = 1 << firstShift
	h := NewHeap(0)
	var end, most int64
	for i := range int64(5 * DefaultMaxBins) {
		end = i * step
		size := (i * 7919) % 10_007
		most = max(most, size)
		h.Alloc(end, size)
		h.Sweep(end, 2, true)
		h.Sweep(end+step/2, 2, false)
	}
	end += step
	r := h.Result(end)
	if r.Bins > DefaultMaxBins || r.Bins < DefaultMaxBins/2 || len(r.Alloc) != r.Bins || len(r.Goal) != r.Bins || len(r.Sweep) != r.Bins {
		t.Errorf("%d bins, %d sizes", r.Bins, len(r.Alloc))
	}
	if got := slices.Max(r.Alloc); got != most {
		t.Errorf("most %d, want %d", got, most)
	}
	for i, v := range r.Sweep {
		if v < 0.49 || v > 0.51 {
			t.Errorf("bin %d: %v Ps sweep, want a half", i, v)
		}
	}
}

// TestHeadroom has cycles of which the runtime tells what is alive, and then the next goal.
func TestHeadroom(t *testing.T) {
	for _, c := range []struct {
		name        string
		alive, goal int64
		growth      float64
		short       bool
	}{
		{"GOGC=100", 100 << 20, 200 << 20, 1, false},
		{"a limit", 100 << 20, 101 << 20, 0.01, true},
		{"the collector is off", 100 << 20, 0, 0, false},
	} {
		h := NewHeap(0)
		h.Goal(0, 4<<20) // at first
		for i := range int64(6) {
			h.Alloc(10*i, 90<<20) // meanwhile
			h.Alloc(10*i+1, c.alive)
			h.Goal(10*i+1, c.goal)
		}
		room := h.Headroom()
		if room.Growth() != c.growth || room.LacksRoom() != c.short {
			t.Errorf("%s: %+v grows by %g, short %t", c.name, room, room.Growth(), room.LacksRoom())
		}
	}
}

package timeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

// The states of the two packages have the same numbers; a conversion relies on
// it.
var _ = [1]struct{}{}[int(ledger.Idle)-int(Idle)+int(ledger.User)-int(User)+
	int(ledger.System)-int(System)+int(ledger.GC)-int(GC)+int(ledger.Tracer)-int(Tracer)+
	int(ledger.Syscall)-int(Syscall)+int(ledger.Sched)-int(Sched)+int(ledger.Stopped)-int(Stopped)+
	int(ledger.NotRecorded)-int(NotRecorded)]

func run(o Options, ds []reference.Decision, end int64) Result {
	a := drive(New(o))
	for i := range ds {
		a.Add(&ds[i])
	}
	return a.Finish(end, noNames)
}

// byHand is a stream of two Ps over 1024 ns, four bins of 256 ns.
var byHand = []reference.Decision{
	{Time: 0, Kind: reference.KindProcs, Batch: 2},
	{Time: 0, Kind: reference.KindPStart, P: 0, Flags: reference.FlagFirst},
	{Time: 0, Kind: reference.KindReady, G: 1, P: 0, To: reference.QueueRunnext, Local: 1},
	{Time: 128, Kind: reference.KindStart, G: 1, P: 0, Class: 3, Victim: -1, Src: reference.SrcRunnext, Wait: 128},
	{Time: 256, Kind: reference.KindReady, G: 2, P: 0, To: reference.QueueRunnext, Local: 1},
	{Time: 320, Kind: reference.KindReady, G: 3, P: 0, To: reference.QueueRunnext, Local: 2},
	{Time: 320, Kind: reference.KindMove, G: 2, P: 0, Victim: 0, To: reference.QueueLocal, Local: 2},
	{Time: 384, Kind: reference.KindPStart, P: 1},
	{Time: 384, Kind: reference.KindSteal, P: 1, Victim: 0, Batch: 1},
	{Time: 384, Kind: reference.KindStart, G: 2, P: 1, Victim: 0, Src: reference.SrcSteal, Wait: 128},
	{Time: 640, Kind: reference.KindSyscall, G: 2, P: 1},
	{Time: 768, Kind: reference.KindRetake, P: 1},
	{Time: 768, Kind: reference.KindSTWBegin, Why: reference.WhyGC},
	{Time: 832, Kind: reference.KindSTWEnd},
}

func TestByHand(t *testing.T) {
	got := run(Options{}, byHand, 1024)
	want := Result{
		BinNs: 256, Bins: 4, EndNs: 1024,
		Lanes: []Lane{
			{
				P: 0, User: []uint8{128, 255, 255, 255}, System: make([]uint8, 4), GC: make([]uint8, 4),
				Syscall: make([]uint8, 4), Sched: []uint8{255 - 128, 0, 0, 0}, Stopped: make([]uint8, 4),
				// Second bin: 1 for 64 ns, 2 for 64 ns, 1 for 128 ns.
				Queue: Series{Mean: []float32{0.5, 1.25, 1, 1}, Max: []int32{1, 2, 1, 1}},
			},
			{
				P: 1, User: []uint8{0, 128, 128, 0}, System: make([]uint8, 4), GC: make([]uint8, 4),
				Syscall: []uint8{0, 0, 255 - 128, 0}, Sched: make([]uint8, 4), Stopped: make([]uint8, 4),
				Queue: Series{Mean: make([]float32, 4), Max: make([]int32, 4)},
			},
		},
		Global:   Series{Mean: make([]float32, 4), Max: make([]int32, 4)},
		Runnable: Series{Mean: []float32{0.5, 1.25, 1, 1}, Max: []int32{1, 2, 1, 1}},
		IdleP:    Series{Mean: []float32{1, 0.5, 0, 1}, Max: []int32{2, 1, 0, 1}},
		Missed:   []float32{0.5, 0.5, 0, 1},
		Steals:   []int32{0, 1, 0, 0}, Retakes: []int32{0, 0, 0, 1},
		Handoffs: make([]int32, 4), Preemptions: make([]int32, 4),
		STW: []Span{{From: 768, To: 832, Name: "gc"}}, GC: []Span{},
		Windows: []Window{{
			Title: "the whole trace", ToNs: 1024,
			Intervals: []PInterval{
				{P: 0, From: 0, To: 128, State: Sched, G: -1, Wait: -1},
				{P: 1, From: 0, To: 384, State: Idle, G: -1, Wait: -1},
				{P: 0, From: 128, To: 1024, State: User, G: 1, Class: 3, Wait: 128, Src: uint8(reference.SrcRunnext)},
				{P: 1, From: 384, To: 640, State: User, G: 2, Wait: 128, Src: uint8(reference.SrcSteal), Stop: "syscall"},
				{P: 1, From: 640, To: 768, State: Syscall, G: 2, Wait: -1},
				{P: 1, From: 768, To: 1024, State: Idle, G: -1, Wait: -1},
			},
			Depths: []Depth{
				{P: -1, At: 0, Len: 0},
				{P: 0, At: 0, Len: 1},
				{P: 1, At: 0, Len: 0},
				{P: 0, At: 128, Len: 0},
				{P: 0, At: 256, Len: 1},
				{P: 0, At: 320, Len: 2},
				{P: 0, At: 384, Len: 1},
			},
			Arrows: []Arrow{
				{Kind: "steal", At: 384, From: 0, To: 1, N: 1},
				{Kind: "retake", At: 768, From: 1, To: -1},
			},
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestMergeIsLossless compares a run whose bins were merged many times with
// one whose bins began at the final width.
func TestMergeIsLossless(t *testing.T) {
	for seed := range uint64(20) {
		s := procstest.Generate(rand.New(rand.NewPCG(seed, 2)).IntN, procstest.Options{Steps: 1000, NoTruth: true, Gaps: seed%2 == 1})
		a := drive(New(Options{MaxBins: 32}))
		for i := range s.Decisions {
			a.Add(&s.Decisions[i])
		}
		got := a.Finish(s.End, noNames)
		b := drive(New(Options{MaxBins: 32}))
		b.shift = a.shift
		for i := range s.Decisions {
			b.Add(&s.Decisions[i])
		}
		if a.shift == firstShift {
			t.Fatal("nothing was merged")
		}
		if d := cmp.Diff(b.Finish(s.End, noNames), got); d != "" {
			t.Errorf("-wide start +merged:\n%s", d)
		}
	}
}

// TestTruth compares bins and windows with the slow oracle.
func TestTruth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := procstest.Generate(
			func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") },
			procstest.Options{Steps: 60, Gaps: rapid.Bool().Draw(rt, "gaps")},
		)
		r := run(Options{MaxBins: 16}, s.Decisions, s.End)
		checkBins(rt, s, r)
		checkWindows(rt, s, r)
	})
	for seed := range uint64(50) {
		s := procstest.Generate(rand.New(rand.NewPCG(seed, 1)).IntN, procstest.Options{Steps: 1500, Ps: 8, Gaps: seed%2 == 1})
		r := run(Options{MaxBins: 128}, s.Decisions, s.End)
		checkBins(t, s, r)
		checkWindows(t, s, r)
		if len(r.Windows) != 1 || r.Windows[0].FromNs != 0 || r.Windows[0].ToNs != s.End {
			t.Errorf("a short trace is not one window")
		}
	}
}

// TestMarks does the same for the windows of long traces.
func TestMarks(t *testing.T) {
	seen := 0
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 25_000, Ps: 5, Ring: 20})
		a := drive(New(Options{}))
		a.whole = 6000 // what is generated counts as long
		for i := range s.Decisions {
			d := &s.Decisions[i]
			a.Add(d)
			if d.Kind == reference.KindStart && r.IntN(20) == 0 {
				from := d.Time - d.Wait
				if seed%2 == 1 { // much more than a window holds
					from -= 1_000_000
				}
				a.Mark(from, d.Time, fmt.Sprint("wait of ", d.G))
			}
		}
		got := a.Finish(s.End, noNames)
		if len(got.Windows) > maxWindows {
			t.Errorf("%d windows", len(got.Windows))
		}
		seen += len(got.Windows)
		for i, w := range got.Windows {
			if len(w.Intervals) > windowIntervals || len(w.Arrows) > windowArrows {
				t.Errorf("window of %d stints, %d arrows", len(w.Intervals), len(w.Arrows))
			}
			if w.FromNs >= w.ToNs {
				t.Errorf("window [%d,%d]", w.FromNs, w.ToNs)
			}
			if i > 0 && a.marks[i].from < a.marks[i-1].to && a.marks[i].to > a.marks[i-1].from {
				t.Errorf("windows overlap: %+v", got.Windows)
			}
		}
		checkWindows(t, s, got)
	}
	if seen < 4 {
		t.Errorf("only %d windows", seen)
	}
}

// TestKeep does the same for intervals that are named in the end.
func TestKeep(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 25_000, Ps: 5, Ring: 20})
		a := drive(New(Options{}))
		a.whole = 1000
		short := seed%2 == 1 // the history does not reach back to the start
		if short {
			a.intervals, a.depths = newRing[pInterval](2048), newRing[depth](4096)
		}
		for i := range s.Decisions {
			a.Add(&s.Decisions[i])
			if d := &s.Decisions[i]; !short && d.Kind == reference.KindStart && i%500 == 0 {
				a.Mark(d.Time-d.Wait, d.Time, "a wait")
			}
		}
		for i := range 40 {
			from := r.Int64N(s.End)
			a.Keep(from, from+r.Int64N(s.End/100)+1, fmt.Sprint(i))
		}
		a.Keep(s.End+1, s.End+5, "after the end")
		a.Keep(7, 7, "nothing")
		from := s.End / 3
		a.Keep(from, from+1000, "within another, perhaps")
		got := a.Finish(s.End, noNames)
		if n := len(got.Windows); n < 1 || !short && n < 2 || n > keptWindows+maxWindows {
			t.Errorf("%d windows", n)
		}
		if short && (a.reach() == 0 || got.Windows[0].FromNs < a.reach()) {
			t.Errorf("a window begins at %d, the history at %d", got.Windows[0].FromNs, a.reach())
		}
		total := 0
		for i, w := range got.Windows {
			total += len(w.Intervals)
			if w.FromNs >= w.ToNs || w.ToNs > s.End {
				t.Errorf("window [%d,%d] of %d stints", w.FromNs, w.ToNs, len(w.Intervals))
			}
			if i > 0 && w.FromNs < got.Windows[i-1].ToNs {
				t.Errorf("a window begins at %d, before the one before it ends at %d", w.FromNs, got.Windows[i-1].ToNs)
			}
		}
		if total > keptTotal+8*keptWindows {
			t.Errorf("%d stints in all", total)
		}
		checkWindows(t, s, got)
	}
}

// TestMarkKeepsLongest marks intervals of rising and falling length.
func TestMarkKeepsLongest(t *testing.T) {
	a := drive(New(Options{}))
	a.Add(&reference.Decision{Kind: reference.KindProcs, Batch: 1})
	now := int64(0)
	for i := range int64(12) {
		now += 1000
		a.Add(&reference.Decision{Time: now, Kind: reference.KindPStart})
		n := 100 + (i*5)%12 // all different
		a.Mark(now-n, now, fmt.Sprint(n))
		a.Mark(now-50, now, "shorter, within")
	}
	kept := map[string]bool{}
	for _, m := range a.marks {
		kept[m.title] = true
	}
	for n := 104; n < 112; n++ {
		if !kept[fmt.Sprint(n)] {
			t.Errorf("%d is not kept: %v", n, kept)
		}
	}
	if len(kept) != maxWindows {
		t.Errorf("kept %v", kept)
	}
}

type failer interface {
	Errorf(format string, args ...any)
}

func checkBins(t failer, s procstest.Stream, r Result) {
	if len(s.Moments) == 0 {
		return
	}
	n := len(s.Moments[0].States)
	type bin struct {
		state                           [][ledger.NotRecorded + 1]int64
		queue                           []int64
		peak                            []int
		global, runnable, idle, missed  int64
		gap                             int64
		gPeak, rPeak, iPeak             int
		steals, retakes, handoffs, preE int32
	}
	bins := make([]bin, r.Bins)
	for i := range bins {
		bins[i].state = make([][ledger.NotRecorded + 1]int64, n)
		bins[i].queue = make([]int64, n)
		bins[i].peak = make([]int, n)
	}
	if want := (s.End + r.BinNs - 1) / r.BinNs; int64(r.Bins) != want {
		t.Errorf("%d bins of %d ns for %d ns", r.Bins, r.BinNs, s.End)
		return
	}
	for _, m := range s.Moments {
		runnable, idle, queued := 0, 0, m.Global
		for _, g := range m.Gs {
			if g.Runnable {
				runnable++
			}
		}
		for p := range n {
			queued += m.Local[p]
			if m.States[p] == ledger.Idle {
				idle++
			}
		}
		for i := m.From / r.BinNs; i <= (m.To-1)/r.BinNs; i++ {
			b := &bins[i]
			dt := min(m.To, (i+1)*r.BinNs) - max(m.From, i*r.BinNs)
			for p := range n {
				b.state[p][m.States[p]] += dt
				b.queue[p] += dt * int64(m.Local[p])
				b.peak[p] = max(b.peak[p], m.Local[p])
			}
			if m.Gap {
				b.gap += dt
			}
			b.global += dt * int64(m.Global)
			b.runnable += dt * int64(runnable)
			b.idle += dt * int64(idle)
			b.missed += dt * int64(min(idle, queued))
			b.gPeak, b.rPeak, b.iPeak = max(b.gPeak, m.Global), max(b.rPeak, runnable), max(b.iPeak, idle)
		}
	}
	for _, d := range s.Decisions {
		b := &bins[min(d.Time/r.BinNs, int64(r.Bins-1))]
		switch d.Kind {
		case reference.KindSteal:
			b.steals++
		case reference.KindRetake:
			b.retakes++
		case reference.KindHandoff:
			b.handoffs++
		case reference.KindPreempt:
			b.preE++
		}
	}
	lanes := map[int32]Lane{}
	for _, l := range r.Lanes {
		lanes[l.P] = l
	}
	for p := range n {
		if _, ok := lanes[int32(p)]; ok != s.Known[p] {
			t.Errorf("P%d: known is %v, but has lane is %v", p, s.Known[p], ok)
		}
	}
	for i := range bins {
		b := &bins[i]
		w := float64(covered(i, uint(math.Log2(float64(r.BinNs))), s.End))
		near := func(what string, got float32, sum int64) {
			want := float64(sum) / max(1, w-float64(b.gap))
			if math.Abs(float64(got)-want) > 1e-5*max(1, want) {
				t.Errorf("bin %d: %s is %v, want %v", i, what, got, want)
			}
		}
		near("global", r.Global.Mean[i], b.global)
		near("runnable", r.Runnable.Mean[i], b.runnable)
		near("idle", r.IdleP.Mean[i], b.idle)
		near("missed", r.Missed[i], b.missed)
		if int(r.Global.Max[i]) < b.gPeak || int(r.Runnable.Max[i]) < b.rPeak || int(r.IdleP.Max[i]) < b.iPeak {
			t.Errorf("bin %d: a peak is too low", i)
		}
		if r.Steals[i] != b.steals || r.Retakes[i] != b.retakes || r.Handoffs[i] != b.handoffs || r.Preemptions[i] != b.preE {
			t.Errorf("bin %d: a count is wrong", i)
		}
		for p, l := range lanes {
			near(fmt.Sprint("queue of P", p), l.Queue.Mean[i], b.queue[p])
			if int(l.Queue.Max[i]) < b.peak[p] {
				t.Errorf("bin %d: peak of P%d is %d, want %d", i, p, l.Queue.Max[i], b.peak[p])
			}
			st := b.state[p]
			sum := 0
			for _, c := range []struct {
				name string
				got  []uint8
				want int64
			}{
				{"user", l.User, st[ledger.User]},
				{"system", l.System, st[ledger.System] + st[ledger.Tracer]},
				{"gc", l.GC, st[ledger.GC]},
				{"syscall", l.Syscall, st[ledger.Syscall]},
				{"sched", l.Sched, st[ledger.Sched]},
				{"stopped", l.Stopped, st[ledger.Stopped]},
				{"unused", l.Unused, st[ledger.Unused]},
				{"not recorded", l.NotRecorded, st[ledger.NotRecorded]},
			} {
				var got uint8
				if c.got != nil {
					got = c.got[i]
				}
				sum += int(got)
				if want := float64(c.want) / w * 255; math.Abs(float64(got)-want) > 1.001 {
					t.Errorf("bin %d: %s share of P%d is %d, want %v", i, c.name, p, got, want)
				}
			}
			if sum > 255 {
				t.Errorf("bin %d: shares of P%d sum to %d", i, p, sum)
			}
		}
	}
}

// checkWindows compares each window with all moments within it.
func checkWindows(t failer, s procstest.Stream, r Result) {
	for _, w := range r.Windows {
		checkOrder(t, w.Intervals)
		intervals := map[int32][]PInterval{}
		for _, st := range w.Intervals {
			if st.From < w.FromNs || st.To > w.ToNs || st.From >= st.To || st.Before > 0 && st.From != w.FromNs {
				t.Errorf("stint %+v in window [%d,%d]", st, w.FromNs, w.ToNs)
			}
			if l := intervals[st.P]; len(l) > 0 && l[len(l)-1].To > st.From {
				t.Errorf("stints overlap: %+v, %+v", l[len(l)-1], st)
			}
			intervals[st.P] = append(intervals[st.P], st)
		}
		depths := map[int32][]Depth{}
		for _, d := range w.Depths {
			if l := depths[d.P]; len(l) > 0 && l[len(l)-1].At >= d.At || d.At < w.FromNs || d.At > w.ToNs {
				t.Errorf("depth %+v in window [%d,%d] comes after %+v", d, w.FromNs, w.ToNs, l)
			}
			depths[d.P] = append(depths[d.P], d)
		}
		for _, m := range s.Moments {
			lo, hi := max(m.From, w.FromNs), min(m.To, w.ToNs)
			if lo >= hi {
				continue
			}
			for p, state := range m.States {
				for len(intervals[int32(p)]) > 0 && intervals[int32(p)][0].To <= lo {
					intervals[int32(p)] = intervals[int32(p)][1:]
				}
				l := intervals[int32(p)]
				switch {
				case state == ledger.Unused:
					if len(l) > 0 && l[0].From < hi {
						t.Errorf("[%d,%d] P%d is unused, but: %+v", lo, hi, p, l[0])
					}
				case len(l) == 0 || l[0].From > lo || l[0].To < hi || l[0].State != State(state):
					t.Errorf("[%d,%d] P%d is %v, no stint says so: %+v", lo, hi, p, state, l[:min(1, len(l))])
				}
				if m.Known[p] {
					checkDepth(t, depths, int32(p), lo, m.Local[p])
				}
			}
			checkDepth(t, depths, -1, lo, m.Global)
		}
	}
}

// checkOrder wants intervals by their beginnings, and those alike by their Ps.
func checkOrder(t failer, intervals []PInterval) {
	for i := 1; i < len(intervals); i++ {
		if x, y := intervals[i-1], intervals[i]; x.From > y.From || x.From == y.From && x.P >= y.P {
			t.Errorf("%+v comes before %+v", x, y)
		}
	}
}

// TestOrder has what the order of ends says nothing about: intervals that begin at one
// time, of a few Ps or of many, and some of a P that was unused before.
func TestOrder(t *testing.T) {
	for _, n := range []int32{4, 3 * nearPieces} {
		a := drive(New(Options{}))
		add := func(at int64, kind reference.Kind, n int32) {
			a.Add(&reference.Decision{Time: at, Kind: kind, P: n, Batch: n, Why: reference.WhyIdle})
		}
		add(0, reference.KindProcs, n)
		for p := n - 1; p > 3; p-- {
			add(10, reference.KindPStart, p)
		}
		for _, p := range []int32{2, 0, 3, 1} {
			add(10, reference.KindPStart, p)
		}
		add(20, reference.KindPStop, 3)
		add(20, reference.KindPStop, 1)
		add(30, reference.KindProcs, 1) // only P 0 is used
		for at := int64(40); at < 100; at += 10 {
			add(at, reference.KindPStop, 0)
			add(at+5, reference.KindPStart, 0)
			if at == 70 {
				add(77, reference.KindProcs, n)
			}
		}
		add(100, reference.KindPStart, 3)
		a.Mark(5, 100, "all")
		a.whole = 0
		got := a.Finish(110, noNames)
		if len(got.Windows) != 1 || len(got.Windows[0].Intervals) < 20 {
			t.Fatalf("%+v", got.Windows)
		}
		checkOrder(t, got.Windows[0].Intervals)
	}
}

func checkDepth(t failer, depths map[int32][]Depth, p int32, at int64, want int) {
	l := depths[p]
	for len(l) > 1 && l[1].At <= at {
		l = l[1:]
	}
	depths[p] = l
	if len(l) == 0 || l[0].At > at && want != 0 || l[0].At <= at && int(l[0].Len) != want {
		t.Errorf("at %d the queue of P%d has %d, not %+v", at, p, want, l[:min(1, len(l))])
	}
}

// TestManyPs checks that lanes and bins stay bounded.
func TestManyPs(t *testing.T) {
	a := drive(New(Options{}))
	a.Add(&reference.Decision{Kind: reference.KindProcs, Batch: 1_000_000})
	for i := range int64(100_000) {
		a.Add(&reference.Decision{Time: i * 100, Kind: reference.KindPStart, P: int32(i * 7 % 2_000_000)})
		a.Add(&reference.Decision{Time: i*100 + 50, Kind: reference.KindPStop, P: int32(i * 7 % 2_000_000)})
	}
	r := a.Finish(10_000_000, noNames)
	if len(r.Lanes) != maxLanes || r.OmittedPs != 1_000_000-maxLanes || len(r.Lanes)*r.Bins > DefaultMaxCells {
		t.Errorf("%d lanes of %d bins, %d Ps omitted", len(r.Lanes), r.Bins, r.OmittedPs)
	}
}

// TestHostile checks that nonsense neither panics nor grows.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	pick := []int64{-1, 0, 1, 2, 3, 1023, 1024, 4096, 1 << 20, math.MaxInt32, math.MaxInt64, math.MinInt64}
	anyInt := func() int64 { return pick[r.IntN(len(pick))] }
	a := drive(New(Options{}))
	for i := range 50000 {
		d := reference.Decision{
			Time: int64(r.Uint64N(math.MaxInt64)) >> max(1, 60-i/500), G: anyInt(), P: int32(anyInt()), Victim: int32(anyInt()),
			Wait: anyInt(), Class: int32(anyInt()), Local: int32(anyInt()), Global: int32(anyInt()), Batch: int32(anyInt()),
			Kind: reference.Kind(r.IntN(24)), Src: reference.Source(r.IntN(20)), Why: reference.Why(r.IntN(40)),
			Flags: reference.Flags(r.IntN(256)),
		}
		a.Add(&d)
		if i%10 == 0 {
			a.Mark(anyInt(), anyInt(), "x")
		}
	}
	res := a.Finish(math.MaxInt64, noNames)
	if res.Bins > DefaultMaxBins || len(res.STW) > maxSpans || len(res.Windows) > maxWindows {
		t.Errorf("%d bins, %d spans, %d windows", res.Bins, len(res.STW), len(res.Windows))
	}
	for _, w := range res.Windows {
		if len(w.Depths) > windowDepths+2*maxLanes {
			t.Errorf("%d depths", len(w.Depths))
		}
	}
}

func TestSpansKeepsLongest(t *testing.T) {
	var s spans
	for i := range int64(10 * maxSpans) {
		s.begin(i*100, "x")
		s.begin(i*100+1, "nested") // no effect
		s.finish(i*100 + i%37)
	}
	s.finish(1 << 40) // none open
	got := s.result()
	if len(got) != maxSpans {
		t.Fatalf("%d spans", len(got))
	}
	for i, sp := range got {
		if sp.To-sp.From < 33 || i > 0 && sp.From < got[i-1].From {
			t.Errorf("span %d is %+v", i, sp)
		}
	}
}

// TestThinning checks that a burst of queue changes is thinned to its peaks.
func TestThinning(t *testing.T) {
	a := drive(New(Options{}))
	a.Add(&reference.Decision{Kind: reference.KindProcs, Batch: 1})
	a.Add(&reference.Decision{Kind: reference.KindPStart})
	n := int32(0)
	for i := range int64(50_000) {
		n++
		if i == 30_000 {
			n = 0
		}
		a.Add(&reference.Decision{Time: i, Kind: reference.KindReady, G: i, P: 0, Local: n})
	}
	w := a.Finish(50_000, noNames).Windows[0]
	peak := int32(0)
	for i, d := range w.Depths {
		peak = max(peak, d.Len)
		if i > 0 && d.At < w.Depths[i-1].At {
			t.Fatal("depths are not in order")
		}
	}
	if len(w.Depths) > wholeDepths+4 || peak != 30_000 {
		t.Errorf("%d depths, peak %d", len(w.Depths), peak)
	}
}

// TestDepthsRunOut marks an interval with more queue changes than are kept: the
// window must begin where they do.
func TestDepthsRunOut(t *testing.T) {
	a := drive(New(Options{}))
	a.Add(&reference.Decision{Kind: reference.KindProcs, Batch: 1})
	a.Add(&reference.Decision{Kind: reference.KindPStart})
	const n = ringDepths + 1000
	for i := range int64(n) {
		a.Add(&reference.Decision{Time: i + 1, Kind: reference.KindReady, G: i, P: 0, Local: int32(i + 1)})
	}
	a.Mark(1, n, "all")
	r := a.Finish(n, noNames)
	if len(r.Windows) != 1 {
		t.Fatalf("%d windows", len(r.Windows))
	}
	w := r.Windows[0]
	if w.FromNs != 1001 || w.ToNs != n {
		t.Errorf("window [%d,%d]", w.FromNs, w.ToNs)
	}
	for _, d := range w.Depths {
		if d.P == 0 && int64(d.Len) < d.At {
			t.Errorf("%+v", d) // thinning keeps the longest, so at least At
		}
	}
	if len(w.Intervals) != 1 || w.Intervals[0].Before != 1001 {
		t.Errorf("stints %+v", w.Intervals)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, ps := range []int{4, 64} {
		b.Run(fmt.Sprintf("ps=%d", ps), func(b *testing.B) {
			s := procstest.Generate(rand.New(rand.NewPCG(1, 2)).IntN, procstest.Options{
				Steps: 100_000, Ps: ps, Live: 4 * ps, Ring: 256, NoTruth: true,
			})
			ds := s.Decisions
			a := drive(New(Options{}))
			b.ReportAllocs()
			base := int64(0)
			i := 0
			for b.Loop() {
				d := ds[i]
				d.Time += base
				a.Add(&d)
				if i++; i == len(ds) {
					i = 0
					base += s.End
				}
			}
		})
	}
}

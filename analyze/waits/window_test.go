package waits

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// inWindow is the account of a stream of which what opt says is counted.
func inWindow(ds []reference.Decision, end int64, opt Options) Result {
	a := drive(New(opt))
	for i := range ds {
		a.Add(&ds[i])
	}
	return a.Finish(end, numbered)
}

// additive is what the accounts of neighbouring windows add up to exactly.
func additive(rs ...Result) map[string]int64 {
	sums := map[string]int64{}
	add := func(name string, s *Summary) {
		sums[name+" count"] += s.Count
		sums[name+" total"] += s.TotalNs
		sums[name+" open"] += s.OpenCount
		sums[name+" open ns"] += s.OpenNs
		sums[name+" cut"] += s.CutNs
		for _, c := range s.Causes {
			sums[name+" "+string(c.Cause)] += c.Ns
		}
	}
	for i := range rs {
		r := &rs[i]
		add("all", &r.All)
		add("user", &r.User)
		add("self", &r.Self)
		add("system", &r.System)
		for j := range r.Classes {
			c := &r.Classes[j]
			add(c.Name, &c.Waits)
			sums[c.Name+" starts"] += c.Starts
			sums[c.Name+" running"] += c.RunningNs
			for _, cause := range c.Causes {
				sums[c.Name+" by "+string(cause.Cause)] += cause.Ns
			}
		}
		for _, s := range r.OverTime.Causes {
			for _, ns := range s.Ns {
				sums["over time"] += ns
			}
		}
	}
	for k, n := range sums {
		if n == 0 {
			delete(sums, k)
		}
	}
	return sums
}

// charges is who had a P while others waited, which is only nearly additive: shares of
// a P are rounded, and what a waiting goroutine's end tells goes back over an edge.
func charges(rs ...Result) (sums map[string]int64) {
	sums = map[string]int64{}
	for i := range rs {
		for j := range rs[i].Classes {
			c := &rs[i].Classes[j]
			for _, x := range c.Antagonists {
				sums[c.Name+" "+x.Name] += x.Ns
			}
			for _, x := range c.Held {
				sums[fmt.Sprint(c.Name, x.Cause, x.Name, x.Reason)] += x.Ns
			}
		}
	}
	return sums
}

// TestWindows cuts random streams at random times: the parts add up to the whole, none
// has less than nothing, and what is in a part is not longer than the part.
func TestWindows(t *testing.T) {
	for seed := range uint64(100) {
		ds := randomStream(seed, 400, seed%2 == 0)
		end := ds[len(ds)-1].Time + 17
		opt := Options{SliceNs: 100, Worst: 1 << 20}
		whole := inWindow(ds, end, opt)
		r := rand.New(rand.NewPCG(seed, 7))
		edges := []int64{0, end}
		for range 1 + r.IntN(4) {
			edges = append(edges, r.Int64N(end+1))
		}
		if seed%3 == 0 { // an edge at the time of a decision
			edges = append(edges, ds[r.IntN(len(ds))].Time)
		}
		slices.Sort(edges)
		edges = slices.Compact(edges)
		var parts []Result
		for i, from := range edges[:len(edges)-1] {
			opt.From, opt.To = from, edges[i+1]
			if i == len(edges)-2 {
				opt.To = 0
			}
			part := inWindow(ds, end, opt)
			for k, n := range additive(part) {
				if n < 0 && !(byCause(k) && n > -10*numCauses) { // shares are rounded
					t.Fatalf("seed %d, %v: [%d, %d): %s: %d", seed, edges, from, edges[i+1], k, n)
				}
			}
			for k, n := range charges(part) {
				if n < 0 {
					t.Fatalf("seed %d, %v: [%d, %d): %s: %d", seed, edges, from, edges[i+1], k, n)
				}
			}
			if part.All.MaxNs > edges[i+1]-from {
				t.Fatalf("seed %d: [%d, %d): a wait of %d", seed, from, edges[i+1], part.All.MaxNs)
			}
			for _, s := range part.Worst {
				if s.FromNs < from || s.FromNs >= edges[i+1] {
					t.Fatalf("seed %d: [%d, %d): a wait from %d", seed, from, edges[i+1], s.FromNs)
				}
			}
			parts = append(parts, part)
		}
		want, got := additive(whole), additive(parts...)
		if !steady(ds) { // a wait in the global queue that reaches over two edges
			for _, sums := range []map[string]int64{want, got} {
				maps.DeleteFunc(sums, func(k string, _ int64) bool { return byCause(k) })
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d, %v: the parts differ (-whole +parts):\n%s", seed, edges, d)
		}
	}
}

// steady reports whether GOMAXPROCS stays as it is from the beginning.
func steady(ds []reference.Decision) bool {
	return ds[0].Kind == reference.KindProcs &&
		!slices.ContainsFunc(ds[1:], func(d reference.Decision) bool { return d.Kind == reference.KindProcs })
}

func byCause(name string) bool {
	for _, c := range Causes() {
		if strings.HasSuffix(name, " "+string(c)) {
			return true
		}
	}
	return false
}

// TestChargesOfWindows is about who had the P, on streams in which no cause goes back
// and no share is rounded: one P, which is never idle.
func TestChargesOfWindows(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 9))
		ds := []reference.Decision{{Kind: reference.KindProcs, Batch: 1}, {Kind: reference.KindPStart}}
		now, queue := int64(0), []int64{}
		ready := func(g int64) {
			queue = append(queue, g)
			ds = append(ds, reference.Decision{Kind: reference.KindReady, Time: now, G: g, Class: int32(g%3) + 1, To: reference.QueueLocal, By: reference.NoG, Local: int32(len(queue))})
		}
		for g := range int64(6) {
			ready(g + 1)
		}
		for range 200 {
			g := queue[0]
			queue = queue[1:]
			ds = append(ds, reference.Decision{Kind: reference.KindStart, Time: now, G: g, Class: int32(g%3) + 1, Src: reference.SrcLocal, Local: int32(len(queue)), Victim: reference.NoP})
			now += 1 + r.Int64N(300)
			ds = append(ds, reference.Decision{Kind: reference.KindStop, Time: now, G: g, Class: int32(g%3) + 1, Why: reference.WhyBlock})
			ready(g)
		}
		whole := charges(inWindow(ds, now, Options{}))
		cut := 1 + r.Int64N(now-1)
		parts := charges(inWindow(ds, now, Options{Part: ledger.Part{To: cut}}), inWindow(ds, now, Options{Part: ledger.Part{From: cut}}))
		if d := cmp.Diff(whole, parts); d != "" {
			t.Fatalf("seed %d, cut at %d (-whole +parts):\n%s", seed, cut, d)
		}
	}
}

// TestOnly divides random streams by goroutines: the parts add up to the whole.
func TestOnly(t *testing.T) {
	for seed := range uint64(30) {
		ds := randomStream(seed, 400, false)
		end := ds[len(ds)-1].Time + 17
		var parts []Result
		for part := range int64(3) {
			parts = append(parts, inWindow(ds, end, Options{Part: ledger.Part{Only: func(g int64, _ int32) bool { return g%3 == part }}}))
		}
		if d := cmp.Diff(additive(inWindow(ds, end, Options{})), additive(parts...)); d != "" {
			t.Fatalf("seed %d: the parts differ (-whole +parts):\n%s", seed, d)
		}
	}
}

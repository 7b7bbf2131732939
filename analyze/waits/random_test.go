package waits

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// check compares the account of a stream with the oracle's and returns the
// first difference.
func check(ds []reference.Decision, slice int64, crowd bool) error {
	end := ds[len(ds)-1].Time + 17
	o := newOracle(slice)
	a := drive(New(Options{SliceNs: slice, Worst: 1 << 20, Text: func(h int32) string { return fmt.Sprint("text ", h) }}))
	for i := range ds {
		o.add(&ds[i])
		a.Add(&ds[i])
	}
	o.finish(end)
	r := a.Finish(end, nil)

	// A change of GOMAXPROCS under a run interval divides it: see foldPool. In a
	// real trace the world is stopped then, and no interval is under way.
	steady := ds[0].Kind == reference.KindProcs
	for _, d := range ds[1:] {
		steady = steady && d.Kind != reference.KindProcs
	}

	// Those in no queue are charged when their stay ends.
	taken := false
	for _, d := range ds {
		taken = taken || d.Kind == reference.KindMove && d.To == reference.QueueDirect
	}

	// Each wait of its own.
	type id struct{ g, from, to int64 }
	details := map[id][]WaitDetail{}
	for _, s := range r.Worst {
		k := id{s.G, s.FromNs, s.ToNs}
		details[k] = append(details[k], s)
	}
	want := map[id]oWait{}
	var totals [numKinds]oTotal
	var all oTotal
	classes := map[int32]*oTotal{}
	for _, w := range o.waits {
		sum := int64(0)
		for _, ns := range w.causes {
			sum += ns
		}
		if sum != w.to-w.from {
			return fmt.Errorf("oracle: causes of g%d at %d sum to %d", w.g, w.from, sum)
		}
		totals[w.kind].add(&w)
		all.add(&w)
		if classes[w.class] == nil {
			classes[w.class] = &oTotal{}
		}
		classes[w.class].add(&w)
		if w.kind == KindUser && w.to > w.from {
			want[id{w.g, w.from, w.to}] = w
		}
	}
	for k, w := range want {
		got := details[k]
		if len(got) != 1 {
			return fmt.Errorf("wait %+v: %d stories", k, len(got))
		}
		if d := cmp.Diff(causeTimes(&w.causes), got[0].Causes); d != "" {
			return fmt.Errorf("wait %+v in %+v, started on %d: causes (-want +got):\n%s", k, w.queue, w.startP, d)
		}
		if err := o.checkAhead(&w, &got[0]); err != nil {
			return fmt.Errorf("wait %+v: %w", k, err)
		}
	}

	compare := func(what string, t *oTotal, s *Summary) error {
		sum := int64(0)
		for _, c := range s.Causes {
			sum += c.Ns
		}
		if sum != s.TotalNs {
			return fmt.Errorf("%s: causes sum to %d of %d", what, sum, s.TotalNs)
		}
		if d := cmp.Diff(causeTimes(&t.causes), s.Causes); d != "" {
			return fmt.Errorf("%s: causes (-want +got):\n%s", what, d)
		}
		if s.Count != t.count || s.TotalNs != t.ns || s.MaxNs != t.max {
			return fmt.Errorf("%s: count %d, total %d, max %d, want %+v", what, s.Count, s.TotalNs, s.MaxNs, t)
		}
		return nil
	}
	for k, s := range map[Kind]*Summary{KindUser: &r.User, KindSelf: &r.Self, KindSystem: &r.System} {
		if err := compare(fmt.Sprint("kind ", k), &totals[k], s); err != nil {
			return err
		}
		if s.OpenCount != o.open[k] || s.OpenNs != o.openNs[k] {
			return fmt.Errorf("kind %d: open %d, %d ns, want %d, %d", k, s.OpenCount, s.OpenNs, o.open[k], o.openNs[k])
		}
		if want := o.longNs(-1 - int64(k)); steady && math.Abs(want-float64(s.BehindLongNs)) > 4 {
			return fmt.Errorf("kind %d: behind long %d, want %f", k, s.BehindLongNs, want)
		}
	}
	if err := compare("all", &all, &r.All); err != nil {
		return err
	}
	if crowd { // who waits is known only in part, who runs is
		by := map[[2]int32]float64{}
		for k, ns := range o.charged {
			by[[2]int32{ClassOthers, k[1]}] += ns
		}
		o.charged = by
		var sum []Antagonist
		for i := range r.Classes {
			for _, x := range r.Classes[i].Antagonists {
				sum = append(sum, Antagonist{Class: x.Class, Ns: x.Ns})
			}
			r.Classes[i].Antagonists = nil
		}
		for _, x := range sum {
			o.charged[[2]int32{ClassOthers, x.Class}] -= float64(x.Ns)
		}
		for k, ns := range o.charged {
			if math.Abs(ns) > 100 {
				return fmt.Errorf("all under class %d: %f ns too few", k[1], ns)
			}
		}
		o.charged, o.held = nil, nil
		for i := range r.Classes {
			r.Classes[i].Held = nil
		}
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		t := classes[c.ID]
		if t == nil {
			t = &oTotal{}
		}
		if err := compare(fmt.Sprint("class ", c.ID), t, &c.Waits); err != nil {
			return err
		}
		if c.Starts != o.starts[c.ID] || c.RunningNs != o.running[c.ID] {
			return fmt.Errorf("class %d: starts %d, running %d, want %d, %d", c.ID, c.Starts, c.RunningNs, o.starts[c.ID], o.running[c.ID])
		}
		for _, x := range c.Antagonists {
			k := [2]int32{c.ID, x.Class}
			if math.Abs(o.charged[k]-float64(x.Ns)) > 8 {
				return fmt.Errorf("class %d under %d: %d ns, want %f", c.ID, x.Class, x.Ns, o.charged[k])
			}
			delete(o.charged, k)
		}
		for _, h := range c.Held {
			if h.Cause == CauseIdlePAvailable || h.Cause == CauseUnavailable && taken {
				continue
			}
			k := oHold{c.ID, h.Cause, h.Class, h.Reason}
			if math.Abs(o.held[k]-float64(h.Ns)) > 8 {
				return fmt.Errorf("class %d held by %+v, want %f", c.ID, h, o.held[k])
			}
			delete(o.held, k)
		}
	}
	for k, ns := range o.charged {
		if ns > 8 {
			return fmt.Errorf("class %d under %d: nothing, want %f", k[0], k[1], ns)
		}
	}
	for k, ns := range o.held {
		if ns > 8 && (k.cause != CauseUnavailable || !taken) {
			return fmt.Errorf("held by %+v: nothing, want %f", k, ns)
		}
	}
	return nil
}

type oTotal struct {
	count, ns, max int64
	causes         [numCauses]int64
}

func (t *oTotal) add(w *oWait) {
	t.count++
	t.ns += w.to - w.from
	t.max = max(t.max, w.to-w.from)
	for i, ns := range w.causes {
		t.causes[i] += ns
	}
}

// checkAhead compares who ran ahead on the P of a wait.
func (o *oracle) checkAhead(w *oWait, s *WaitDetail) error {
	p := w.queue.p
	if w.queue.kind != 'p' {
		p = w.startP
	}
	want := map[int32]int64{}
	for i := range o.scenes {
		c := &o.scenes[i]
		from, to := max(c.from, s.AheadFromNs), min(c.to, s.ToNs)
		if st := c.all[p]; to > from && st.g >= 0 && st.g != s.G {
			want[st.class] += to - from
		}
	}
	got := map[int32]int64{}
	for _, a := range s.Ahead {
		got[a.Class] = a.Ns
	}
	if len(s.Ahead) == maxAhead { // the others are left out
		least := s.Ahead[maxAhead-1].Ns
		for class, ns := range want {
			if _, ok := got[class]; !ok && ns <= least {
				delete(want, class)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("ahead on P%d since %d (-want +got):\n%s", p, s.AheadFromNs, d)
	}
	return nil
}

// TestRandomStreams compares random streams with the oracle.
func TestRandomStreams(t *testing.T) {
	n := uint64(500)
	if !tracetest.Long() {
		n = 120
	}
	for seed := range n {
		steps := 20 + int(seed%40)*10
		crowd := seed%8 == 7
		ds := randomStream(seed, steps, crowd)
		if len(ds) == 0 {
			continue
		}
		slice := []int64{50, 2_000, 10_000_000}[seed%3]
		err := check(ds, slice, crowd)
		if err == nil {
			continue
		}
		// The shortest stream that shows it.
		for len(ds) > 1 && check(ds[:len(ds)-1], slice, crowd) != nil {
			ds = ds[:len(ds)-1]
			err = check(ds, slice, crowd)
		}
		for i := range ds {
			d := &ds[i]
			t.Logf("%6d %-12v g%-3d p%-3d to %v why %v flags %d batch %d", d.Time, d.Kind, d.G, d.P, d.To, d.Why, d.Flags, d.Batch)
		}
		t.Fatalf("seed %d: %v", seed, err)
	}
}

package analyze_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// exact holds the causes of a stream of decisions against the waits that the
// stream itself shows: they add up to them for each goroutine, for each class,
// and in total.
type exact struct {
	t       testing.TB
	acc     *waits.Accumulator
	feed    *ledger.Feed
	end     int64
	ready   map[int64]int64 // goroutines that wait, since
	class   map[int64]int32
	want    map[int64]int64 // waiting time by goroutine
	got     map[int64]int64 // causes by goroutine
	byClass map[int32]int64
	total   int64
	count   int64
}

func newExact(t testing.TB) *exact {
	e := &exact{
		t: t, ready: map[int64]int64{}, class: map[int64]int32{}, want: map[int64]int64{}, got: map[int64]int64{},
		byClass: map[int32]int64{},
	}
	e.acc = waits.New(waits.Options{Ended: true})
	e.feed = ledger.NewFeed(e.acc.Add)
	return e
}

func (e *exact) add(d *reference.Decision) {
	e.feed.Add(d)
	for _, w := range e.acc.Ended {
		g, sum := d.G, int64(0)
		for i, ns := range w.Causes {
			if ns < 0 {
				e.t.Errorf("goroutine %d waits %d ns for %s", g, ns, waits.Causes()[i])
			}
			sum += ns
		}
		if sum != w.To-w.From {
			e.t.Errorf("goroutine %d: causes sum to %d ns of a wait of %d", g, sum, w.To-w.From)
		}
		e.got[g] += sum
	}
	e.end = max(e.end, d.Time)
	if d.G > 0 && d.Class != 0 {
		e.class[d.G] = d.Class
	}
	switch d.Kind {
	case reference.KindReady:
		e.ready[d.G] = d.Time
	case reference.KindStart:
		from, ok := e.ready[d.G]
		delete(e.ready, d.G)
		if !ok || d.Wait < 0 {
			return
		}
		ns := d.Time - from
		e.want[d.G] += ns
		e.byClass[e.class[d.G]] += ns
		e.total += ns
		e.count++
	case reference.KindStop:
		if d.Why == reference.WhyExit {
			delete(e.class, d.G)
		}
	}
}

func sum(causes []waits.CauseTime) (ns int64) {
	for _, c := range causes {
		ns += c.Ns
	}
	return ns
}

func (e *exact) check() {
	e.t.Helper()
	for g, ns := range e.want {
		if e.got[g] != ns {
			e.t.Errorf("goroutine %d: causes sum to %d ns of %d", g, e.got[g], ns)
		}
	}
	r := e.acc.Finish(e.end, e.feed.Live(), nil)
	if r.All.Count != e.count || r.All.TotalNs != e.total {
		e.t.Errorf("%d waits of %d ns, want %d of %d", r.All.Count, r.All.TotalNs, e.count, e.total)
	}
	for _, s := range []*waits.Summary{&r.All, &r.User, &r.Self, &r.System} {
		if ns := sum(s.Causes); ns != s.TotalNs {
			e.t.Errorf("causes sum to %d ns of %d", ns, s.TotalNs)
		}
	}
	over := int64(0)
	for _, c := range r.OverTime.Causes {
		for _, ns := range c.Ns {
			over += ns
		}
	}
	if over != r.User.TotalNs {
		e.t.Errorf("over time, waits sum to %d ns of %d", over, r.User.TotalNs)
	}
	if ns := r.User.TotalNs + r.Self.TotalNs + r.System.TotalNs; ns != e.total {
		e.t.Errorf("user, self and system sum to %d ns of %d", ns, e.total)
	}
	others := int64(0) // of classes without an account of their own
	for i := range r.Classes {
		c := &r.Classes[i]
		if ns := sum(c.Causes); ns != c.Waits.TotalNs {
			e.t.Errorf("class %d: causes sum to %d ns of %d", c.ID, ns, c.Waits.TotalNs)
		}
		if c.ID == waits.ClassOthers {
			others = c.Waits.TotalNs
		} else if c.Waits.TotalNs != e.byClass[c.ID] {
			e.t.Errorf("class %d: %d ns, want %d", c.ID, c.Waits.TotalNs, e.byClass[c.ID])
		}
		delete(e.byClass, c.ID)
	}
	for id, ns := range e.byClass {
		if others -= ns; others < 0 {
			e.t.Errorf("class %d: nothing, want %d ns", id, ns)
		}
	}
	for _, s := range r.Worst {
		if ns := sum(s.Causes); ns != s.WaitNs || s.ToNs-s.FromNs != s.WaitNs {
			e.t.Errorf("a story of goroutine %d: causes sum to %d ns of %d", s.G, ns, s.WaitNs)
		}
	}
}

// TestCausesAreExactInTraces is the property for every trace of the repository.
func TestCausesAreExactInTraces(t *testing.T) {
	for _, name := range traces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			e := newExact(t)
			_, err := analyze.Run(t.Context(), open(t, name), analyze.Options{OnDecision: func(d *reference.Decision) error {
				e.add(d)
				return nil
			}})
			if err != nil {
				t.Skip(err)
			}
			e.check()
		})
	}
}

// randomScript is a goroutine that does anything.
func randomScript(r *rand.Rand, c []*sim.Chan, depth int) sim.Script {
	var ops []sim.Op
	for range 1 + r.IntN(12) {
		ch := c[r.IntN(len(c))]
		ns := int64(1) << r.IntN(24)
		switch r.IntN(12) {
		case 0, 1, 2:
			ops = append(ops, sim.Run(ns))
		case 3, 4:
			ops = append(ops, sim.Send(ch))
		case 5, 6:
			ops = append(ops, sim.Recv(ch))
		case 7:
			ops = append(ops, sim.Gosched())
		case 8:
			ops = append(ops, sim.Sleep(ns))
		case 9:
			ops = append(ops, sim.Syscall(ns))
		case 10:
			ops = append(ops, sim.Poll(ns))
		case 11:
			if depth > 0 {
				for range 1 + r.IntN(20) {
					ops = append(ops, sim.Go(1+r.Int32N(8), randomScript(r, c, depth-1)))
				}
			} else {
				ops = append(ops, sim.Op{Kind: sim.OpLockThread})
			}
		}
	}
	return sim.Steps(ops...)
}

// TestCausesAreExactInSimulations is the property for simulated runs, under
// every policy.
func TestCausesAreExactInSimulations(t *testing.T) {
	seeds := uint64(8)
	if !tracetest.Long() {
		seeds = 2
	}
	for _, name := range sim.PolicyNames() {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 11))
				policy, costs, _ := sim.PolicyFor(name)
				channels := []*sim.Chan{sim.NewChan(0), sim.NewChan(3), sim.NewChan(sim.Unlimited)}
				var steps []sim.Op
				for range 20 + r.IntN(200) {
					steps = append(steps, sim.Go(1+r.Int32N(8), randomScript(r, channels, 2)))
				}
				e := newExact(t)
				o := sim.Options{Policy: policy, Costs: costs, Procs: 1 + r.IntN(8), Seed: seed, Until: 1_000_000_000, Emit: e.add}
				if _, err := sim.Simulate(t.Context(), o, sim.Start(sim.Steps(steps...))); err != nil {
					t.Fatal(err)
				}
				if e.count == 0 && name != "gps" {
					t.Error("nobody waited")
				}
				e.check()
			})
		}
	}
}

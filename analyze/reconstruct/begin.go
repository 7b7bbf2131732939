package reconstruct

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// begin looks over the first events for what was so before the first of them:
// a trace names a goroutine or a P only with its first event.
func (r *judge) begin() {
	r.time = 0
	if r.rules.WasmNoRunnext && r.onWasm() {
		r.rules.NoRunnext = true
	}
	s := r.survey()
	if r.procs == 0 {
		r.assumed = true
		if len(r.ps) > 0 {
			r.assumeProcs(slices.MaxFunc(r.ps, func(a, b proc) int { return int(a.id - b.id) }).id)
		}
	}
	if s.created > 0 && s.created <= int64(16*(r.procs+4)) {
		// A P takes 16 goroutine numbers at once (newproc1): the program has
		// hardly begun, so no P has a long history.
		r.beginYoung(s.running)
	}
	// A P whose first event is its status was running all along.
	slices.Sort(s.running)
	for _, ix := range s.running {
		p := &r.ps[ix]
		r.pKnown(ix, true)
		r.say(&reference.Decision{Kind: reference.KindPStart, P: p.id, M: reference.NoM, G: reference.NoG, Flags: reference.FlagFirst,
			Basis: reference.Known(reference.Inferred, reference.RuleInitial)})
	}
	r.seed(s)
}

// survey is what the first events say of the time before them.
type survey struct {
	created  int64      // number of the first goroutine to be created, 0 if none is
	running  []int32    // Ps that ran
	runnable []runnable // goroutines that were
}

// runnable is a goroutine that was runnable before the first event.
type runnable struct {
	g     int32
	start int64 // event by which it starts, far away if that is not in sight
}

// survey looks over the events in sight of the first generation.
func (r *judge) survey() *survey {
	s := &survey{}
	seen := map[int32]bool{} // Ps
	for i, syncs := int64(0), 0; i < r.win.head && syncs < 2; i++ {
		it := r.win.at(i)
		switch e := &it.ev; e.Kind {
		case events.Sync:
			syncs++
		case events.Procs:
			if r.procs == 0 {
				r.setProcs(int(it.res()))
			}
		case events.Go:
			if e.From == events.NotExist && s.created == 0 {
				s.created = r.gs.At(it.of).id
			}
			if e.From == events.Undetermined && e.To == events.Runnable && r.gs.At(it.of).state == events.Undetermined && !r.reduced {
				start := it.link
				if start == none {
					start = 1 << 62
				}
				s.runnable = append(s.runnable, runnable{it.of, start})
			}
		case events.Proc:
			if seen[it.of] || e.From == events.NotExist {
				break
			}
			seen[it.of] = true
			if e.To == events.Running && e.From == events.Undetermined {
				s.running = append(s.running, it.of)
			}
		}
	}
	return s
}

// beginYoung gives Ps the ticks that they have in a program that has hardly begun.
func (r *judge) beginYoung(running []int32) {
	r.young = true
	for i := range r.ps {
		p := &r.ps[i]
		near := distant
		for _, ix := range running {
			near = min(near, r.places(p.id, r.ps[ix].id))
		}
		if r.procs == 1 && near == 0 {
			near = alone
		}
		p.phase = youngPhase(r.rules.GlobalPoll, near)
	}
}

// seed puts who was runnable before the first event in front of all that comes: where it runs
// tells in which queue. An idle P's was empty.
func (r *judge) seed(s *survey) {
	slices.SortStableFunc(s.runnable, func(a, b runnable) int { return cmp.Compare(a.start, b.start) })
	for _, x := range s.runnable {
		g := r.gs.At(x.g)
		if g.seeded {
			continue
		}
		g.seeded, g.hidden = true, true
		r.q.Hide(x.g)
		it := r.win.at(x.start)
		if it != nil {
			g.start = x.start
		}
		switch {
		case it != nil && it.p >= 0 && r.ps[it.p].running:
			r.q.PutTail(it.p, x.g)
		case len(s.running) == 1:
			r.q.PutTail(s.running[0], x.g)
		default:
			r.putGlobal(x.g)
		}
	}
}

// onWasm says that the program ran on js/wasm, where runqput ignores runnext
// (from Go 1.23): a trace does not name its platform, but files of the runtime
// do.
func (r *lookahead) onWasm() bool {
	for h := 1; h < r.tables.Stacks(); h++ {
		for _, f := range r.tables.Frames(events.Handle(h)) {
			if strings.HasPrefix(f.Func, "syscall/js.") || strings.HasSuffix(f.File, "_js.go") || strings.HasSuffix(f.File, "_wasm.go") {
				return true
			}
		}
	}
	return false
}

// assumeProcs takes GOMAXPROCS to be large enough for a P, where the trace is
// damaged and does not say it.
func (r *judge) assumeProcs(p int32) {
	if int(p) >= r.procs {
		r.setProcs(int(p) + 1)
	}
}

func (r *judge) setProcs(n int) {
	n = min(max(n, 1), 1<<20)
	if n == r.procs {
		return
	}
	old := r.procs
	r.procs = n
	r.sum.Procs = max(r.sum.Procs, n)
	if n < old {
		r.destroyAbove(n)
	}
	r.busy = 0
	for i := range r.ps {
		p := &r.ps[i]
		if p.busy = p.running && int(p.id) < n; p.busy {
			r.busy++
		}
	}
	r.listIdle()
	level := reference.Observed
	if r.assumed {
		level = reference.Assumed
	}
	r.say(&reference.Decision{Kind: reference.KindProcs, G: reference.NoG, P: reference.NoP, M: reference.NoM, Batch: int32(n), Why: reference.WhyProcs,
		Basis: reference.Known(level, reference.RuleNone)})
}

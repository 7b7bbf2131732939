package reconstruct

import (
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
	type seed struct {
		g     int32
		start int64
	}
	var seeds []seed
	syncs := 0
	created := int64(0)
	var firsts []int32
	ran := map[int32]bool{} // Ps by whether their first event says that they run
	for i := int64(0); i < r.win.head && syncs < 2; i++ {
		it := r.win.at(i)
		switch e := &it.ev; e.Kind {
		case events.Sync:
			syncs++
		case events.Procs:
			if r.procs == 0 {
				r.setProcs(int(it.res()))
			}
		case events.Go:
			if e.From == events.NotExist && created == 0 {
				created = r.gs.At(it.of).id
			}
			if e.From == events.Undetermined && e.To == events.Runnable && r.gs.At(it.of).state == events.Undetermined && !r.reduced {
				start := it.link
				if start == none {
					start = 1 << 62
				}
				seeds = append(seeds, seed{it.of, start})
			}
		case events.Proc:
			if _, seen := ran[it.of]; seen || e.From == events.NotExist {
				break
			}
			ran[it.of] = e.To == events.Running && e.From == events.Undetermined
			if ran[it.of] {
				firsts = append(firsts, it.of)
			}
		}
	}
	if r.procs == 0 {
		r.assumed = true
		if len(r.ps) > 0 {
			r.assumeProcs(slices.MaxFunc(r.ps, func(a, b proc) int { return int(a.id - b.id) }).id)
		}
	}
	if created > 0 && created <= int64(16*(r.procs+4)) {
		// A P takes 16 goroutine numbers at once (newproc1): the program has
		// hardly begun, so no P has a long history.
		r.young = true
		for i := range r.ps {
			p := &r.ps[i]
			near := distant
			for _, ix := range firsts {
				near = min(near, r.places(p.id, r.ps[ix].id))
			}
			if r.procs == 1 && near == 0 {
				near = alone
			}
			p.phase = youngPhase(r.rules.GlobalPoll, near)
		}
	}
	// A P whose first event is its status was running all along.
	slices.Sort(firsts)
	for _, ix := range firsts {
		p := &r.ps[ix]
		r.pKnown(ix, true)
		r.say(&reference.Decision{Kind: reference.KindPStart, P: p.id, M: reference.NoM, G: reference.NoG, Flags: reference.FlagFirst,
			Basis: reference.Known(reference.Inferred, reference.RuleInitial)})
	}
	// Who was runnable then stands in front of all that comes: where it runs
	// tells in which queue. An idle P's was empty.
	slices.SortStableFunc(seeds, func(a, b seed) int {
		if a.start < b.start {
			return -1
		}
		if a.start > b.start {
			return 1
		}
		return 0
	})
	for _, s := range seeds {
		g := r.gs.At(s.g)
		if g.seeded {
			continue
		}
		g.seeded, g.hidden = true, true
		r.q.Hide(s.g)
		it := r.win.at(s.start)
		if it != nil {
			g.start = s.start
		}
		switch {
		case it != nil && it.p >= 0 && r.ps[it.p].running:
			r.q.PutTail(it.p, s.g)
		case len(firsts) == 1:
			r.q.PutTail(firsts[0], s.g)
		default:
			r.putGlobal(s.g)
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

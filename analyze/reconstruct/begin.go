package reconstruct

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/reference"
)

// beginning looks over the first events for what was so before them.
type beginning struct {
	view
	out    *output
	resize *resizer
}

// begin finds out the state before the first event: a trace names a goroutine or a P only with its
// first event.
func (r *beginning) begin() {
	r.ahead.time = 0
	if r.ahead.rules.WasmNoRunnext && r.onWasm() {
		r.ahead.rules.NoRunnext = true
	}
	s := r.survey()
	if r.ps.gomaxprocs == 0 {
		r.ps.assumed = true
		if len(r.ps.pStates) > 0 {
			r.resize.assumeProcs(slices.MaxFunc(r.ps.pStates, func(a, b proc) int { return int(a.id - b.id) }).id)
		}
	}
	if s.created > 0 && s.created <= int64(16*(r.ps.gomaxprocs+4)) {
		// A P takes 16 goroutine numbers at once (newproc1): the program has hardly begun, so no P has
		// a long history.
		r.beginYoung(s.running)
	}
	// A P whose first event is its status was running all along.
	slices.Sort(s.running)
	for _, p := range s.running {
		r.ps.setProcState(p, true)
		r.out.emit(p, nobody, reference.Decision{Kind: reference.KindPStart, G: reference.NoG, Flags: reference.FlagFirst,
			Basis: reference.Known(reference.Inferred, reference.RuleInitial)})
	}
	r.seed(s)
}

// survey is what the first events say about the time before them.
type survey struct {
	created  int64      // number of the first goroutine to be created, 0 if none is
	running  []int32    // Ps that ran
	runnable []runnable // goroutines that were
}

// runnable is a goroutine that was runnable before the first event.
type runnable struct {
	g     int32
	start int64 // event by which it starts, none if that is not in sight
}

// survey looks over the events in sight of the first generation.
func (r *beginning) survey() *survey {
	s := &survey{}
	seen := map[int32]bool{} // Ps
	for i, syncs := int64(0), 0; i < r.ahead.win.head && syncs < 2; i++ {
		rec := r.ahead.win.at(i)
		switch e := &rec.event; e.Kind {
		case events.Sync:
			syncs++
		case events.Procs:
			if r.ps.gomaxprocs == 0 {
				r.resize.setProcs(int(rec.res()))
			}
		case events.Go:
			if e.From == events.NotExist && s.created == 0 {
				s.created = r.ahead.gStates.At(rec.of).id
			}
			if e.From == events.Undetermined && e.To == events.Runnable && r.ahead.gStates.At(rec.of).state == events.Undetermined && !r.ahead.reduced {
				s.runnable = append(s.runnable, runnable{rec.of, rec.link})
			}
		case events.Proc:
			if seen[rec.of] || e.From == events.NotExist {
				break
			}
			seen[rec.of] = true
			if e.To == events.Running && e.From == events.Undetermined {
				s.running = append(s.running, rec.of)
			}
		}
	}
	return s
}

// beginYoung gives Ps the ticks that they have in a program that has hardly begun.
func (r *beginning) beginYoung(running []int32) {
	r.ps.young = true
	for i := range r.ps.pStates {
		pp := &r.ps.pStates[i]
		near := schedtick.Distant
		for _, p := range running {
			near = min(near, r.ahead.places(pp.id, r.ps.pStates[p].id))
		}
		if r.ps.gomaxprocs == 1 && near == 0 {
			near = schedtick.Alone
		}
		pp.tick = schedtick.Young(r.ahead.rules.GlobalPoll, near)
	}
}

// seed enqueues the goroutines that were runnable before the first event in front of all others, in the
// queue of the P on which they start. An idle P's queue was empty.
func (r *beginning) seed(s *survey) {
	slices.SortStableFunc(s.runnable, func(a, b runnable) int { return cmp.Compare(uint64(a.start), uint64(b.start)) }) // none is the last
	for _, x := range s.runnable {
		gp := r.ahead.gStates.At(x.g)
		if gp.seeded {
			continue
		}
		gp.seeded, gp.hidden = true, true
		r.queues.Hide(x.g)
		rec := r.ahead.win.at(x.start)
		if rec != nil {
			gp.start = x.start
		}
		switch {
		case rec != nil && rec.p >= 0 && r.ps.pStates[rec.p].running:
			r.queues.PutTail(rec.p, x.g)
		case len(s.running) == 1:
			r.queues.PutTail(s.running[0], x.g)
		default:
			r.model.putGlobal(x.g)
		}
	}
}

// onWasm reports whether the program ran on js/wasm, where runqput ignores runnext (from
// Go 1.23): a trace does not name its platform, but its stacks name files of the runtime.
func (r *beginning) onWasm() bool {
	for h := 1; h < r.ahead.tables.Stacks(); h++ {
		for _, f := range r.ahead.tables.Frames(events.Handle(h)) {
			if strings.HasPrefix(f.Func, "syscall/js.") || strings.HasSuffix(f.File, "_js.go") || strings.HasSuffix(f.File, "_wasm.go") {
				return true
			}
		}
	}
	return false
}

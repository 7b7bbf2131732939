package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/schedtick"
	"github.com/gmpscope/gmpscope/analyze/reconstruct/stacks"
)

// newest is the context of the event at the head of the window: the next one mostly has the same, which
// then need not be looked up.
//
// OPT: the indices of thread and P do not lie side by side, where the compiler would copy both at once,
// which has to wait until one that was just written is in the cache.
type newest struct {
	thread int64
	at     *thread // nil if there is none; good until another one is added
	m      int32   // its index
	p      int32
	proc   int32      // its index
	g      int32      // index of the goroutine that runs
	state  *goroutine // and what is known of it, or noGoroutine
}

// noGoroutine is none that an event can name.
var noGoroutine = goroutine{id: events.None}

// linker enters events at the head of the window.
type linker struct {
	view
	requests *requests
	out      *output
	newest   newest
	pix, mix ids.Index // of Ps and threads
	newLost  int64     // newest gap, none if none
}

// enter puts an event into the window and links it.
func (r *linker) enter(e *events.Event) {
	ahead := r.ahead
	if e.M != r.newest.thread || e.P != r.newest.p {
		r.enterContext(e)
	}
	of, in, gp := r.identify(e)
	i := ahead.win.head
	rec := ahead.win.push()
	// Field by field: a whole item would be made elsewhere and copied.
	ev := &rec.event
	ev.Time, ev.Stack, ev.TStack, ev.Reason = e.Time, e.Stack, e.TStack, e.Reason
	ev.Kind, ev.From, ev.To, ev.mark = e.Kind, e.From, e.To, 0
	rec.prevM, rec.nextM, rec.link = none, none, none
	rec.m, rec.p, rec.of, rec.g = r.newest.m, r.newest.proc, of, in
	switch e.Kind {
	case events.Go:
		switch e.To {
		case events.Running:
			if e.From == events.Runnable {
				r.linkStart(i, rec, gp)
			}
		case events.Runnable:
			r.linkReady(i, rec, gp)
		case events.Waiting:
			// All workers are done before forEachP; those that come later wait for it.
			if e.From == events.Running && ahead.traits.Of(e.TStack)&(stacks.Worker|stacks.MarkDone) == stacks.Worker {
				r.requests.worker = i
			}
		}
		if e.From == events.Undetermined && (e.To == events.Runnable || e.To == events.Waiting) {
			return // the status of a goroutine that does not run is nothing that the thread did
		}
	case events.Proc:
		pp := &r.ps.pStates[of]
		if prev := ahead.win.at(pp.newest); prev != nil {
			prev.link = i
		}
		pp.newest = i
		if e.To == events.Running && e.From != events.Idle {
			return // the status of a P, which comes with the next thing that its thread does
		}
	default:
		r.enterOther(i, rec, e)
		return
	}
	r.linkThread(i, rec)
}

// identify returns the goroutine or P of a transition, the goroutine of its context, nobody if there is
// none, and what is known of the former if it is a goroutine.
func (r *linker) identify(e *events.Event) (of, in int32, gp *goroutine) {
	of, in = nobody, nobody
	switch e.Kind {
	case events.Go:
		if e.G == e.Res && e.G >= 0 { // mostly
			in = r.running(e.G)
			gp, of = r.newest.state, in
		} else {
			if of = r.ahead.gStates.Find(e.Res); of == 0 {
				of = r.model.addGoroutine(e.Res)
			}
			gp = r.ahead.gStates.At(of)
			if e.G >= 0 {
				in = r.running(e.G)
			}
		}
		gp.pending++
		if e.TStack != 0 || e.From == events.NotExist {
			r.learnClass(gp, e)
		}
	case events.Proc:
		of = r.proc(int32(e.Res))
		if e.G >= 0 && e.To == events.Idle {
			in = r.model.goroutine(e.G)
		}
	}
	return of, in, gp
}

// linkThread links an event to the one before it on its thread.
func (r *linker) linkThread(i int64, rec *record) {
	mp := r.newest.at
	if mp == nil {
		return
	}
	last := mp.last
	rec.prevM = last
	if last >= r.ahead.win.first {
		r.ahead.win.there(last).nextM = i
	}
	mp.last = i
	if mp.next == none {
		mp.next = i
	}
}

// enterContext looks up the thread and the P of an event, at least one of which differs from the event
// before.
func (r *linker) enterContext(e *events.Event) {
	n := &r.newest
	if e.M != n.thread {
		m, at := nobody, (*thread)(nil)
		if e.M >= 0 {
			if m = r.mix.Find(e.M); m == ids.None {
				m = r.addThread(e.M)
			}
			at = &r.ahead.mStates[m]
		}
		n.thread, n.m, n.at = e.M, m, at
	}
	if e.P != n.p {
		p := nobody
		if e.P >= 0 {
			p = r.proc(e.P)
		}
		n.p, n.proc = e.P, p
	}
}

// running returns the index of the goroutine of the context.
func (r *linker) running(id int64) int32 {
	if id != r.newest.state.id {
		r.enterGoroutine(id)
	}
	return r.newest.g
}

// enterGoroutine looks up the goroutine of an event.
func (r *linker) enterGoroutine(id int64) {
	g := r.model.goroutine(id)
	r.newest.g, r.newest.state = g, r.ahead.gStates.At(g)
}

// enterOther is enter for what is no transition.
func (r *linker) enterOther(i int64, rec *record, e *events.Event) {
	rec.setIDs(e)
	switch e.Kind {
	case events.Label:
		if e.Reason < events.LabelDedicated || e.Reason > events.LabelIdle || rec.m < 0 {
			return
		}
		if start := r.ahead.win.at(r.ahead.mStates[rec.m].last); start != nil && start.Kind == events.Go && start.To == events.Running {
			start.mark |= markWorker
			if e.Reason == events.LabelDedicated {
				start.mark |= markDedicated
			}
			start.Reason = e.Reason // a start has none of its own
		}
	case events.STWBegin, events.Procs:
		r.requests.noteSTWAhead(i, rec)
	case events.Lost:
		r.newLost = i
	}
}

// linkStart links a goroutine's start to what made it runnable.
func (r *linker) linkStart(i int64, rec *record, gp *goroutine) {
	if gp.newReady < r.ahead.win.tail {
		gp.start = i // it became runnable before the window, or is handled already
	} else {
		r.ahead.win.there(gp.newReady).link = i
	}
	rec.link, gp.newReady = gp.newReady, none
	r.newest.g, r.newest.state = rec.of, gp
}

// linkReady notes what made a goroutine runnable, and the forEachP that ends with that.
func (r *linker) linkReady(i int64, rec *record, gp *goroutine) {
	switch from := rec.From; {
	case from == events.Runnable:
	case from == events.Undetermined && gp.newReady > r.newLost:
		// A new generation repeats what is known.
	default:
		gp.newReady = i
		r.requests.noteReadyAhead(i, rec)
	}
}

// proc returns the index of a P, which it adds if it is new.
func (r *linker) proc(id int32) int32 {
	if p := r.pix.Find(int64(id)); p != ids.None {
		return p
	}
	return r.addProc(id)
}

// addProc adds a P. Nothing is known of its 61st tick, unless the program has hardly begun: then all Ps
// have run little.
func (r *linker) addProc(id int32) int32 {
	px := int32(len(r.ps.pStates))
	p := proc{id: id, m: nobody, g: nobody, release: release{lastM: nobody, handed: none, borrowed: none}, newest: none, taint: taint{fits: fitting}, tick: schedtick.Unknown(r.ahead.rules.GlobalPoll), ticks: [2]int64{-r.ahead.rules.Slice, -r.ahead.rules.Slice}}
	if r.ps.young {
		p.tick = schedtick.Young(r.ahead.rules.GlobalPoll, schedtick.Distant)
	}
	r.ps.pStates = append(r.ps.pStates, p)
	r.pix.Add(int64(id), px)
	r.queues.Grow(0, len(r.ps.pStates))
	return px
}

// addThread adds a thread, on which nothing has run yet.
func (r *linker) addThread(id int64) int32 {
	m := int32(len(r.ahead.mStates))
	r.ahead.mStates = append(r.ahead.mStates, thread{id: id, g: nobody, last: none, next: none, lastG: nobody})
	r.mix.Add(id, m)
	return m
}

// learnClass notes what an event that enters the window shows of the class of its goroutine. So
// decisions up to a window before it know the class already.
func (r *linker) learnClass(gp *goroutine, e *events.Event) {
	class := gp.class
	switch {
	case e.From == events.NotExist:
		class = r.ahead.classes.Created(e.TStack, e.Stack)
	case r.ahead.classes.Open(class):
		class = r.ahead.classes.Shown(class, e.TStack)
	default:
		return
	}
	r.out.setClass(gp, class)
}

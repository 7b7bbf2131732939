package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
)

// newest is the context of the event at the head of the window: the next one mostly has
// the same, which then need not be looked up.
type newest struct {
	thread  int64
	p       int32
	m, proc int32      // their indices
	at      *thread    // nil if there is none; good until another one is added
	g       int32      // index of the goroutine that runs
	state   *goroutine // and what is known of it, or noGoroutine
}

// noGoroutine is none that an event can name.
var noGoroutine = goroutine{id: events.None}

// enter puts an event into the window and links it.
func (r *Reconstructor) enter(e *events.Event) {
	if e.M != r.ctx.thread || e.P != r.ctx.p {
		r.enterContext(e)
	}
	of, in, g := r.identify(e)
	i := r.win.head
	it := r.win.push()
	// Field by field: a whole item would be made elsewhere and copied.
	ev := &it.ev
	ev.Time, ev.Stack, ev.TStack, ev.Reason = e.Time, e.Stack, e.TStack, e.Reason
	ev.Kind, ev.From, ev.To, ev.mark = e.Kind, e.From, e.To, 0
	it.prevM, it.nextM, it.link = none, none, none
	it.m, it.p, it.of, it.g = r.ctx.m, r.ctx.proc, of, in
	switch e.Kind {
	case events.Go:
		switch e.To {
		case events.Running:
			if e.From == events.Runnable {
				r.linkStart(i, it, g)
			}
		case events.Runnable:
			r.linkReady(i, it, g)
		case events.Waiting:
			if e.From == events.Running {
				r.seeStop(i, it)
			}
		}
		if e.From == events.Undetermined && (e.To == events.Runnable || e.To == events.Waiting) {
			return // the status of a goroutine that does not run is nothing that the thread did
		}
	case events.Proc:
		p := &r.ps[of]
		if prev := r.win.at(p.newest); prev != nil {
			prev.link = i
		}
		p.newest = i
		if e.To == events.Running && e.From != events.Idle {
			return // the status of a P, which comes with the next thing that its thread does
		}
	default:
		r.enterOther(i, it, e)
		return
	}
	r.linkThread(i, it)
}

// identify returns the goroutine or P of a transition and the goroutine in whose context it
// is, nobody if there is none, and what is known of the former, if it is a goroutine.
func (r *Reconstructor) identify(e *events.Event) (of, in int32, g *goroutine) {
	of, in = nobody, nobody
	switch e.Kind {
	case events.Go:
		if e.G == e.Res && e.G >= 0 { // mostly
			in = r.running(e.G)
			g, of = r.ctx.state, in
		} else {
			if of = r.gs.Find(e.Res); of == 0 {
				of = r.addGoroutine(e.Res)
			}
			g = r.gs.At(of)
			if e.G >= 0 {
				in = r.running(e.G)
			}
		}
		g.pending++
		if e.TStack != 0 || e.From == events.NotExist {
			r.learnClass(g, e)
		}
	case events.Proc:
		of = r.proc(int32(e.Res))
		if e.G >= 0 && e.To == events.Idle {
			in = r.goroutine(e.G)
		}
	}
	return of, in, g
}

// linkThread links an event to the one before it on its thread.
func (r *Reconstructor) linkThread(i int64, it *item) {
	m := r.ctx.at
	if m == nil {
		return
	}
	last := m.last
	it.prevM = last
	if last >= r.win.first {
		r.win.there(last).nextM = i
	}
	m.last = i
	if m.next == none {
		m.next = i
	}
}

// enterContext looks up the thread and the P of an event, of which one at least is not
// that of the event before.
func (r *Reconstructor) enterContext(e *events.Event) {
	n := &r.ctx
	if e.M != n.thread {
		m, at := nobody, (*thread)(nil)
		if e.M >= 0 {
			if m = r.mix.Find(e.M); m == ids.None {
				m = r.addThread(e.M)
			}
			at = &r.ms[m]
		}
		n.thread, n.m, n.at = e.M, m, at
	}
	if e.P != n.p {
		p := nobody
		if e.P >= 0 {
			if p = r.pix.Find(int64(e.P)); p == ids.None {
				p = r.addProc(e.P)
			}
		}
		n.p, n.proc = e.P, p
	}
}

// running returns the index of the goroutine of the context.
func (r *Reconstructor) running(id int64) int32 {
	if id != r.ctx.state.id {
		r.enterGoroutine(id)
	}
	return r.ctx.g
}

// enterGoroutine looks up the goroutine of an event.
func (r *Reconstructor) enterGoroutine(id int64) {
	ix := r.gs.Find(id)
	if ix == 0 {
		ix = r.addGoroutine(id)
	}
	r.ctx.g, r.ctx.state = ix, r.gs.At(ix)
}

// enterOther is enter for what is no transition.
func (r *Reconstructor) enterOther(i int64, it *item, e *events.Event) {
	it.setIDs(e)
	switch e.Kind {
	case events.Label:
		if e.Reason < events.LabelDedicated || e.Reason > events.LabelIdle || it.m < 0 {
			return
		}
		if s := r.win.at(r.ms[it.m].last); s != nil && s.ev.Kind == events.Go && s.ev.To == events.Running {
			s.ev.mark |= markWorker
			if e.Reason == events.LabelDedicated {
				s.ev.mark |= markDedicated
			}
			s.ev.Reason = e.Reason // a start has none of its own
		}
	case events.STWBegin, events.Procs:
		r.seeSTW(i, it)
	case events.Lost:
		r.newLost = i
	}
}

// linkStart links a goroutine's start to what made it runnable.
func (r *Reconstructor) linkStart(i int64, it *item, g *goroutine) {
	if g.newReady < r.win.tail {
		g.start = i // it became runnable before the window, or the judge has passed it
	} else {
		r.win.there(g.newReady).link = i
	}
	it.link, g.newReady = g.newReady, none
	r.ctx.g, r.ctx.state = it.of, g
}

// linkReady notes what made a goroutine runnable, and the visit that ends with that.
func (r *Reconstructor) linkReady(i int64, it *item, g *goroutine) {
	switch from := it.ev.From; {
	case from == events.Runnable:
	case from == events.Undetermined && g.newReady > r.newLost:
		// A new generation says again what is known.
	default:
		g.newReady = i
		r.seeReady(i, it)
	}
}

func (r *Reconstructor) proc(id int32) int32 {
	if ix := r.pix.Find(int64(id)); ix != ids.None {
		return ix
	}
	return r.addProc(id)
}

func (r *Reconstructor) addProc(id int32) int32 {
	ix := int32(len(r.ps))
	p := proc{id: id, m: nobody, g: nobody, lastM: nobody, newest: none, handed: none, borrowed: none, doubt: doubt{fits: fitting}, phase: newPhase(r.rules.GlobalPoll), ticks: [2]int64{-r.rules.Slice, -r.rules.Slice}}
	if r.young {
		p.phase = youngPhase(r.rules.GlobalPoll, distant)
	}
	r.ps = append(r.ps, p)
	r.pix.Add(int64(id), ix)
	r.q.Grow(0, len(r.ps))
	return ix
}

func (r *Reconstructor) addThread(id int64) int32 {
	ix := int32(len(r.ms))
	r.ms = append(r.ms, thread{id: id, g: nobody, last: none, next: none, lastG: nobody})
	r.mix.Add(id, ix)
	return ix
}

// learnClass takes over what an event that enters the window says of the class of its
// goroutine. So decisions up to a window before it know the class already.
func (r *Reconstructor) learnClass(g *goroutine, e *events.Event) {
	class := g.class
	switch {
	case e.From == events.NotExist:
		class = r.cls.created(e.TStack, e.Stack)
	case r.cls.list[class].open:
		class = r.cls.shown(class, e.TStack)
	default:
		return
	}
	r.setClass(g, class)
}

package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// judge decides on one event after the other: what it did to Ps, threads and goroutines. A
// copy of it can go on alone with what is in the window.
type judge struct {
	explainer
	annotated  *counts
	before     effort
	rebuilding int64 // goroutines that were looked at to build the model again
}

// link tells the parts of a judge where the others are that they look at.
func (r *judge) link() {
	r.whole = r
	r.explainer.link()
}

// transitions says what judges a goroutine's transition, by the states from and to which
// it is; byKind says what judges an event that is none, by its kind. What has no entry
// changes the state of the goroutine and nothing else, or says nothing of the scheduler.
// They are filled in only when the program starts, since what they name uses them: a fork
// judges on.
var (
	transitions [8][8]func(*judge, *record, *goroutine)
	byKind      [256]func(*judge, *record)
)

func init() {
	for from := range transitions {
		to := &transitions[from]
		to[events.Runnable] = (*judge).ready
		to[events.Running] = (*judge).leaveSyscall
	}
	transitions[events.Runnable][events.Running] = (*judge).start
	for to := range transitions[events.Running] {
		transitions[events.Running][to] = (*judge).block
	}
	transitions[events.Running][events.Runnable] = (*judge).yield
	transitions[events.Running][events.Syscall] = (*judge).enterSyscall
	transitions[events.Syscall][events.NotExist] = (*judge).exitInSyscall

	for kind, judge := range map[events.Kind]func(*judge, *record){
		events.Proc:        (*judge).procEvent,
		events.Procs:       (*judge).procsEvent,
		events.STWBegin:    (*judge).beginSTW,
		events.STWEnd:      (*judge).endSTW,
		events.GCBegin:     (*judge).markPhase,
		events.GCEnd:       (*judge).markPhase,
		events.AssistBegin: (*judge).passThrough,
		events.AssistEnd:   (*judge).passThrough,
		events.Sample:      (*judge).passThrough,
		events.TaskBegin:   (*judge).annotate,
		events.TaskEnd:     (*judge).annotate,
		events.Region:      (*judge).annotate,
		events.RegionEnd:   (*judge).annotate,
		events.Log:         (*judge).annotate,
		events.Lost:        (*judge).lost,
	} {
		byKind[kind] = judge
	}
}

// judgeNext decides on the oldest event that has not been judged.
func (r *judge) judgeNext() {
	i := r.win.tail
	rec := r.win.there(i)
	r.now, r.time, r.judging = i, rec.Time, true
	if i >= r.due {
		r.settleDue(rec)
	}
	if mx := uint(rec.m); mx < uint(len(r.mStates)) {
		if mp := &r.mStates[mx]; mp.next == i {
			mp.next = rec.nextM
		}
	}
	if rec.Kind == events.Go {
		gp := r.gStates.At(rec.of)
		r.judgeTransition(rec, gp)
		if gp.dead && !r.engine.on {
			r.remove(rec.of, gp)
		}
		gp.pending--
	} else if judge := byKind[rec.Kind]; judge != nil {
		judge(r, rec)
	}
	r.pass()
	if checked {
		r.check()
	}
	r.judging = false
}

// judgeTransition judges a goroutine's transition, or what a generation says of a
// goroutine that it had not named yet.
func (r *judge) judgeTransition(rec *record, gp *goroutine) {
	switch {
	case rec.From == events.Undetermined || rec.From == rec.To:
		if gp.state != rec.To { // else it is no news
			r.adopt(rec, gp)
		}
		r.dequeueEarly(rec)
		return
	case rec.From == events.NotExist:
		gp.dead = false
		gp.lastM = nobody
	case gp.state != rec.From:
		r.adopt(rec, gp) // lost in a damaged generation
	}
	if judge := transitions[rec.From&7][rec.To&7]; judge != nil {
		judge(r, rec, gp)
		return
	}
	gp.state = rec.To
}

// settleDue lets happen what comes later than the event that it belongs to, and is due,
// and ends the visits that are over. Before the first event, it begins.
func (r *judge) settleDue(rec *record) {
	if r.now == 0 {
		r.beginning.begin()
		r.time = rec.Time
	}
	r.deferred.putsDue(r.now)
	r.workers.drainsDue(rec)
	r.workers.drainEarly(rec)
	r.waking.wakingThievesSteal()
	r.endForEachPs(rec)
	r.due = math.MaxInt64
	if len(r.forEachPsAhead) > 0 {
		r.due = r.forEachPsAhead[0].to
	}
	if len(r.deferred.list)|len(r.workers.list)|len(r.waking.list) != 0 || r.current.m >= 0 {
		r.settleSoon()
	}
}

// markPhase judges the begin of a mark phase, which a generation may say again, or its end.
func (r *judge) markPhase(rec *record) {
	begins, kind := rec.Kind == events.GCBegin, reference.KindGCEnd
	if begins {
		kind = reference.KindGCBegin
	}
	if begins != r.gcOpen {
		r.gcOpen = begins
		r.emit(rec.p, rec.m, reference.Decision{Kind: kind, G: rec.context()})
	}
}

var asides = [...]reference.Kind{
	events.AssistBegin: reference.KindAssistBegin, events.AssistEnd: reference.KindAssistEnd, events.Sample: reference.KindSample,
}

// passThrough hands on what the scheduler has no part in, for those who explain it.
func (r *judge) passThrough(rec *record) {
	if r.engine.on {
		return
	}
	g := rec.context()
	if rec.res() >= 0 {
		g = rec.res()
	}
	gp := r.gStates.At(r.goroutine(g))
	r.emit(rec.p, rec.m, reference.Decision{Kind: asides[rec.Kind], G: g, Class: gp.class, Flags: gp.flags, Victim: reference.NoP, Stack: int32(rec.Stack), Basis: observed})
}

package reconstruct

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// judge decides on one event after the other: what it did to Ps, threads and goroutines. A
// copy of it can go on alone with what is in the window.
type judge struct {
	explainer
	inject    injection
	annotated map[annotation]int64
}

// newJudge returns a judge that has seen nothing.
func newJudge(t *events.Tables, o Options, rows []Hypothesis) *judge {
	r := &judge{
		inject:    injection{until: none},
		annotated: map[annotation]int64{},
		explainer: explainer{
			lookahead: lookahead{
				processors: processors{pix: ids.New(), idle: idlers{last: nobody}},
				tables:     t,
				rules:      o.Rules,
				reduced:    o.Reduced,
				cls:        newClasses(t),
				stk:        stackTraits{tables: t, known: []trait{traitSeen}},
				ctx:        newest{thread: events.None, p: events.None, m: nobody, proc: nobody, g: nobody, state: &noGoroutine},
			},
			output: output{emit: o.Emit, hold: noHolding()},
			model:  model{q: *reference.NewQueues(o.Rules), taker: nobody, drifting: nobody},
			requests: requests{
				visit:   visit{m: nobody},
				visitor: nobody,
				visitTo: math.MaxInt64,
				askedBy: nobody,
				noSlice: math.MinInt64,
				retaken: math.MinInt64 / 2,
				worker:  none,
			},
			rows:    rows,
			without: o.Without,
		},
	}
	r.gs.Table = ids.NewTable[goroutine]()
	r.link()
	return r
}

// link tells the parts of a judge where the others are that they look at.
func (r *judge) link() {
	r.whole = r
	r.model.lookahead, r.model.output, r.requests.lookahead = &r.lookahead, &r.output, &r.lookahead
}

// judgeNext decides on the oldest event that has not been judged.
func (r *judge) judgeNext() { r.decide(r.win.there(r.win.tail)) }

// transitions says what judges a goroutine's transition, by the states from and to which
// it is; byKind says what judges an event that is none, by its kind. What has no entry
// changes the state of the goroutine and nothing else, or says nothing of the scheduler.
// They are filled in only when the program starts, since what they name uses them: a fork
// judges on.
var (
	transitions [8][8]func(*judge, *item, *goroutine)
	byKind      [256]func(*judge, *item)
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

	for kind, judge := range map[events.Kind]func(*judge, *item){
		events.Proc:        (*judge).procEvent,
		events.Procs:       (*judge).procsEvent,
		events.STWBegin:    (*judge).beginSTW,
		events.STWEnd:      (*judge).endSTW,
		events.GCBegin:     (*judge).beginGC,
		events.GCEnd:       (*judge).endGC,
		events.AssistBegin: (*judge).aside,
		events.AssistEnd:   (*judge).aside,
		events.Sample:      (*judge).aside,
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

// decide is judgeNext, of that event.
func (r *judge) decide(it *item) {
	i := r.win.tail
	r.now, r.time = i, it.ev.Time
	if i >= r.due {
		r.settleDue(it)
	}
	if mx := uint(it.m); mx < uint(len(r.ms)) {
		if m := &r.ms[mx]; m.next == i {
			m.next = it.nextM
		}
	}
	if it.ev.Kind == events.Go {
		g := r.gs.At(it.of)
		r.judgeTransition(it, g)
		if g.dead && !r.forks.on {
			r.remove(it.of, g)
		}
		g.pending--
	} else if judge := byKind[it.ev.Kind]; judge != nil {
		judge(r, it)
	}
	r.pass()
}

// judgeTransition judges a goroutine's transition, or what a generation says of a
// goroutine that it had not named yet.
func (r *judge) judgeTransition(it *item, g *goroutine) {
	e := &it.ev
	switch {
	case e.From == events.Undetermined || e.From == e.To:
		r.status(it, g)
		r.takeAtOnce(it)
		return
	case e.From == events.NotExist:
		g.dead = false
		g.lastM = nobody
	case g.state != e.From:
		r.adopt(it, g) // lost in a damaged generation
	}
	if judge := transitions[e.From&7][e.To&7]; judge != nil {
		judge(r, it, g)
		return
	}
	g.state = e.To
}

// settleDue lets happen what comes later than the event that it belongs to, and is due,
// and ends the visits that are over. Before the first event, it begins.
func (r *judge) settleDue(it *item) {
	if r.now == 0 {
		r.begin()
		r.time = it.ev.Time
	}
	if len(r.late) > 0 {
		r.putsDue(r.now)
	}
	if len(r.spills) > 0 {
		r.spillsDue(r.now)
	}
	if len(r.drains) > 0 {
		if r.mayDrain(it) {
			r.drainsAtOnce()
			r.drainsDue(it)
		}
		if it.ev.From == events.Runnable {
			r.drainEarly(it)
		}
	}
	if len(r.thieves) > 0 {
		r.thievesTake()
	}
	if r.visitEnds(it) {
		r.leaveVisits(it)
	}
	r.due = r.visitTo
	if len(r.late)|len(r.spills)|len(r.drains)|len(r.thieves) != 0 || r.visit.m >= 0 {
		r.watch()
	}
}

// beginGC judges the begin of a mark phase, which a generation may say again.
func (r *judge) beginGC(it *item) {
	if !r.gcOpen {
		r.gcOpen = true
		r.say(&reference.Decision{Kind: reference.KindGCBegin, G: it.context(), P: r.pid(it.p), M: r.mid(it.m)})
	}
}

// endGC judges the end of a mark phase.
func (r *judge) endGC(it *item) {
	if r.gcOpen {
		r.gcOpen = false
		r.say(&reference.Decision{Kind: reference.KindGCEnd, G: it.context(), P: r.pid(it.p), M: r.mid(it.m)})
	}
}

// finishEvent ends the judgement of an event, in a fork that has done the rest of it.
func (r *judge) finishEvent(it *item) {
	r.takeAtOnce(it)
	r.pass()
}

var asides = [...]reference.Kind{
	events.AssistBegin: reference.KindAssistBegin, events.AssistEnd: reference.KindAssistEnd, events.Sample: reference.KindSample,
}

// aside hands on what the scheduler has no part in, for those who explain it.
func (r *judge) aside(it *item) {
	if r.emit == nil {
		return
	}
	g := it.context()
	if it.res() >= 0 {
		g = it.res()
	}
	d := reference.Decision{Kind: asides[it.ev.Kind], G: g, P: r.pid(it.p), M: r.mid(it.m), Victim: reference.NoP, Stack: int32(it.ev.Stack),
		Basis: reference.Known(reference.Observed, reference.RuleNone)}
	if ix := r.goroutine(g); ix >= 0 {
		d.Class, d.Flags = r.gs.At(ix).class, r.gs.At(ix).flags
	}
	r.say(&d)
}

// Package slowstage is the detector slow-stage: do many goroutines wait for one that
// is always busy? doc.md explains it.
package slowstage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	busywaiting "github.com/gmpscope/gmpscope/analyze/findings/busy-waiting"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	localityloss "github.com/gmpscope/gmpscope/analyze/findings/locality-loss"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	stealstorm "github.com/gmpscope/gmpscope/analyze/findings/steal-storm"
	workconservation "github.com/gmpscope/gmpscope/analyze/findings/work-conservation"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "slow-stage"

// Thresholds decide when the detector reports goroutines that are hardly ever blocked while
// many others wait for them. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// BusyShare is the share of its time in which the goroutine that others wait for must
	// not itself be blocked.
	BusyShare float64 `json:"busy_share"`
	// LifeShare is the share of the recording for which it must be known.
	LifeShare float64 `json:"life_share"`
	// MinWakes is how often it must have woken others, and MaxWaitNs what of one wait
	// counts at most: what is woken once, at the end, did not wait for a stage.
	MinWakes  int64 `json:"min_wakes"`
	MaxWaitNs int64 `json:"max_wait_ns"`
	// How many goroutines must wait for it on average.
	NoteLine     float64 `json:"note_line"`
	WarningLine  float64 `json:"warning_line"`
	CriticalLine float64 `json:"critical_line"`
	// IdleShare is the share of P-time that must be idle: else the Ps are what is short.
	IdleShare float64 `json:"idle_share"`
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own: one reader and one worker that wait for each other are no line.
func Default() Thresholds {
	return Thresholds{
		BusyShare: 0.8, LifeShare: 0.5, MinWakes: 20, MaxWaitNs: 50_000_000,
		NoteLine: 1.25, WarningLine: 1.5, CriticalLine: 4, IdleShare: 0.05,
	}
}

// New returns the detector that reports goroutines that are hardly ever blocked while many
// others wait for them, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked, MaybeMeant: true,
		Explains: []string{serialization.ID, stealstorm.ID, starvation.ID, convoy.ID, workconservation.ID, localityloss.ID, busywaiting.ID},
		Remedy:   findings.Remedy{Speed: 2, Makespan: true, Why: "the stage in half of the time"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.mark = view.NewMark()
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Reasons: []reference.Reason{
				reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSelect, reference.ReasonCond,
			}}, w.woken)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, When: findings.StolenNext}, w.started)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady, reference.KindStop}, Mark: w.mark}, w.blocked)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View
	mark findings.Mark // of stages

	of     ids.Parts[int32] // by slot: index in stages, plus one
	stages []stage
	lost   int64 // ns that are not recorded
}

const (
	// maxStages bounds memory; what comes later is not shown.
	maxStages = 4096
	// maxVictims is how many classes that wait for a stage are told apart.
	maxVictims = 3
)

// stage is a goroutine that wakes others.
type stage struct {
	g         int64
	class     int32
	since     int64 // it is known
	lost      int64 // watcher.lostP then
	own       int64 // ns that it waited for others since then
	away      int64 // ns that it was blocked for anything else: the network, a timer
	awayAt    int32 // the stack of the longest of these
	awayNs    int64 // which took so long
	blockedAt int64 // since when it is; -1: it is not
	n         int64 // goroutines that it woke
	sends     int64 // ns that they waited to send
	others    int64 // ns that they waited for anything else
	stack     int32 // where it woke the one that had waited longest
	worst     int64 // ns
	// Whom it waited for itself, by ns.
	by findings.Majority[int64]

	victims  [maxVictims]findings.Cell
	from, to int64 // first and last wake-up
}

// add adds a wait to a stage's victims. Where there are too many classes the one with the
// least waiting makes room (Metwally and others, Efficient Computation of Frequent and
// Top-k Elements, 2005).
func (s *stage) add(g *findings.Goroutine, ns int64) {
	least := 0
	for i := range s.victims {
		v := &s.victims[i]
		if v.Class == g.Class && v.Ns > 0 {
			v.Ns += ns
			return
		}
		if v.Ns < s.victims[least].Ns {
			least = i
		}
	}
	s.victims[least] = findings.Cell{Class: g.Class, Ns: s.victims[least].Ns + ns, G: g.ID, P: reference.NoP, Stack: g.Stack}
}

func (w *watcher) woken(d *reference.Decision) {
	g, by := w.view.Goroutine(), w.view.Waker()
	if g == nil || by == nil || by == g || g.System || by.System || g.BlockedNs <= 0 {
		return
	}
	if by.Creator == g.ID && g.Reason != reference.ReasonChanSend {
		return // what it waits for is its own child: a call
	}
	s := w.stage(by)
	if s == nil {
		return
	}
	ns := min(g.BlockedNs, w.t.MaxWaitNs)
	s.n++
	s.waited(g, ns)
	if ns > s.worst {
		s.worst, s.stack = ns, d.Stack
	}
	s.to = d.Time
	s.add(g, ns)
	if v := w.known(g); v != nil {
		v.by.Add(by.ID, ns)
	}
}

// waited adds a wait of g that s ended.
func (s *stage) waited(g *findings.Goroutine, ns int64) {
	if g.Reason == reference.ReasonChanSend {
		s.sends += ns
	} else {
		s.others += ns
	}
}

// started adds to a stage's wait for the one that woke it how long it then lay in the
// runnext slot of that one's P, until another P stole it: the waker had the next thing to do
// all the while.
func (w *watcher) started(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.Wait <= 0 || g.BlockedNs <= 0 || !forOthers(g.Reason) {
		return
	}
	by := w.view.ByID(g.Waker)
	if by == nil || by == g {
		return
	}
	v, s := w.known(g), w.known(by)
	if v == nil || s == nil || s.blockedAt >= 0 {
		return
	}
	ns := min(g.Wait, w.t.MaxWaitNs)
	v.own += ns
	v.by.Add(by.ID, ns)
	s.waited(g, ns)
	s.add(g, ns)
}

// known returns the stage that g is, nil if it is none.
func (w *watcher) known(g *findings.Goroutine) *stage {
	if i := *w.of.Make(g.Slot()); i > 0 && w.stages[i-1].g == g.ID {
		return &w.stages[i-1]
	}
	return nil
}

func (w *watcher) stage(g *findings.Goroutine) *stage {
	if s := w.known(g); s != nil {
		return s
	}
	i := w.of.Make(g.Slot())
	// The place of one that has ended, and for which little waited, is free.
	if *i == 0 || w.stages[*i-1].n >= w.t.MinWakes {
		if len(w.stages) == maxStages {
			return nil
		}
		w.stages = append(w.stages, stage{})
		*i = int32(len(w.stages))
	}
	s := &w.stages[*i-1]
	*s = stage{}
	s.g, s.class, s.blockedAt, s.by.For = g.ID, g.Class, -1, reference.NoG
	s.since, s.from, s.lost = w.view.Now(), w.view.Now(), w.lost
	w.view.Mark(g.Slot(), w.mark)
	return s
}

// blocked follows for how long a stage is blocked itself.
func (w *watcher) blocked(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil {
		return
	}
	s := w.known(g)
	switch {
	case s == nil:
	case d.Kind == reference.KindStop && d.Why == reference.WhyBlock:
		s.blockedAt = d.Time
	case s.blockedAt >= 0:
		ns := d.Time - max(s.since, s.blockedAt)
		if forOthers(g.Reason) {
			s.own += ns
		} else {
			s.away += ns
			if ns > s.awayNs {
				s.awayNs, s.awayAt = ns, g.Stack
			}
		}
		s.blockedAt = -1
	}
}

// forOthers reports whether one who blocks for a reason waits for other goroutines.
func forOthers(r reference.Reason) bool {
	return r != reference.ReasonNetwork && r != reference.ReasonSleep
}

func (w *watcher) lose(d *reference.Decision) { w.lost += d.Wait }

// evidence is what a finding says.
type evidence struct {
	*stage
	busy     float64 // share of its time in which it did not wait for others
	line     float64 // goroutines that wait for it, on average, directly or not
	directly float64
	ns       int64 // line in goroutine-time
	idle     float64
	siblings float64 // goroutines of its class that wait for those that wait for it, on average
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	recorded := f.RecordedNs()
	idle := quantity.Ratio(f.PT()-f.BusyNs(), max(1, f.PT()))
	if recorded <= 0 || idle < w.t.IdleShare {
		return nil
	}
	busy := map[int64]float64{}
	count := map[int32]int{} // busy ones by class
	for i := range w.stages {
		s := &w.stages[i]
		b := w.busy(f, s)
		busy[s.g] = b
		if b >= w.t.BusyShare && s.n >= w.t.MinWakes {
			count[s.class]++
		}
	}
	var found []evidence
	for i := range w.stages {
		s := &w.stages[i]
		if s.n < w.t.MinWakes || busy[s.g] < w.t.BusyShare || count[s.class] >= max(2, f.GOMAXPROCS) {
			continue
		}
		direct := s.sends + s.others
		behind, siblings := w.behind(s, recorded)
		n := evidence{stage: s, busy: busy[s.g], idle: idle, ns: direct + behind}
		n.directly, n.line, n.siblings = f.Share(direct), f.Share(n.ns), f.Share(siblings)
		if n.line >= w.t.NoteLine {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(x, y evidence) int { return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(x.g, y.g)) })
	return []findings.Finding{w.finding(f, &found[0])}
}

// busy is the share of its time in which a stage was not blocked; 0 if it is known for
// too short a time.
func (w *watcher) busy(f *findings.Facts, s *stage) float64 {
	life := f.EndNs - s.since - (w.lost - s.lost)
	own := s.own
	// If goroutines wait to send while the stage sleeps, or waits for the network, that is the
	// bottleneck; if they only receive from it, it may simply be idle.
	if 4*s.sends < s.others {
		own += s.away
	}
	if w.view.ByID(s.g) == nil {
		life = s.to - s.since
	} else if s.blockedAt >= 0 {
		own += f.EndNs - max(s.blockedAt, s.since)
	}
	if life <= 0 || float64(life) < w.t.LifeShare*float64(f.RecordedNs()) {
		return 0
	}
	return 1 - float64(own)/float64(life)
}

// behind is how long goroutines waited for those that waited for s, in proportion to
// how long these did, and siblings how long goroutines of the class of s did.
func (w *watcher) behind(s *stage, recorded int64) (ns, siblings int64) {
	for i := range w.stages {
		v := &w.stages[i]
		if v.by.For != s.g || v == s {
			continue
		}
		ns += int64(float64(v.sends+v.others) * min(1, float64(v.by.Votes)/float64(recorded)))
		for _, c := range v.victims {
			if c.Class == s.class {
				siblings += c.Ns
			}
		}
	}
	return ns, siblings
}

func (w *watcher) finding(f *findings.Facts, n *evidence) findings.Finding {
	away := float64(n.away) / float64(max(1, n.to-n.since)) // asleep, or waiting for the network
	outside := away >= 0.5 && 4*n.sends >= n.others         // most of its time, while others wait to send to it
	severity := findings.Note
	switch {
	case n.line >= w.t.CriticalLine:
		severity = findings.Critical
	case n.line >= w.t.WarningLine && !outside: // a device that is kept busy looks the same
		severity = findings.Warning
	}
	at := n.stack
	if outside {
		at = n.awayAt
	}
	x := findings.Finding{
		Severity: severity, CostNs: min(n.ns, f.BlockedNs), FromNs: n.from, ToNs: n.to, Basis: findings.Inferred,
		Actors: []findings.Actor{f.Actor(findings.Cause, n.class, n.g, at)},
	}
	slices.SortFunc(n.victims[:], func(x, y findings.Cell) int { return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Class, y.Class)) })
	for _, v := range n.victims {
		if v.Ns > 0 {
			x.Actors = append(x.Actors, v.Actor(f, findings.Victim))
		}
	}
	name := f.Name(n.class)
	stage := x.Actors[0].AtInnermost()
	where := stage.Work()
	var victims findings.Text
	if list := slices.DeleteFunc(slices.Clone(x.Actors[1:]), func(a findings.Actor) bool { return a.Class == string(name) }); len(list) > 0 {
		victims = findings.Say(" (%s)", findings.ShortOf(list))
	}
	waited := findings.Say("%s goroutines%s waited for it on average", quantity.Number(n.directly), victims)
	after := "for it"
	if more := n.line - n.directly; more >= 0.05 {
		waited = findings.Say("%s, and another %s for those", waited, quantity.Number(more))
		after = "behind it"
	}
	if n.siblings >= hotShard {
		x.Headline = findings.Say("One goroutine of %s has most of the work: %s others wait %s", stage.Brief(), quantity.Number(n.line), after)
		x.Title = findings.Say("One goroutine of %s was busy for %s of the time, while others of its like had nothing to do: %s, while %s of the P-time was idle",
			where, quantity.Percent(n.busy), waited, quantity.Percent(n.idle))
		x.Advise("Spread the work evenly over the goroutines of %s: one channel that all of them take from, a finer or better hash, or the busy key split.", name)
		x.Advise("Let who hands out the work not block on a full channel while the others have room: a larger buffer moves the limit only.")
	} else {
		x.Headline = findings.Say("%s is the bottleneck: %s goroutines wait %s", stage.Brief(), quantity.Number(n.line), after)
		x.Title = findings.Say("%s is the stage that others wait for: it was busy for %s of the time, and %s, while %s of the P-time was idle",
			where, quantity.Percent(n.busy), waited, quantity.Percent(n.idle))
		x.Advise("Make %s faster, or have more than one goroutine do it: nothing else makes the whole faster. Move what does not need to be there, encoding or hashing say, into those who wait for it.", where)
		x.Advise("More Ps or more goroutines in the other stages do not help: they wait longer in larger numbers.")
	}
	if in := w.calling(f, n); in != "" && n.siblings < hotShard {
		x.Headline = findings.Say("%s is the bottleneck, in system calls in %s: %s goroutines wait %s", stage.Brief(), in, quantity.Number(n.line), after)
		x.AdviseOnly("Make the system calls in %s fewer or shorter (put together what is written, sync once for many): nothing else makes the whole faster.", in)
	}
	if outside {
		x.Headline = findings.Say("%s waits for something outside, and %s goroutines wait %s", stage.Brief(), quantity.Number(n.line), after)
		x.Title = findings.Say("%s is the stage that others wait for: for %s of the time it was asleep or waited for the network itself, and %s",
			where, quantity.Percent(min(1, away)), waited)
		x.AdviseOnly("Let %s have several requests under way at once, or ask for several things in one: it spends its time waiting for an answer, and nothing else gets through meanwhile.", where)
		x.Advise("More Ps or more goroutines in the other stages do not help: they wait longer in larger numbers.")
		// One that serves others stands in front of it.
		if loop := x.Actors[1:]; len(loop) > 0 && n.line-n.directly >= 1 && loop[0].Class != string(name) {
			sends, receiver := loop[0].AtInnermost().Short(), findings.Short(name)
			if strings.Contains(string(receiver), ".func") { // a literal, which calls what receives
				receiver = stage.Brief()
			}
			x.Headline = findings.Say("%s blocks on %s, and %s goroutines wait for it", sends, receiver, quantity.Number(n.line-n.directly))
			x.Advice = slices.Insert(x.Advice, 0, findings.Say("Let %s not block on one slow receiver, %s: drop what it has no room for (a select with default), or give it a queue and a goroutine of its own.", sends, receiver))
		}
	}
	x.Measured("not waiting for other goroutines, of its time", findings.Share(n.busy), findings.Share(w.t.BusyShare))
	x.Measured("goroutines that waited for it on average, and for those who did", findings.Number(n.line).Of(n.ns), findings.Number(w.t.WarningLine))
	x.Measured("of them, directly", findings.Number(n.directly).Of(n.sends+n.others))
	x.Measured("they waited to send to it", findings.Time(n.sends))
	x.Measured("they waited for something from it", findings.Time(n.others))
	x.Measured("times that it woke one", findings.Count(n.n), findings.Count(w.t.MinWakes))
	x.Measured("P-time that was idle", findings.Share(n.idle), findings.Share(w.t.IdleShare))
	if n.siblings >= hotShard {
		x.Measured("of them, of the same start function", findings.Number(n.siblings))
	}
	return x
}

// calling returns in which function a stage is in system calls for half of its time; "" if in none.
func (w *watcher) calling(f *findings.Facts, n *evidence) findings.Name {
	sums := map[findings.Name]int64{}
	for _, c := range w.view.Callers() {
		if c.Class == n.class {
			name := (&findings.Actor{Stack: f.Frames(c.Stack), Tested: f.Tested}).AtInnermost().Short()
			if sums[name] += c.Ns; 2*sums[name] >= n.to-n.since {
				return name
			}
		}
	}
	return ""
}

// hotShard is how many goroutines of the stage's own class must wait on average, so that
// it is the uneven share of work that is wrong.
const hotShard = 0.5

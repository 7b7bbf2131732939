package findings

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// silenceNs is how long nothing at all must happen to count as a silence: the
// runtime's watcher does something every 10 ms where goroutines run, and a CPU
// quota that takes less than this from a period of 100 ms harms little.
const silenceNs = 5_000_000

// Silence is an interval [From, To), ns, of at least 5 ms without any decision although goroutines
// of the program had a P: the process may have been stopped.
type Silence struct {
	From, To int64 // ns since the first event of the trace
	Running  int64 // number of goroutines of the program that ran, system calls left out
	Runtime  int64 // number of goroutines of the runtime that ran, such as mark workers
	Waiting  int64 // number of goroutines of the program that were runnable
	// Freaks is the number of Ps for which so long a silence is unusual: they ran a goroutine of a
	// class whose run intervals are mostly shorter than a tenth of it, and seldom half of it, or
	// had a thread and work and started nothing.
	Freaks int64
	// Overdue is the number of goroutines woken by a timer right after it that, by what is usual
	// for them, should have been woken in it, since a P was free; set in [Silences] only.
	Overdue int64
	// WentOn is the number of the goroutines in Running that ended their run interval right after
	// it, as when all threads resume at once; set in [Silences] only.
	WentOn int64
	G      int64 // ID of the goroutine that ran on the P with the lowest number; NoG if none ran
	Class  int32 // handle of the class of G
	P      int32 // P of G; NoP if none ran

	// Of the first timer that was due: when a goroutine began to wait for it, and where.
	setAt    int64
	setStack int32
	// proven is whether the timers cannot have been set to fire when it was over.
	proven bool
}

// StallSigns returns the number of signs that the process, or a thread with a P, was stopped during
// the silence: Freaks and Overdue, summed.
func (s *Silence) StallSigns() int64 { return s.Freaks + s.Overdue }

// Ns returns the length of the silence, in ns.
func (s *Silence) Ns() int64 { return s.To - s.From }

// usual is how many run intervals of a class tell how long they are.
const usual = 10

// silent emits that nothing happened until the given time. Silences are rare, so it
// may look at each P.
func (w *follower) silent(until int64) {
	if w.silences.on == 0 || w.now == 0 || w.stw {
		return
	}
	s := Silence{From: w.now, To: until, Waiting: w.runnable, G: reference.NoG, P: reference.NoP}
	defer func() { w.quiet = s }()
	for i := range w.ps {
		p := &w.ps[i]
		switch {
		case p.g == nil:
			if p.stopAt >= 0 && w.local[i].n > 0 {
				s.Freaks++
			}
		case p.g.System:
			s.Runtime++
		case p.sysAt < 0:
			g := p.g
			if s.Running++; s.Running == 1 {
				s.G, s.Class, s.P = g.ID, g.Class, p.slice.P
			}
			if c := &w.classes[g.class]; c.Runs >= usual && s.Ns() >= 10*c.Median() && !c.OftenRunsFor(s.Ns()) {
				s.Freaks++
			}
		}
	}
	if s.Running == 0 && s.Freaks == 0 {
		return
	}
	w.silences.emit(&s)
}

// OftenRunsFor reports whether more than a quarter of the run intervals of the class are at least
// ns/2 nanoseconds long.
func (c *Class) OftenRunsFor(ns int64) bool { return 4*c.Over(ns/2) > c.Runs }

// Silences collects silences, intervals of at least 5 ms without any decision although goroutines had
// a P, that a program does not bring about by itself: the goroutines that ran should have been
// preempted meanwhile, or seldom run for so long, or a timer was due.
type Silences struct {
	Ns     int64 // lengths of all of them, summed, ns
	last   int64 // when the last one ended
	list   []Silence
	short  []Silence // that a program may explain; of use only where many end alike, at most maxSilences
	view   *View
	timers Table[int32, timed] // by the stack where goroutines wait for one
}

// maxSilences bounds memory; with ten in a second it is seven minutes.
const maxSilences = 4096

// timed is how long goroutines wait at one place for a timer.
type timed struct {
	n    int64
	most int64  // ns, as a rule
	late []late // longer waits, at most maxLate
}

// late is a wait for a timer that is longer than usual, and at in Silences.list the silence
// that may have made it so; -1: it has come again, so it is what the timer was set to.
type late struct {
	ns int64
	at int
}

const (
	// lateNs is how long after a silence timers that were due in it have fired: the
	// first thread that goes on fires all of them.
	lateNs = 2_000_000
	// maxLate bounds timed.late; alikeOneIn is how near two of them are that are one
	// timer's, as a share.
	maxLate    = 64
	alikeOneIn = 32
	// apartNs is how far apart timers are set that are not set for one time.
	apartNs = 200_000
)

// longSilenceNs is the length of which no silence is while a goroutine runs that
// can be preempted: the slice of 10 ms, and two sleeps of the watcher of up to
// 10 ms (retake, sysmon). If two run or more, pairSilenceNs is enough: the watcher
// notices a slice after one sleep and finds it 10 ms old after the next, and 2 ms
// are for its thread to wake up. One alone it may not watch: it sleeps while all Ps
// are idle, and what a timer wakes does not wake it.
const (
	longSilenceNs = 30_000_000
	pairSilenceNs = 22_000_000
)

// NewSilences returns the Silences of w, the same for each caller. They are collected from the first
// call on.
func NewSilences(w *View) *Silences {
	if w.kept == nil {
		w.kept = &Silences{view: w, timers: NewTable(MaxKept, func(int32) timed { return timed{} })}
		w.Silences(w.kept.add)
		w.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyTimer}}, w.kept.fired)
		w.Runs(RunFilter{MinNs: silenceNs}, w.kept.ran)
	}
	return w.kept
}

// All returns the silences that the Silences have collected, in order of time: the first 4,096.
func (s *Silences) All() []Silence { return s.list }

// fired looks whether a timer that woke a goroutine was due in a silence that is just
// over.
func (s *Silences) fired(d *reference.Decision) {
	g := s.view.g
	if g == nil || g.System || g.BlockedNs < 0 {
		return
	}
	t := s.timers.At(g.Stack)
	if t == nil {
		return
	}
	if q := &s.view.quiet; t.n >= usual && q.To > 0 && d.Time-q.To <= lateNs && q.Running+q.Runtime < s.view.Procs() && g.BlockedAt <= q.From && q.To-(g.BlockedAt+t.most) >= max(silenceNs, t.most) {
		s.overdue(t, g)
		return
	}
	// A single long wait is forgotten after some hundreds.
	t.most = max(t.most-t.most/256, g.BlockedNs)
	t.n++
}

// ran looks whether a run interval in which the last silence falls ends as soon as that is over.
func (s *Silences) ran(r *Run) {
	q := &s.view.quiet
	if r.System || q.To == 0 || r.From > q.From || r.To < q.To || r.To-q.To > max(lateNs, q.Ns()/10) {
		return
	}
	q.WentOn++
	if n := len(s.list); n > 0 && s.list[n-1].From == q.From {
		s.list[n-1].WentOn = q.WentOn
	}
}

// overdue notes that a timer was due in the last silence. If a wait as long has been in another,
// both are what the program asked for, unless something else proves a stop.
func (s *Silences) overdue(t *timed, g *Goroutine) {
	q := &s.view.quiet
	at := len(s.list) - 1
	if at < 0 || s.list[at].From != q.From {
		if len(s.list) == maxSilences {
			return
		}
		s.keep(q)
		at++
	}
	last := &s.list[at]
	last.prove(g)
	again := false
	for i := range t.late {
		x := &t.late[i]
		if d := g.BlockedNs - x.ns; x.at == at || max(d, -d) > x.ns/alikeOneIn {
			continue
		}
		again = true
		if x.at >= 0 && !s.list[x.at].proven {
			s.list[x.at].Overdue--
			x.at = -1
		}
	}
	if again && !last.proven {
		return
	}
	last.Overdue++
	if len(t.late) < maxLate {
		t.late = append(t.late, late{g.BlockedNs, at})
	}
}

// prove notes that g, whose timer was due in s, cannot have asked for that: a P stood still against
// the habit of its goroutine, or a timer that was set elsewhere and at another time fires with it.
func (s *Silence) prove(g *Goroutine) {
	if s.setAt == 0 {
		s.setAt, s.setStack = g.BlockedAt, g.Stack
	}
	d := g.BlockedAt - s.setAt
	s.proven = s.proven || s.Freaks > 0 || s.setStack != g.Stack && max(d, -d) >= apartNs
}

func (s *Silences) add(x *Silence) {
	if x.Freaks == 0 && (x.Ns() <= pairSilenceNs || x.Ns() <= longSilenceNs && x.Running < 2) {
		if len(s.short) < maxSilences {
			s.short = append(s.short, *x)
		}
		return
	}
	s.keep(x)
}

func (s *Silences) keep(x *Silence) {
	s.Ns += x.Ns()
	s.last = x.To
	if len(s.list) < maxSilences {
		s.list = append(s.list, *x)
	}
}

// Since reports whether one of the silences that were collected has ended after the time at, in ns
// since the first event of the trace.
func (s *Silences) Since(at int64) bool { return s.last > at }

// Beat describes how well silences, intervals without any decision although goroutines had a P, keep
// to a period, as those by a CPU quota do. [Silences.Beat] and [Silences.Grid] return it.
type Beat struct {
	Silences []Silence // those that were compared, in order of time
	// PeriodNs is the usual distance between their ends, in ns, with whole multiples of the
	// period reduced to one.
	PeriodNs int64
	// R is how alike the distances are modulo the period asked for: 1 if all are equal, near 0
	// if they are random. Chance is the probability, from 0 to 1, of so high an R if they were
	// random (Rayleigh's test).
	R, Chance float64
}

// Beat returns how well the silences keep to the given period, in ns. Their ends are compared, each
// with that of the one before: a quota stops a process at any time of a period, but lets it go on
// when the next begins. Short ones among long ones are left out: those below half of the typical
// length, the median by time. With fewer than two, Chance is 1.
func (s *Silences) Beat(period int64) Beat {
	b := Beat{Chance: 1}
	byLen := slices.Clone(s.list)
	slices.SortFunc(byLen, func(x, y Silence) int { return cmp.Compare(y.Ns(), x.Ns()) })
	var sum, total int64
	for _, x := range byLen {
		total += x.Ns()
	}
	typical := int64(0)
	for _, x := range byLen {
		if sum += x.Ns(); 2*sum >= total {
			typical = x.Ns()
			break
		}
	}
	var re, im float64
	for _, x := range s.list {
		if 2*x.Ns() < typical {
			continue
		}
		if n := len(b.Silences); n > 0 {
			a := 2 * math.Pi * math.Mod(float64(x.To-b.Silences[n-1].To), float64(period)) / float64(period)
			re += float64(math.Cos(a))
			im += float64(math.Sin(a))
		}
		b.Silences = append(b.Silences, x)
	}
	n := float64(len(b.Silences) - 1)
	if n < 1 {
		return b
	}
	b.R = math.Hypot(re, im) / n
	b.PeriodNs = period + int64(math.Round(math.Atan2(im, re)/(2*math.Pi)*float64(period)))
	b.Chance = RayleighChance(int64(n), b.R)
	return b
}

// gridOneIn is the share of a period within which the ends of silences are together.
const gridOneIn = 200

// Grid reports whether silences, intervals without any decision although goroutines had a P, end at
// the same point of a period, as those by a CPU quota do: nothing that a program computes ends like
// that. It compares those of at least least ns; period is in ns, and two ends are at the same point if
// they are within a two-hundredth of it.
//
// The result has these silences in Beat.Silences, and in Beat.Chance an upper bound on the probability
// that so many of them would end at one point if their ends were random: the smaller it is, the surer
// it is that they have one cause, such as a quota. Chance is 1 if fewer than three in four of the silences of that length end so, or if all begin
// at the same point, too. PeriodNs is the given period, and R is 1.
func (s *Silences) Grid(period, least int64) Beat {
	var all []Silence
	for _, x := range slices.Concat(s.list, s.short) {
		if x.Ns() >= least {
			all = append(all, x)
		}
	}
	after := func(x, y int64) int64 { return ((x-y)%period + period) % period }
	b := Beat{PeriodNs: period, R: 1, Chance: 1}
	for i := range all[:min(len(all), maxGrid)] {
		var near []Silence
		for _, x := range all {
			if after(x.To, all[i].To) < period/gridOneIn {
				near = append(near, x)
			}
		}
		if len(near) > len(b.Silences) {
			b.Silences = near
		}
	}
	slices.SortFunc(b.Silences, func(x, y Silence) int { return cmp.Compare(x.To, y.To) })
	n, k := float64(len(all)), float64(len(b.Silences))
	scattered := slices.ContainsFunc(b.Silences, func(x Silence) bool {
		d := after(x.From, b.Silences[0].From)
		return min(d, period-d) >= 3*period/gridOneIn
	})
	if scattered && 4*k >= 3*n {
		b.Chance = min(1, n*choose(n-1, k-1)*math.Pow(1./gridOneIn, k-1))
	}
	return b
}

// maxGrid bounds how many ends are tried; any of them will do where most are together.
const maxGrid = 64

// choose is the number of ways to choose k of n.
func choose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return math.Exp(a - b - c)
}

// IsPeriodic reports whether at least least silences were compared, PeriodNs differs from period, in
// ns, by at most the fraction within of it, and Chance is below chance.
func (b *Beat) IsPeriodic(period int64, least int, chance, within float64) bool {
	off := math.Abs(float64(b.PeriodNs - period))
	return len(b.Silences) >= least && b.Chance < chance && off <= within*float64(period)
}

// RayleighChance returns the probability that the mean of n unit vectors with random directions is
// at least r long, for r from 0 to 1. It serves to tell whether events keep to a period (Rayleigh's
// test; the approximation in Zar, Biostatistical Analysis, 27.2).
func RayleighChance(n int64, r float64) float64 {
	if n < 1 {
		return 1
	}
	m := float64(n)
	x := m * r
	return min(1, math.Exp(math.Sqrt(1+float64(4*m)+float64(4*(m*m-x*x)))-(1+float64(2*m))))
}

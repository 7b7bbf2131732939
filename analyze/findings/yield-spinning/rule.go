// Package yieldspinning is the detector yield-spinning: do goroutines poll for
// something, with runtime.Gosched in between, instead of waiting for it? doc.md
// explains it.
package yieldspinning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "yield-spinning"

// Thresholds decide when the detector reports goroutines that poll in a loop with
// runtime.Gosched instead of waiting. Fields whose names end in Ns are in nanoseconds; shares
// are fractions from 0 to 1.
type Thresholds struct {
	// ShortNs: a run interval that ends in a yield and is no longer than this, system
	// calls included, did no more than look.
	ShortNs int64 `json:"short_ns"`
	// PerSecond is how fast such yields must follow one another: one after a longer
	// pause does not count, and ends a stretch of them.
	PerSecond float64 `json:"per_second"`
	Share     float64 `json:"share"` // of a goroutine's stops that must be such yields
	// Starved: goroutines that wait so many times longer after their yields than they run are
	// kept from the Ps by others, and take little from them.
	Starved   float64 `json:"starved"`
	MinYields int64   `json:"min_yields"` // least number of such yields of one goroutine
	// Often is how many such yields a second of the recording one function may make before it
	// is more than a note, whatever they cost: each takes the scheduler's lock.
	Often float64        `json:"often"`
	Grade findings.Grade `json:"grade"` // severities, by the P-time that such yields took, and the waiting of others behind them
}

// Default returns the thresholds that apply unless a configuration sets others. Share is that
// from which on the Tokio console warns of tasks that wake themselves; PerSecond is the
// catalogue's, after golang/go#13527 and #18237. The rest is our own: what a goroutine does
// that yields as a courtesy takes longer than 30 µs, since a yield costs about one.
func Default() Thresholds {
	g := findings.DefaultGrade()
	g.NoteShare = 0.005 // a short spin now and then is common, and cheap
	return Thresholds{ShortNs: 30_000, Share: 0.5, Starved: 3, PerSecond: 1000, MinYields: 256, Often: 20_000, Grade: g}
}

// New returns the detector that reports goroutines that poll in a loop with runtime.Gosched
// instead of waiting, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime, Delays: true,
		Remedy: findings.Remedy{Why: "what is polled for is not in the trace"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, gs: ids.NewTable[spinner](), gap: int64(1e9 / t.PerSecond)}
			w.spinning, w.polite = findings.NewTable(findings.MaxKept, newPlace), findings.NewTable(findings.MaxKept, newPlace)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Whys: []reference.Why{reference.WhyGosched}}, w.stop)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Whys: []reference.Why{reference.WhyExit}}, w.exit)
			w.mark = view.NewMark()
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, Mark: w.mark}, w.start)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View
	gap  int64 // ns: the pause that ends a stretch

	gs       ids.Table[spinner]
	spinning findings.Table[key, place]
	polite   findings.Table[key, place] // of those that yield after longer runs
	mark     findings.Mark              // of those that yielded and have not started since
}

// yields are sums over yields after short runs.
type yields struct {
	n     int64
	stops int64 // of the goroutines, all
	own   int64 // run intervals that ended in one
	sched int64 // from one to the start after it, as far as that is the scheduler's turn-around
	held  int64 // goroutine-ns that others stood in that P's queue meanwhile
	line  int64 // waits for a P after one
	span  int64 // from each to the one before
}

// spinner is a goroutine that yields.
type spinner struct {
	yields
	g     int64 // -1: it has ended
	slot  int32
	class int32
	stack int32 // of the last
	all   int64 // yields
	ran   int64 // run intervals that ended in one of all
	last  int64 // the last one after a short run, or one after a pause
	// The stretch that it is in, and the longest.
	from             int64
	longFrom, longTo int64
	yielded          bool // and has not started since
}

// maxSched is the longest pause between a yield and the next start that is the
// scheduler's turn-around, not a wait behind others.
const maxSched = 10_000

type key struct{ class, stack int32 }

// place is where goroutines of one class yield.
type place struct {
	key
	yields
	gs    int64
	worst spinner
}

func newPlace(at key) place { return place{key: at} }

func (w *watcher) spinner(g int64) *spinner {
	i := w.gs.Find(g)
	if i == 0 {
		i = w.gs.Add(g)
		*w.gs.At(i) = spinner{g: g, slot: w.view.Slot(), last: -w.gap}
	}
	return w.gs.At(i)
}

func (w *watcher) stop(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System || g.RunAt < 0 {
		return
	}
	ns := d.Time - g.RunAt
	s := w.spinner(d.G)
	s.all++
	s.ran += ns
	if ns > w.t.ShortNs {
		s.class, s.stack = g.Class, d.Stack
		return
	}
	since := d.Time - s.last
	s.last = d.Time
	if since > w.gap {
		s.from = d.Time
		return
	}
	s.n++
	s.own += ns
	s.span += since
	s.class, s.stack = g.Class, d.Stack
	if s.last-s.from > s.longTo-s.longFrom {
		s.longFrom, s.longTo = s.from, s.last
	}
	s.yielded = true
	w.view.Mark(w.view.Slot(), w.mark)
	// Whoever stands in line could have run instead.
	if n := w.view.Queued(g.P); n > 0 {
		s.held += n * ns
	}
}

func (w *watcher) start(d *reference.Decision) {
	i := w.gs.Find(d.G)
	if i == 0 || !w.gs.At(i).yielded {
		return
	}
	s := w.gs.At(i)
	s.yielded = false
	w.view.Unmark(w.view.Slot(), w.mark)
	ns := d.Time - s.last
	s.line += ns
	if ns <= maxSched {
		s.sched += ns
	}
}

// exit accounts for a goroutine that has ended.
func (w *watcher) exit(d *reference.Decision) {
	if i := w.gs.Find(d.G); i != 0 {
		s := w.gs.At(i)
		s.stops = w.view.Ended().Stops
		w.fold(s)
		s.g = -1
		w.gs.Remove(d.G, i)
	}
}

// fold adds a goroutine to its class, if it spun, or if most of its stops were yields.
func (w *watcher) fold(s *spinner) {
	s.stops = max(s.stops, s.all) // of one that was lost sight of, fewer are known
	at := key{s.class, s.stack}
	if s.n >= w.t.MinYields && float64(s.n) >= w.t.Share*float64(s.stops) {
		if c := w.spinning.At(at); c != nil {
			c.add(&place{key: at, yields: s.yields, gs: 1, worst: *s})
		}
	} else if float64(s.all) >= w.t.Share*float64(s.stops) {
		if c := w.polite.At(at); c != nil {
			c.add(&place{key: at, yields: yields{n: s.all, stops: s.stops, own: s.ran}, gs: 1, worst: spinner{g: s.g}})
		}
	}
}

// add adds another place, and takes over where that yielded if it did so for longer.
func (c *place) add(x *place) {
	if c.gs == 0 || x.worst.longTo-x.worst.longFrom > c.worst.longTo-c.worst.longFrom {
		c.key, c.worst = x.key, x.worst
	}
	c.gs += x.gs
	c.n += x.n
	c.stops += x.stops
	c.own += x.own
	c.sched += x.sched
	c.held += x.held
	c.line += x.line
	c.span += x.span
}

// disguised are functions of the runtime that yield by themselves, with the
// reason that runtime.Gosched has: marking on behalf of an allocation, the
// clearing of large objects, and an exit while another goes on.
var disguised = []string{"runtime.gcAssistAlloc", "runtime.goschedguarded", "runtime.memclrNoHeapPointersChunked", "runtime.GC", "internal/runtime/exithook.Run"}

// own reports whether the program itself called runtime.Gosched, as far as the
// stack tells: without one, nobody knows.
func own(frames []string) bool {
	return len(frames) > 0 && !findings.Through(frames, disguised...)
}

// caller is the function that yields; "" if the stack does not tell.
func caller(frames []string) findings.Name {
	for _, frame := range frames {
		if !strings.HasPrefix(frame, "runtime.") {
			return findings.Name(findings.FunctionOf(frame))
		}
	}
	return ""
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var alive []*spinner
	for i := int32(1); i < w.gs.Len(); i++ {
		if s := w.gs.At(i); s.g >= 0 {
			alive = append(alive, s)
		}
	}
	slices.SortFunc(alive, func(x, y *spinner) int { return cmp.Compare(x.slot, y.slot) })
	for _, s := range alive {
		if g := w.view.ByID(s.g); g != nil {
			s.stops = g.Stops
		}
		w.fold(s)
	}
	out := findings.Each(f, w.byFunction(f), w.finding)
	slices.SortStableFunc(out, func(x, y findings.Finding) int {
		return cmp.Or(cmp.Compare(y.CostNs, x.CostNs), cmp.Compare(x.Title.String(), y.Title.String()))
	})
	out = append(out, findings.Each(f, w.polite.List, w.maybe)...)
	return out[:min(maxFindings, len(out))]
}

// byFunction sums up the cells of those that yield in one function, however they came there.
func (w *watcher) byFunction(f *findings.Facts) (out []*place) {
	at := map[findings.Name]*place{}
	for _, x := range w.spinning.List {
		frames := f.Frames(x.stack)
		if !own(frames) {
			continue
		}
		function := caller(frames)
		c := at[function]
		if function == "" || c == nil {
			at[function] = x
			out = append(out, x)
			continue
		}
		c.add(x)
	}
	return out
}

// major is the share of all running, and majorNs the time, from which on it is worth a note
// that it ends in yields after longer runs: the trace does not tell a courtesy from a poll.
const (
	major   = 0.5
	majorNs = 50_000_000
)

// maybe is a note about goroutines that yield after longer runs.
func (w *watcher) maybe(f *findings.Facts, c *place) []findings.Finding {
	frames := f.Frames(c.stack)
	if c.own < majorNs || c.n < w.t.MinYields || float64(c.own) < major*float64(f.RanNs()) || !own(frames) {
		return nil
	}
	x := findings.Finding{
		Severity: findings.Note, CostNs: c.own, ToNs: f.EndNs, Basis: findings.Suspected, Actors: c.actors(f),
	}
	where, times, mean := cmp.Or(caller(frames), f.Name(c.class)), quantity.Plural(c.n, "time", "times"), quantity.Duration(c.own/c.n)
	x.Headline = findings.Say("%s yields %s, after %s each: does it poll?", findings.Short(where), times, mean)
	x.Title = findings.Say("%s ran for %s and called runtime.Gosched %s, after %s on average: if it polls for something, that time is wasted",
		where, quantity.Duration(c.own), times, mean)
	x.Measured("yields", findings.Count(c.n), findings.Count(w.t.MinYields))
	x.Measured("of all stops of these goroutines", findings.Share(float64(c.n)/float64(c.stops)), findings.Share(w.t.Share))
	x.Measured("time that they ran before them", findings.Time(c.own))
	x.Measured("goroutines", findings.Count(c.gs))
	x.Advise("If %s polls for something, let it block: on a channel, or a sync.Cond that whoever makes it true signals.", where)
	x.Advise("If it computes, and yields as a courtesy, that is no longer needed: since Go 1.14 the runtime preempts what runs for 10 ms.")
	return []findings.Finding{x}
}

func (c *place) actors(f *findings.Facts) []findings.Actor {
	return []findings.Actor{f.Actor(findings.Cause, c.class, c.worst.g, c.stack)}
}

// maxFindings is how many places are reported, the costliest ones.
const maxFindings = 2

// maxTaken is the share of all running below which goroutines that are starved do not keep
// others from the Ps.
const maxTaken = 0.3

func (w *watcher) finding(f *findings.Facts, c *place) []findings.Finding {
	cost := c.own + c.sched + c.held
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		return nil
	}
	if s == findings.Critical {
		// What nobody else wanted is wasted, but it stops nobody.
		if h, ok := w.t.Grade.Severity(c.held, f.RecordedNs()); !ok || h == findings.Note {
			s = findings.Warning
		}
	}
	if float64(c.line) >= w.t.Starved*float64(c.own) && float64(c.own) < maxTaken*float64(f.RanNs()) {
		s = findings.Note
	}
	if s == findings.Note && float64(c.n)*1e9 >= w.t.Often*float64(f.RecordedNs()) {
		s = findings.Warning
	}
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: c.worst.longFrom, ToNs: c.worst.longTo, Basis: findings.Inferred, Actors: c.actors(f),
	}
	where, times := cmp.Or(caller(f.Frames(c.stack)), f.Name(c.class)), quantity.Plural(c.n, "time", "times")
	x.Headline = findings.Say("%s polls and yields, %s", findings.Short(where), times)
	x.Title = findings.Say("%s polled for something and called runtime.Gosched %s, each after %s on average", where, times, quantity.Duration(c.own/c.n))
	x.Measured("yields after a short run", findings.Count(c.n), findings.Time(w.t.ShortNs).With(" each"))
	x.Measured("of all stops of these goroutines", findings.Share(float64(c.n)/float64(c.stops)), findings.Share(w.t.Share))
	x.Measured("of all stops of the program", findings.Share(float64(c.n)/float64(max(1, w.view.Totals().Stops))))
	x.Measured("for each goroutine and second of it", findings.Count(int64(float64(c.n)*1e9/float64(max(1, c.span)))), findings.Number(w.t.PerSecond))
	x.Measured("goroutines", findings.Count(c.gs), findings.Count(w.t.MinYields).With(" yields each"))
	x.Measured("time that they ran for it", findings.Time(c.own))
	x.Measured("time that the scheduler took to come back to them", findings.Time(c.sched))
	x.Measured("time that others stood in the same P's queue meanwhile", findings.Time(c.held))
	x.Measured("longest stretch", findings.Time(c.worst.longTo-c.worst.longFrom))
	x.Advise("Let %s block for what it polls for: a channel, or a sync.Cond that whoever makes it true signals.", where)
	x.Advise("If a few looks are worth while because it mostly comes at once, look a handful of times, then block; to poll a device, sleep in between, longer each time.")
	x.Advise("Each yield goes through the global queue under the scheduler's lock, and may wake another P that finds nothing (golang/go#13527): the cost is felt beyond this goroutine, and grows with GOMAXPROCS.")
	return []findings.Finding{x}
}

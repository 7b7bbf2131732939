package fairness

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	// leastIdeal is the ideal service, ns, from which on a goroutine is judged by Jain's index
	// and the min-max ratio: a hundredth of a time slice. Below it, one thread wake-up (tens of
	// µs) or the trace's clock (64 ns) decides the share of a goroutine, and a million short
	// ones would hide how the long ones were treated.
	leastIdeal = 100_000

	// The ideal clock counts ticks of 2^-16 ns. Rounded to the nearest, 10^8
	// steps are off by less than 1 ns; it wraps after 78 hours, and only
	// differences over one active period are taken.
	tickBits = 16
	// maxStep is the most ns that the clock goes on in one step.
	maxStep = 1 << (63 - tickBits - 1)

	// Slowdowns are recorded in hundredths, from 1.00 to ten million.
	slowdownScale = 100
	maxSlowdown   = 1e7 * slowdownScale

	// Lags of more than an hour count as one hour in the quantile.
	maxLag = 3_600_000_000_000
)

// Accumulator judges fairness and pressure from one pass over a stream of
// decisions. Its memory depends on the numbers of goroutines alive at one time,
// of classes, and of Ps.
//
// The ideal is generalised processor sharing (A. Parekh, R. Gallager: A
// Generalized Processor Sharing Approach to Flow Control in Integrated Services
// Networks, IEEE/ACM ToN 1(3), 1993): while C Ps are usable and N goroutines
// active, each active one is served at the rate min(1, C/N). The rate is the
// same for all, so one clock that runs at it is enough: what a goroutine was
// due between two instants of an active period is the difference of the
// clock's readings.
type Accumulator struct {
	minIdeal uint64               // leastIdeal, in ticks
	gors     ids.Parts[goroutine] // by slot
	places   int                  // that goroutines have, or had: their order is that of the sums at the end
	free     []int32              // places
	now      int64
	gaps     int64 // ns before now that are not recorded

	runnable, running int64  // goroutines of the program
	clock             uint64 // ideal service of a goroutine that was always active, in ticks

	settled    int64          // the next three are right up to here: see settle
	some, full int64          // ns
	waiting    procs.Integral // runnable goroutines of the program
	windows    [len(windowLengths)]*window
	windowEnd  int64 // of the one that is over first
	age        age
	bypass     bypass
	waits      procs.Integral // runnable goroutines of the program, by single waits
	usable     int64          // Ps
	unclaimed  level
	procs      level // GOMAXPROCS, without those of which nothing is recorded

	slowdowns   *histogram.Histogram
	allServices service
	services    [services]service

	lags    *histogram.Histogram
	all     index
	maxLag  int64
	handles []int32 // of the classes
	classes []class // by the ledger's index of the class
}

// New returns an empty Accumulator.
func New() *Accumulator {
	a := &Accumulator{
		age:       age{width: firstAgeBin},
		bypass:    newBypass(),
		lags:      histogram.New(maxLag),
		minIdeal:  leastIdeal << tickBits,
		slowdowns: histogram.New(maxSlowdown),
	}
	for i, length := range windowLengths {
		a.windows[i] = newWindow(length)
	}
	a.windowEnd = windowLengths[0]
	return a
}

// Add processes the next block of the stream. It does not retain the block. Timestamps
// that go backwards are clamped.
func (a *Accumulator) Add(b *ledger.Block) {
	a.gors.Grow(b.Slots)
	a.handles = b.Classes
	ds, numbers := b.Decisions, b.Ps
	notes := b.Notes[:len(ds)]
	for i := range ds {
		d, n := &ds[i], &notes[i]
		if d.Time > a.now && !d.Kind.Annotates() { // the clock's steps are those of decisions
			a.advance(d.Time)
		}
		if n.Changed&ledger.Counts != 0 {
			a.setPs(&numbers[0])
			numbers = numbers[1:]
		}
		if n.Changed&ledger.Turned != 0 {
			a.turn(d, n)
		} else if n.Changed&ledger.Gap != 0 {
			a.gap(d.Wait)
		}
	}
}

func (a *Accumulator) setPs(ps *ledger.Ps) {
	a.usable = int64(ps.Usable)
	a.unclaimed.set(int64(ps.Unclaimed), a.now)
	a.procs.set(int64(ps.Recorded), a.now)
}

// level is a number that changes in steps, with its integral up to the last one.
type level struct {
	n, since int64
	integral procs.Integral
}

func (l *level) set(n, now int64) {
	if n != l.n {
		l.settle(now)
		l.n = n
	}
}

func (l *level) settle(now int64) {
	l.integral.Add(l.n, now-l.since)
	l.since = now
}

func (a *Accumulator) turn(d *reference.Decision, n *ledger.Note) {
	g, was := a.gors.At(n.G), n.Was
	if !d.Flags.OfProgram() {
		if g.place != 0 { // it was not known to be the runtime's until now
			g.waited = unknown
			a.stop(g, was, n.Since)
			a.drop(g)
		}
		return
	}
	// OPT: what is unseen has no place, and its record need not be read.
	if was == ledger.Unseen || g.place == 0 {
		if n.Now != ledger.Runnable && n.Now != ledger.Running {
			return
		}
		a.begin(g)
		was = ledger.Unseen
	}
	switch n.Now {
	case ledger.Runnable:
		if a.ready(g, d, was, n.Since) && d.Why != reference.WhyGosched {
			if a.bypass.full() {
				a.bypass.renumber(&a.age)
			}
			a.age.push(g, a.bypass.number(), a.now)
		}
	case ledger.Running:
		a.start(g, d, was, n.Since)
	default:
		if n.Now == ledger.Unseen && d.Why == reference.WhyLost {
			g.waited = unknown // its end is not recorded
		}
		a.stop(g, was, n.Since)
		if n.Now == ledger.Unseen {
			a.fold(g, n.Class)
			a.drop(g)
		}
	}
}

func (a *Accumulator) begin(g *goroutine) {
	*g = goroutine{waited: unknown}
	if n := len(a.free); n > 0 {
		g.place, a.free = a.free[n-1], a.free[:n-1]
	} else {
		a.places++
		g.place = int32(a.places)
	}
}

func (a *Accumulator) drop(g *goroutine) {
	a.free = append(a.free, g.place)
	g.place = 0
}

// advance lets time pass. Of what grows with it, only the clock is needed at once.
func (a *Accumulator) advance(to int64) {
	dt := to - a.now
	if to >= a.windowEnd { // as it is after any step that is too long for the clock
		a.closeWindows(to)
		dt = min(dt, maxStep)
	}
	a.now = to
	a.clock += idealTicks(dt, a.usable, a.runnable+a.running) // nobody reads it while nobody is active
}

// gap passes the next ns, which are not recorded.
func (a *Accumulator) gap(ns int64) {
	if ns <= 0 || ns > math.MaxInt64-a.now {
		return
	}
	a.settle()
	a.gaps += ns
	a.now += ns
	a.settled = a.now
	a.windowEnd = math.MaxInt64
	for _, w := range a.windows {
		w.skip(a.now, a.some, a.full)
		a.windowEnd = min(a.windowEnd, w.begin+w.length)
	}
}

// settle adds up what has held since it did so last. It comes before each change of
// what it adds up.
func (a *Accumulator) settle() {
	dt := a.now - a.settled
	a.settled = a.now
	if a.runnable > 0 {
		a.some += dt
		if a.running == 0 {
			a.full += dt
		}
		a.waiting.Add(a.runnable, dt)
	}
}

// addRunning follows a change of the number of goroutines that run by one.
func (a *Accumulator) addRunning(d int64) {
	if a.running == 0 || a.running+d == 0 {
		a.settle()
	}
	a.running += d
}

// idealTicks is dt, at most maxStep, x min(1, usable/active) in ticks, to the nearest.
func idealTicks(dt, usable, active int64) uint64 {
	ticks := uint64(dt) << tickBits
	if usable < active {
		ticks = shared(ticks, uint64(usable), uint64(active))
	}
	return ticks
}

// shared is ticks x usable/active, to the nearest.
func shared(ticks, usable, active uint64) uint64 {
	hi, lo := bits.Mul64(ticks, usable)
	lo, carry := bits.Add64(lo, active/2, 0)
	q, _ := bits.Div64(hi+carry, lo, active)
	return q
}

// ready reports whether it was news.
func (a *Accumulator) ready(g *goroutine, d *reference.Decision, was ledger.Activity, since int64) bool {
	if was == ledger.Runnable {
		return false
	}
	a.stop(g, was, since)
	if d.Flags&reference.FlagFirst != 0 {
		g.waited = partial
	}
	g.clock = a.clock
	a.settle()
	a.runnable++
	return true
}

func (a *Accumulator) start(g *goroutine, d *reference.Decision, was ledger.Activity, since int64) {
	switch was {
	case ledger.Running:
		return
	case ledger.Runnable:
	default: // not seen as runnable, or back from a system call
		g.waited, g.clock = unknown, a.clock
		a.addRunning(1)
		return
	}
	if g.aged != 0 {
		a.bypass.start(a.age.list.At(g.aged), d.Src == reference.SrcRunnext || d.Src == reference.SrcStealRunnext)
		a.age.remove(g, a.now)
	}
	wait := a.now - since
	streamed := wait // as the stream tells it, for the self-check
	if d.Wait >= 0 {
		streamed = d.Wait
	}
	a.waits.Add(1, streamed)
	a.owed(g)
	a.settle()
	a.runnable--
	a.running++
	g.wait += wait
	if g.waited == partial {
		g.waited = unknown
	} else {
		g.waited = wait
	}
}

// stop ends an activity that began at since, and with it the activation: the goroutine
// gets inactive, and what it got and what it was due are added up.
func (a *Accumulator) stop(g *goroutine, was ledger.Activity, since int64) {
	ns := a.now - since
	switch was {
	case ledger.Running:
		if g.waited >= 0 {
			a.slowdown(g.waited, ns)
		}
		a.addRunning(-1)
		g.service += ns
	case ledger.Runnable: // the stream does not say when it ran
		if g.aged != 0 {
			a.age.remove(g, a.now)
		}
		a.owed(g)
		a.waits.Add(1, ns)
		a.settle()
		a.runnable--
		g.wait += ns
	default:
		return
	}
	g.waited = unknown
	g.ideal += a.clock - g.clock
}

// owed notes the lag, ideal service minus service, of a runnable goroutine. It
// grows only while a goroutine is runnable, so looking at the end of each wait
// finds its maximum.
func (a *Accumulator) owed(g *goroutine) {
	ideal := g.ideal + a.clock - g.clock
	g.maxLag = max(g.maxLag, int64((ideal+1<<(tickBits-1))>>tickBits)-g.service)
}

// slowdown records (wait + run) / run. A run shorter than the trace's clock can
// tell counts as 1 ns.
func (a *Accumulator) slowdown(wait, run int64) {
	run = max(1, run)
	s := float64(wait)/float64(run) + 1
	a.allServices.add(s)
	a.services[histogram.Bucket(run, serviceBits)].add(s)
	if s *= slowdownScale; s > maxSlowdown {
		s = maxSlowdown
	}
	a.slowdowns.Add(int64(s))
}

// fold adds a goroutine that is over, and inactive, to its class.
func (a *Accumulator) fold(g *goroutine, ci int32) {
	for int(ci) >= len(a.classes) {
		a.classes = append(a.classes, class{})
	}
	c := &a.classes[ci]
	c.n++
	c.waits.add(g.wait)
	c.maxLag = max(c.maxLag, g.maxLag)
	a.maxLag = max(a.maxLag, g.maxLag)
	a.lags.Add(g.maxLag)
	if g.ideal >= a.minIdeal {
		x := float64(g.service) / (float64(g.ideal) / (1 << tickBits))
		c.shares.add(x)
		a.all.add(x)
	}
}

// Finish closes all intervals at end, the time of the last event in ns, and returns the results. open
// is the result of [ledger.Ledger.Live]. names returns start function and creator of the class with a
// handle; if it is nil, classes have no names. The Accumulator cannot be used afterwards.
func (a *Accumulator) Finish(end int64, open []ledger.Live, names func(class int32) (name, creator string)) (Result, Pressure) {
	if end > a.now {
		a.advance(end)
	}
	a.age.update(a.now)
	open = slices.Clone(open)
	slices.SortFunc(open, func(x, y ledger.Live) int {
		return cmp.Compare(a.gors.At(x.Slot).place, a.gors.At(y.Slot).place)
	})
	for _, o := range open {
		g := a.gors.At(o.Slot)
		if g.place == 0 {
			continue
		}
		g.waited = unknown // an activation that is not over has no slowdown
		a.stop(g, o.Activity, o.Since)
		a.fold(g, o.Class)
	}
	r := Result{
		Jain:        a.all.jain(),
		Judged:      a.all.n,
		MaxLagNs:    a.maxLag,
		P99LagNs:    min(a.lags.HDR().ValueAtQuantile(99), a.maxLag), // the histogram rounds up
		LittleError: gap(a.waiting.Float(), a.waits.Float()),
		Classes:     make([]Class, 0, len(a.classes)),
	}
	if a.allServices.n > 0 {
		slowdowns := a.slowdowns.HDR()
		r.Slowdown = Slowdown{
			Mean: a.allServices.mean(),
			P50:  min(float64(slowdowns.ValueAtQuantile(50))/slowdownScale, a.allServices.max),
			P99:  min(float64(slowdowns.ValueAtQuantile(99))/slowdownScale, a.allServices.max),
			Max:  a.allServices.max,
		}
	}
	r.Slowdown.ByService = deciles(&a.services)
	r.Bypass = a.bypass.result()
	for i := range a.classes {
		c := &a.classes[i]
		if c.n == 0 {
			continue
		}
		out := Class{
			ID: a.handles[i], N: c.n, Judged: c.shares.n, Jain: c.shares.jain(), Gini: c.waits.gini(),
			MinMax: c.shares.minMax(), MaxLagNs: c.maxLag,
		}
		if names != nil {
			out.Name, out.Creator = names(out.ID)
		}
		r.Classes = append(r.Classes, out)
	}
	slices.SortFunc(r.Classes, func(x, y Class) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.ID, y.ID))
	})

	p := Pressure{Windows: []PressureWindow{}, Age: Age{MaxNs: a.age.max, AtNs: a.age.at, BinNs: a.age.width, Bins: a.age.bins}}
	for _, w := range a.windows {
		if w.n > 0 {
			p.Windows = append(p.Windows, w.result())
		}
	}
	if recorded := a.now - a.gaps; recorded > 0 {
		p.Some = float64(a.some) / float64(recorded)
		p.Full = float64(a.full) / float64(recorded)
	}
	a.unclaimed.settle(a.now)
	a.procs.settle(a.now)
	if size := a.procs.integral.Float(); size > 0 {
		p.UnclaimedIdle = a.unclaimed.integral.Float() / size
	}
	return r, p
}

// gap is the relative difference of two non-negative numbers that should be
// equal.
func gap(x, y float64) float64 {
	if x == y {
		return 0
	}
	return math.Abs(x-y) / max(x, y)
}

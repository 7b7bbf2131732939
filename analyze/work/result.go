package work

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/waits"
)

// Units are the units of work that the trace shows, by kind: requests, jobs, tests and the like.
type Units struct {
	Kinds     []UnitKind `json:"kinds"`               // entry kinds first, then by time: at most 100
	Resources []Resource `json:"resources,omitempty"` // locks and pools of the whole trace, those waited for longest first, at most 20
	Reason    string     `json:"reason,omitempty"`    // why there is no unit; absent if there is one
	// Serves reports whether the program accepted connections, or began goroutines for requests.
	Serves bool `json:"-"`
}

// UnitKind is one kind of units: those of a route, a worker, a test function.
type UnitKind struct {
	Name  string `json:"name"`  // handler, test function or annotation; else the class; with -N for GOMAXPROCS N, as go test prints it, if benchmarks ran with several
	Basis string `json:"basis"` // "observed", "inferred", "ambiguous" (Alternative has the other reading), or "assumed" if --home sets it
	// How is the way in which units were found: "task", "region", "cycle", "lifetime",
	// "producer", "test", "benchmark", "calibration" (a benchmark run that determines b.N),
	// "phase" or "run" (of the program, or of a looping goroutine without a home).
	How string `json:"how"`
	// Entry is set if units begin from outside: by the network, a timer, or a goroutine that
	// does not wait for them; others are parts of units of other kinds.
	Entry           bool   `json:"entry"`
	Server          bool   `json:"server,omitempty"`            // units are requests: they begin with input from the network or an accepted connection
	Merged          bool   `json:"merged,omitempty"`            // a unit may hold several that followed each other without a wait between
	WokenForNothing int64  `json:"woken_for_nothing,omitempty"` // times that goroutines of the class were woken and found nothing to do
	Alternative     string `json:"alternative,omitempty"`       // what else could be the units, if Basis is "ambiguous"
	SinceNs         int64  `json:"since_ns,omitempty"`          // time from which on another home was found
	Open            int64  `json:"open"`                        // units that begin before the trace or a gap, or end after it; only in Concurrency
	Class           string `json:"class"`                       // start function of the goroutines
	// GivenBy is the calling function, and which of its calls if not the first, where one
	// call gave sync or errgroup the functions to run.
	GivenBy string `json:"given_by,omitempty"`
	Runs    string `json:"-"`              // with GivenBy: the function that the goroutines run
	Home    *Home  `json:"home,omitempty"` // absent if the goroutines do not come back to one
	Count   int64  `json:"count"`          // whole units that end in the window
	// Unnamed is the number of units of the class for which no stack shows the handler: of
	// this kind or another, mostly short, so that the latencies may be too long.
	Unnamed     int64      `json:"unnamed,omitempty"`
	PerS        Share      `json:"per_s"`       // whole units per second
	Concurrency Share      `json:"concurrency"` // mean number under way
	Latency     Latency    `json:"latency"`     // from when the unit's goroutine was made runnable to its end
	TotalNs     int64      `json:"total_ns"`    // sum of latencies
	RunningNs   int64      `json:"running_ns"`  // mean running time of a unit's own goroutine
	Path        []TimePart `json:"path"`        // composition of the time of all units, most first; sums to total_ns
	Slowest     []Slow     `json:"slowest"`     // at most 5
	// Bins are the units by latency, for drawings: an octave has 4 bins. Empty ones are left out.
	Bins []Bin `json:"-"`
	// Series are the units by their ends, for drawings.
	Series Series `json:"-"`
}

// Bin counts the units of a kind whose latency is in [FromNs, ToNs), and sums up where their time
// went.
type Bin struct {
	FromNs, ToNs int64 // bounds of the latency, ns
	Count        int64 // number of units
	// Parts are what their own goroutines did or waited for, longest first.
	Parts []BinPart
}

// BinPart is the time that the units in a [Bin] spent on one thing.
type BinPart struct {
	What string // what their goroutines did or waited for, as Leaf.What
	Ns   int64  // time, summed over the units, ns
}

// Share is a ratio without unit, such as a mean number or a rate per second.
type Share = float64

// Home is where the goroutines of a class wait for the next unit of work.
type Home struct {
	Function string `json:"function"` // full name
	Line     int64  `json:"line"`     // in its file
}

// Latency is a distribution of latencies, within 6 %.
type Latency struct {
	P50Ns     int64   `json:"p50_ns"`    // median
	P95Ns     int64   `json:"p95_ns"`    // 95th percentile
	P99Ns     int64   `json:"p99_ns"`    // 99th percentile
	MaxNs     int64   `json:"max_ns"`    // maximum
	Histogram []int64 `json:"histogram"` // bucket, count, bucket, count, …: an octave has 16 buckets
}

// Below returns the number of units that took less than ns nanoseconds. It is exact for powers of two;
// else all of the bucket in which ns lies are counted.
func (l *Latency) Below(ns int64) (n int64) {
	for i := 0; i+1 < len(l.Histogram); i += 2 {
		if least(int(l.Histogram[i])) < ns {
			n += l.Histogram[i+1]
		}
	}
	return n
}

// At returns the latency, in ns, of the unit with a rank: 1 is the fastest. It is interpolated within
// a bucket, and MaxNs for ranks beyond the last unit.
func (l *Latency) At(rank int64) int64 {
	for i := 0; i+1 < len(l.Histogram); i += 2 {
		from, n := int(l.Histogram[i]), l.Histogram[i+1]
		if rank <= n {
			low, wide := least(from), float64(least(from+1)-least(from))
			return min(low+int64(wide*(float64(rank)-0.5)/float64(n)), l.MaxNs)
		}
		rank -= n
	}
	return l.MaxNs
}

// Merge adds the units in o to l, and computes the percentiles anew.
func (l *Latency) Merge(o *Latency) {
	var h latencies
	for _, pairs := range [][]int64{l.Histogram, o.Histogram} {
		for i := 0; i+1 < len(pairs); i += 2 {
			h.add(int(pairs[i]), pairs[i+1])
		}
	}
	*l = h.result(max(l.MaxNs, o.MaxNs))
}

// TimePart is a part of the time of units.
type TimePart struct {
	Via *Via `json:"via,omitempty"` // absent if the unit's own goroutine did not wait
	Leaf
	// From is the function of the program's own module that leads to the library function of
	// the wait or call, most often; absent if that is its own, or none does.
	From string `json:"from,omitempty"`
	// Caller is the function of the program's own module that leads to Where, if the unit's own
	// goroutine waits for another one to do that.
	Caller    string `json:"caller,omitempty"`
	Hops      int64  `json:"hops,omitempty"`  // largest number of goroutines through which passed what the unit waited for, such as a lock
	Waits     int64  `json:"waits,omitempty"` // least number of waits for Via, by the goroutines of all units; the same in all parts with that Via
	Ns        int64  `json:"ns"`              // sum over all units
	TypicalNs int64  `json:"typical_ns"`      // of a typical unit: mean between the 40th and 60th percentile
	SlowNs    int64  `json:"slow_ns"`         // of a slow unit: mean above the 95th percentile, or the slowest if there are fewer than 20
	Tested    bool   `json:"-"`               // Where is a function of the module that is tested, or was built, and in no file of tests
}

// Own returns what the units' own goroutine did, or waited for, as Leaf.What or Via.What, and in which
// function; where is "" if it ran.
func (p *TimePart) Own() (what, where string) {
	if p.Via != nil {
		return p.Via.What, p.Via.Site
	}
	return p.What, p.Where
}

// LedBy returns the function of the owner's through which the goroutine came to Where, From or Caller; "" if
// that is the owner's own, or it is not known.
func (p *TimePart) LedBy() string {
	if what, where := p.Own(); what != p.What || where != p.Where {
		return p.Caller
	}
	return p.From
}

// Via is a wait of a unit's own goroutine.
type Via struct {
	What string `json:"what"` // "lock", "cond", "waitgroup", "channel", "select", "network", "pipe", "coroutine" or "sleep"
	Site string `json:"site"` // function
}

// Leaf is an activity: which class did what, and where.
type Leaf struct {
	Who string `json:"who,omitempty"` // class of the goroutine; absent if unknown
	// What it did: "running", "off-cpu" (its thread was on no CPU, by the kernel's records),
	// "runnable", "syscall", "child" (waits for a process), "gc-assist", "gc-sweep", "stw"
	// (stops the world), "lock", "cond" (a sync.Cond), "waitgroup", "channel", "select",
	// "network", "pipe", "coroutine", "sleep", "unknown", or "rest" for many things.
	What  string `json:"what"`
	Cause string `json:"cause,omitempty"` // of runnable: its cause, as in waits; or "queue" if it did that for another unit, before it served this one
	Where string `json:"where,omitempty"` // function of a wait, a system call or a stop of the world
}

// Resource is a place in the program where goroutines queue up.
type Resource struct {
	Site   string `json:"site"`    // function in which they wait
	What   string `json:"what"`    // "lock", "select" or "channel"
	Waits  int64  `json:"waits"`   // number of waits that ended
	WaitNs int64  `json:"wait_ns"` // sum of these waits
	LineNs int64  `json:"line_ns"` // time with at least one goroutine waiting
	// Places is the mean number of holders while there was a line, inferred from what ends
	// waits: rather too few, or several locks at one site.
	Places  Share    `json:"places"`
	Holders []Holder `json:"holders"` // longest first, at most 8
}

// Holder is a class that holds a resource while others wait for it.
type Holder struct {
	Who   string `json:"who"`   // its name
	Count int64  `json:"count"` // waits of others that it ended
	Ns    int64  `json:"ns"`    // time that it held the resource before that, while there was a line
}

// Slow is one of the slowest units of work of a kind, with what its time went into.
type Slow struct {
	G           int64        `json:"goroutine"`              // ID of the goroutine
	BeginNs     int64        `json:"begin_ns"`               // its beginning, ns since the first event of the trace
	EndNs       int64        `json:"end_ns"`                 // its end, ns since the first event of the trace
	Task        int64        `json:"task,omitempty"`         // ID of the task, or of that of a region, for --task; absent if none
	Logs        []Log        `json:"logs,omitempty"`         // messages of the task, in order; at most 32
	MoreLogs    int64        `json:"more_logs,omitempty"`    // number of further ones
	Regions     []TaskRegion `json:"regions,omitempty"`      // regions of the task on any goroutine, by their ends; at most 32
	MoreRegions int64        `json:"more_regions,omitempty"` // number of further ones
	Segments    []Segment    `json:"segments"`               // its time from begin to end: at most 256; further time is added to one of these with the same cause
}

// TaskRegion is a region of a task.
type TaskRegion struct {
	Name    string `json:"name"`      // type of the region
	G       int64  `json:"goroutine"` // ID of the goroutine
	BeginNs int64  `json:"begin_ns"`  // its beginning, ns since the first event of the trace
	EndNs   int64  `json:"end_ns"`    // its end, ns since the first event of the trace
}

// Log is a message that the program logged for a task.
type Log struct {
	AtNs int64  `json:"at_ns"`     // ns since the first event of the trace
	G    int64  `json:"goroutine"` // ID of the goroutine
	Text string `json:"text"`      // category and message; empty if not kept
}

// Segment is a part of a unit's time.
type Segment struct {
	Via *Via `json:"via,omitempty"` // absent if the unit's own goroutine did not wait
	Leaf
	Ns int64 `json:"ns"` // duration
}

// RoundTrip is where clients of net/http wait for an answer, up to twice for each: until the request is
// written, and until the answer comes (net/http, transport.go; Go 1.22 to 1.27).
const RoundTrip = "net/http.(*persistConn).roundTrip"

// mostKinds is how many kinds a result has.
const mostKinds = 100

// mostResources is how many resources it has.
const mostResources = 20

// Names are functions by which [Accumulator.Finish] names things in a result. All must be set.
type Names struct {
	Function func(name string) string // returns a function's name as reports write it
	Class    func(class int32) string // returns the name of the class with a handle
	Label    func(label int32) string // returns the type of tasks or regions with a handle
	Log      func(label int32) string // returns the log message with a handle
}

// Finish ends the stream at the time end, in ns, and returns the units of work. recorded is the
// recorded part of the window, in ns, the base of rates. The Accumulator must not be used
// afterwards.
func (a *Accumulator) Finish(end, recorded int64, n Names) Units {
	a.now = max(a.now, end)
	written, function := map[string]string{}, n.Function
	n.Function = func(name string) string {
		s, ok := written[name]
		if !ok {
			s = function(name)
			written[name] = s
		}
		return s
	}
	for at, c := range a.classes {
		if c.how == undecided {
			a.decide(c)
		}
		a.emitPhases(int32(at))
	}
	a.endRun(false)
	for _, at := range a.bySlot {
		if at != 0 {
			a.stay(a.lives.At(at))
			a.leaveRegions(a.lives.At(at), at)
		}
	}
	a.leaveTasks()
	a.runProgram()
	r := Units{Kinds: []UnitKind{}, Reason: "no unit of work ends in what was looked at"}
	kinds := a.ranked(recorded)
	if slices.ContainsFunc(kinds, func(x standing) bool { return x.count > 0 }) {
		r.Reason = ""
	}
	a.way = a.ways()
	for _, x := range kinds[:min(len(kinds), mostKinds)] {
		r.Kinds = append(r.Kinds, a.result(x, recorded, n))
	}
	r.Resources = a.shared(n)
	r.Serves = slices.ContainsFunc(a.classes, func(c *class) bool { return c.served })
	return r
}

// stay is for a goroutine that is there when the stream ends.
func (a *Accumulator) stay(l *life) {
	switch c := a.classOf(l); {
	case c.how != Run:
		a.leave(c, l, a.now)
	case l.blocked: // for good, maybe
		a.run(l, mark{l.since, l.head})
	default:
		a.run(l, a.mark(l))
	}
}

// program is what the kinds of units show of the program as a whole.
type program struct {
	tests  bool // package testing runs
	phases bool // main does one thing after another
	others bool // units begin from outside, and are neither phases nor the lives of a few goroutines
}

// standing is a kind, and what ranks it.
type standing struct {
	*kind
	entry, server bool
	name          string
}

// ranked returns the kinds that have units: entry kinds first, servers before others, then by their
// time.
func (a *Accumulator) ranked(recorded int64) (out []standing) {
	var p program
	for _, k := range a.kinds {
		if k.count+k.open == 0 {
			continue
		}
		main := a.classes[k.class].name
		out = append(out, standing{k, a.entry(k), a.server(k), a.nameOf(k, a.raw)})
		p.tests = p.tests || k.how == Test || k.how == Benchmark || (k.how == Task || k.how == Region) && a.places.named[main].pkg == "testing"
		p.phases = p.phases || k.how == Phase && k.kindKey.name != main
		p.others = p.others || a.entry(k) && k.how != Phase && !a.lone(k) && !lasting(k, recorded)
	}
	for i := range out {
		x := &out[i]
		x.entry = x.entry && a.entryIn(p, x, recorded)
	}
	class := func(x standing) string { return a.places.functions[a.classes[x.class].name] }
	slices.SortFunc(out, func(x, y standing) int {
		return cmp.Or(first(x.entry, y.entry), first(x.server, y.server), cmp.Compare(y.total, x.total), cmp.Compare(y.count, x.count),
			cmp.Compare(x.name, y.name), cmp.Compare(class(x), class(y)), cmp.Compare(x.how.String(), y.how.String()), cmp.Compare(y.open, x.open))
	})
	return out
}

// server reports whether the units of a kind are requests that come in, and not few.
func (a *Accumulator) server(k *kind) bool {
	c := a.classes[k.class]
	return k.count >= fewUnits && !c.carries && !c.home.carries && (c.home.server || c.served)
}

// lone reports whether the units of a kind are the lives of a few goroutines.
func (a *Accumulator) lone(k *kind) bool {
	return k.count < fewUnits && k.how == Lifetime && !a.classes[k.class].served
}

// lasting reports whether the units of a kind are lives that take three quarters of the time, as those
// of the workers of a pool.
func lasting(k *kind, recorded int64) bool {
	return k.how == Lifetime && 4*k.total > 3*recorded*k.count
}

// entryIn reports whether the units of a kind that may begin from outside do so in a program.
// Phases of main do only where no others do, and then the lives of a few goroutines are parts of
// them. Where others do, those that live for three quarters of the time do not. Where package testing runs,
// what tests begin is a part of theirs, but requests that they make in numbers.
func (a *Accumulator) entryIn(p program, x *standing, recorded int64) bool {
	switch {
	case x.how == Phase:
		return p.phases && !p.others
	case x.how != Cycle && x.how != Lifetime && x.how != Producer:
		return true
	case p.tests && !x.server:
		return false
	case p.others && !x.server && lasting(x.kind, recorded):
		return false
	case !a.lone(x.kind):
		return true
	case p.others:
		return 2*x.longest <= recorded
	}
	return !p.phases
}

// first orders what has a property before what has not.
func first(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func (a *Accumulator) result(x standing, recorded int64, n Names) UnitKind {
	k, c := x.kind, a.classes[x.class]
	out := UnitKind{
		Name: a.nameOf(k, n), Basis: "observed", How: k.how.String(), Entry: x.entry, Server: x.server, Open: k.open,
		Class: n.Function(a.places.functions[c.name]), Count: k.count, TotalNs: k.total,
		Latency: k.latency.result(k.longest), Path: k.path(a, n), Slowest: []Slow{}, Bins: k.byLatency(), Series: k.series.result(a.opt.From),
	}
	for i := range out.Path {
		if p := &out.Path[i]; p.Via == nil && p.What == activities[running] {
			out.RunningNs += p.Ns
		}
	}
	out.RunningNs /= max(1, k.count)
	if c.lent != 0 {
		out.GivenBy, out.Runs = n.Function(a.places.functions[c.by]), n.Class(c.lent)
		if c.call > 1 {
			out.GivenBy += fmt.Sprintf(" (call %d)", c.call)
		}
	}
	if u := a.unnamed(k); u != nil {
		out.Unnamed = u.count
	}
	if k.procs > 1 && slices.ContainsFunc(a.kinds, func(x *kind) bool { return x.how == k.how && x.procs != k.procs }) {
		out.Name += fmt.Sprintf("-%d", k.procs)
	}
	switch k.how {
	case Cycle, Producer:
		a.describeCycle(&out, c, n)
	case Phase:
		out.Basis = "inferred"
	}
	if recorded > 0 {
		out.PerS, out.Concurrency = float64(k.count)*1e9/float64(recorded), float64(k.inside)/float64(recorded)
	}
	for i := range k.slowest {
		out.Slowest = append(out.Slowest, a.slow(&k.slowest[i], n))
	}
	return out
}

// unnamed returns the kind of units that are found like those of k, of which no stack shows the
// handler; nil if there is none, or k is it.
func (a *Accumulator) unnamed(k *kind) *kind {
	u := a.byKind[kindKey{class: k.class, name: a.classes[k.class].name, how: k.how, by: k.by}]
	if u == k || k.how != Cycle && k.how != Producer && k.how != Lifetime {
		return nil
	}
	return u
}

// describeCycle records how the home of a kind was found.
func (a *Accumulator) describeCycle(out *UnitKind, c *class, n Names) {
	home := c.tree.nodes[c.home.node]
	out.Basis, out.Home = "inferred", &Home{n.Function(a.places.functions[home.function]), int64(home.at)}
	out.WokenForNothing, out.SinceNs = c.woken, c.since
	f := c.home.family
	out.Merged = (f == receive || f == selects || f == cond) && c.busy > 7*(c.busy+c.idle)/10
	switch {
	case c.home.given != 0:
		out.Basis = "assumed"
	case c.home.byName:
		out.Basis, out.Alternative = "ambiguous", "the class may be a client that paces itself: only the name of a function says that it serves"
	case c.home.few:
		out.Basis, out.Alternative = "ambiguous", "the goroutines may not come back: they wait a few times only"
	}
}

// entry reports whether the units of a kind begin from outside, or most are at least not known to be
// parts of others.
func (a *Accumulator) entry(k *kind) bool {
	if k.how != Cycle && k.how != Lifetime && k.how != Producer {
		return k.how != undecided && k.how != Calibration && (k.how != Run || a.places.isMain(a.classes[k.class].name))
	}
	c := a.classes[k.class]
	return k.count > 0 && k.entries >= k.parts && !c.carries && !c.home.carries && (c.home.server || c.served || a.places.named[k.name].own || k.name == c.name && a.places.named[c.by].own)
}

func (a *Accumulator) leaf(c *cell, n Names) Leaf {
	l := Leaf{What: activities[c.activity()], Where: n.Function(a.places.functions[c.site()])}
	if c.class() != 0 {
		l.Who = a.actor(c.class(), n)
	}
	switch {
	case c.queue():
		l.Cause = "queue"
	case c.cause() > 0:
		l.Cause = string(waits.Causes()[c.cause()-1])
	}
	return l
}

func (a *Accumulator) via(w ownWait, n Names) *Via {
	if w.what() == notKnown {
		return nil
	}
	return &Via{activities[w.what()], n.Function(a.places.functions[w.site()])}
}

func (a *Accumulator) slow(s *slow, n Names) Slow {
	out := Slow{G: s.g, BeginNs: s.from, EndNs: s.to, Task: s.task, MoreLogs: s.moreLogs, MoreRegions: s.moreRegions, Segments: []Segment{}}
	for _, l := range s.logs {
		out.Logs = append(out.Logs, Log{l.at, l.g, n.Log(l.label)})
	}
	for _, r := range s.regions {
		out.Regions = append(out.Regions, TaskRegion{n.Label(r.label), r.g, r.from, r.to})
	}
	for i := len(s.path) - 1; i >= 0; i-- {
		x := &s.path[i]
		out.Segments = append(out.Segments, Segment{a.via(x.via(), n), a.leaf(&x.cell, n), x.ns})
	}
	return out
}

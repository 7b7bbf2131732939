package requests

import (
	"cmp"
	"slices"
	"sort"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Bounds against programs that annotate much, and hostile input.
const (
	maxTypes   = 200     // of tasks, and of regions
	maxOpen    = 1 << 16 // tasks, and regions
	maxLogs    = 32      // of a task
	maxParts   = 32      // of a task
	maxSlowest = 5       // of a type
	longestNs  = 3_600_000_000_000
)

// StateTimes sets s to what a goroutine, by its slot in the ledger, has done up to a time, ns.
type StateTimes interface {
	At(s *breakdown.TimeByState, slot int32, at int64)
}

// Options of an [Accumulator].
type Options struct {
	// From and To bound the window, ns; To of 0 is the end of the stream. A request is
	// counted where it begins; of its time the part inside counts.
	From, To int64
	// Only, if set, says of which goroutines and classes (handles) the requests are
	// counted that they begin.
	Only func(g int64, class int32) bool
}

// Accumulator follows the tasks and regions of a stream. It is not safe for concurrent
// use. Its memory depends on how many are open at one time, and on the types.
type Accumulator struct {
	opt    Options
	states StateTimes
	now    int64

	tasks, regions kinds
	open           map[int64]*task
	on             []*goroutine // by slot: those that are in a region, or began a task
	busy           int          // of them there are
	regionsOpen    int
	idle           []*goroutine // to be used again, as done is
	done           []*task
	omitted        int64

	block *ledger.Block
	waits []waits.EndedWait // of the block, that were not taken yet

	// Scratch, since what is handed to Lives escapes: a region that ends, and a part of a task.
	ended named
	since Spent
}

// kinds are the types of tasks, or of regions.
type kinds struct {
	by   map[int32]*account // by handle of the name
	more *account           // of further types
}

// account is that of one type.
type account struct {
	label   int32
	Type    Type
	slowest []named
	lengths *hdrhistogram.Histogram
}

// named is a request with the handles of its texts.
type named struct {
	Request
	logs, parts []int32
}

// goroutine is one that does something for requests.
type goroutine struct {
	causes  [waits.NumCauses]int64 // of its waits since it became one
	regions []region               // the innermost last
	tasks   []*task                // open ones that it began; each knows its place
}

// region is one that is open.
type region struct {
	label int32
	task  *task // nil for none, or one that has ended
	g     int64
	from  int64
	since Spent // of its goroutine then
	class int32
	outer bool // it is the outermost one of its task on its goroutine
}

// task is one that is open.
type task struct {
	label int32
	named
	slot    int32      // of who began it; 0 once that has ended
	place   int        // in the tasks of who began it
	others  int        // goroutines in regions of it, without who began it
	own     int        // regions of it on that goroutine
	working bool       // who began it works for it
	since   Spent      // of that goroutine when it began to
	members set[int64] // goroutines that worked for it
	open    set[int32] // slots of those that are in regions of it
}

// New returns an Accumulator that has seen nothing.
func New(o Options) *Accumulator {
	return &Accumulator{
		opt: o, open: map[int64]*task{},
		tasks: kinds{by: map[int32]*account{}}, regions: kinds{by: map[int32]*account{}},
	}
}

// Follow makes l what tells of the goroutines' lives.
func (a *Accumulator) Follow(l StateTimes) { a.states = l }

// Begin processes the waits that end in the block that comes next, in their order.
func (a *Accumulator) Begin(b *ledger.Block, ended []waits.EndedWait) { a.block, a.waits = b, ended }

// End ends a block.
func (a *Accumulator) End() {
	if a.busy > 0 {
		a.takeWaits(len(a.block.Decisions))
	}
	a.block, a.waits = nil, nil
}

// takeWaits processes the waits that ended with the decisions up to number at.
func (a *Accumulator) takeWaits(at int) {
	for len(a.waits) > 0 && int(a.waits[0].At) <= at {
		w := &a.waits[0]
		if g := a.at(a.block.Notes[w.At].G); g != nil {
			for i, ns := range w.Causes {
				g.causes[i] += ns
			}
		}
		a.waits = a.waits[1:]
	}
}

// Annotated processes an annotation, decision number i of the block. The lives of the
// goroutines must be followed up to it.
func (a *Accumulator) Annotated(i int) {
	a.takeWaits(i)
	d, slot := &a.block.Decisions[i], a.block.Notes[i].G
	a.now = max(a.now, d.Time)
	switch d.Kind {
	case reference.KindTaskBegin:
		a.beginTask(d, slot)
	case reference.KindTaskEnd:
		a.endTask(d)
	case reference.KindRegionBegin:
		a.beginRegion(d, slot)
	case reference.KindRegionEnd:
		a.endRegion(d, slot)
	case reference.KindLog:
		if t := a.open[d.By]; t != nil {
			if len(t.Logs) < maxLogs {
				t.Logs, t.logs = append(t.Logs, Log{AtNs: d.Time, G: d.G}), append(t.logs, d.Label)
			} else {
				t.MoreLogs++
			}
		}
	}
}

// Ended is called before the goroutine of decision number i is forgotten.
func (a *Accumulator) Ended(i int) {
	if a.busy == 0 {
		return
	}
	a.takeWaits(i)
	d, slot := &a.block.Decisions[i], a.block.Notes[i].G
	a.now = max(a.now, d.Time)
	g := a.at(slot)
	if g == nil {
		return
	}
	for i := len(g.regions) - 1; i >= 0; i-- {
		a.left(&g.regions[i])
		a.close(slot, g)
	}
	for _, t := range g.tasks {
		a.rest(t)
		t.slot = 0
	}
	a.forget(slot)
}

// left counts a region that does not end.
func (a *Accumulator) left(r *region) {
	if a.of(r.g, r.class) && a.begins(r.from) {
		a.regions.of(r.label).Type.Open++
	}
}

// at returns the record of a slot, or nil.
func (a *Accumulator) at(slot int32) *goroutine {
	if uint(slot) < uint(len(a.on)) {
		return a.on[slot]
	}
	return nil
}

// goroutine returns the record of a slot, a new one if there is none.
func (a *Accumulator) goroutine(slot int32) *goroutine {
	if g := a.at(slot); g != nil {
		return g
	}
	if n := int(slot) + 1 - len(a.on); n > 0 {
		a.on = append(a.on, make([]*goroutine, n)...)
	}
	var g *goroutine
	if n := len(a.idle); n > 0 {
		g, a.idle = a.idle[n-1], a.idle[:n-1]
		*g = goroutine{regions: g.regions[:0], tasks: g.tasks[:0]}
	} else {
		g = &goroutine{}
	}
	a.on[slot] = g
	a.busy++
	return g
}

// forget removes the record of a slot.
func (a *Accumulator) forget(slot int32) {
	a.idle = append(a.idle, a.on[slot])
	a.on[slot] = nil
	a.busy--
}

// spent sets s to what the goroutine at a slot has done by now.
func (a *Accumulator) spent(s *Spent, slot int32) {
	a.states.At(&s.TimeByState, slot, a.now)
	if g := a.at(slot); g != nil {
		s.Causes = g.causes
	} else {
		s.Causes = [waits.NumCauses]int64{}
	}
}

// sub leaves of s what has been done since then.
func (s *Spent) sub(then *Spent) {
	s.Sub(&then.TimeByState)
	for i := range s.Causes {
		s.Causes[i] -= then.Causes[i]
	}
	s.fit()
}

// addSince adds to t what the goroutine at a slot has done since then.
func (a *Accumulator) addSince(t *task, slot int32, then *Spent) {
	s := &a.since
	a.spent(s, slot)
	s.sub(then)
	t.add(s)
}

// fit lets causes not be more than the time in which the goroutine was runnable: a wait
// that was under way when a part began counts in it whole, since its causes are known at
// its end.
func (s *Spent) fit() {
	var sum int64
	for _, ns := range s.Causes {
		sum += ns
	}
	if sum <= s.RunnableNs || sum == 0 {
		return
	}
	left, most := s.RunnableNs, 0
	for i, ns := range s.Causes {
		s.Causes[i] = int64(float64(ns) * float64(s.RunnableNs) / float64(sum))
		left -= s.Causes[i]
		if ns > s.Causes[most] {
			most = i
		}
	}
	s.Causes[most] += left
}

func (s *Spent) add(o *Spent) {
	s.TimeByState.Add(&o.TimeByState)
	for i := range s.Causes {
		s.Causes[i] += o.Causes[i]
	}
}

func (a *Accumulator) beginTask(d *reference.Decision, slot int32) {
	if a.open[d.By] != nil {
		return // a damaged trace
	}
	if len(a.open) >= maxOpen {
		a.omitted++
		return
	}
	t := a.newTask()
	t.label, t.slot = d.Label, slot
	t.Task, t.G, t.Class, t.FromNs = d.By, d.G, d.Class, d.Time
	t.members.add(d.G)
	a.open[d.By] = t
	if slot != 0 {
		g := a.goroutine(slot)
		t.place = len(g.tasks)
		g.tasks = append(g.tasks, t)
		a.work(t)
	}
}

// newTask returns one of which nothing is known.
func (a *Accumulator) newTask() *task {
	n := len(a.done)
	if n == 0 {
		return &task{}
	}
	t := a.done[n-1]
	a.done = a.done[:n-1]
	*t = task{
		named:   named{Request: Request{Logs: t.Logs[:0], Parts: t.Parts[:0]}, logs: t.logs[:0], parts: t.parts[:0]},
		members: t.members.none(), open: t.open.none(),
	}
	return t
}

// work has who began a task work for it, if that is so.
func (a *Accumulator) work(t *task) {
	if !t.working && t.slot != 0 && (t.own > 0 || t.others == 0) {
		t.working = true
		a.spent(&t.since, t.slot)
	}
}

// rest is the end of that.
func (a *Accumulator) rest(t *task) {
	if t.working {
		a.addSince(t, t.slot, &t.since)
		t.working = false
	}
}

func (a *Accumulator) endTask(d *reference.Decision) {
	t := a.open[d.By]
	if t == nil {
		if a.begins(d.Time) && a.of(d.G, d.Class) {
			a.tasks.of(d.Label).Type.Before++
		}
		return
	}
	delete(a.open, d.By)
	a.rest(t)
	for _, slot := range t.open.sorted() {
		a.leave(t, slot)
	}
	if t.slot != 0 {
		a.on[t.slot].drop(t)
		a.release(t.slot)
	}
	t.ToNs, t.Goroutines = a.now, int64(t.members.len())
	if len(t.Logs) == 0 {
		t.Logs = nil
	}
	if len(t.Parts) == 0 {
		t.Parts = nil
	}
	if a.finish(&a.tasks, t.label, &t.named) {
		t.Logs, t.Parts, t.logs, t.parts = nil, nil, nil, nil // they are the result's
	}
	a.done = append(a.done, t)
}

// drop removes a task from those that g began.
func (g *goroutine) drop(t *task) {
	last := len(g.tasks) - 1
	g.tasks[t.place] = g.tasks[last]
	g.tasks[t.place].place = t.place
	g.tasks = g.tasks[:last]
}

// leave removes the goroutine at a slot from a task, which ends before its regions do.
func (a *Accumulator) leave(t *task, slot int32) {
	g := a.on[slot]
	for i := range g.regions {
		r := &g.regions[i]
		if r.task != t {
			continue
		}
		if r.outer && slot != t.slot {
			a.addSince(t, slot, &r.since)
		}
		a.part(t, r)
		r.task = nil
	}
}

// release forgets a goroutine, if there is nothing more that it does for requests.
func (a *Accumulator) release(slot int32) {
	if g := a.on[slot]; len(g.tasks)+len(g.regions) == 0 {
		a.forget(slot)
	}
}

func (a *Accumulator) beginRegion(d *reference.Decision, slot int32) {
	if slot == 0 || a.regionsOpen >= maxOpen {
		a.omitted++
		return
	}
	g := a.goroutine(slot)
	r := g.newRegion()
	r.label, r.g, r.from, r.class, r.outer = d.Label, d.G, d.Time, d.Class, true
	a.spent(&r.since, slot)
	a.regionsOpen++
	if t := a.open[d.By]; t != nil {
		r.task = t
		t.members.add(d.G)
		t.open.add(slot)
		for i := range g.regions[:len(g.regions)-1] {
			r.outer = r.outer && g.regions[i].task != t
		}
		switch {
		case slot == t.slot:
			t.own++
			a.work(t)
		case r.outer:
			if t.others++; t.own == 0 {
				a.rest(t)
			}
		}
	}
}

// newRegion returns a further region of g, of no task. The caller fills in the rest.
func (g *goroutine) newRegion() *region {
	if n := len(g.regions); n < cap(g.regions) {
		g.regions = g.regions[:n+1]
	} else {
		g.regions = append(g.regions, region{})
	}
	r := &g.regions[len(g.regions)-1]
	r.task = nil
	return r
}

func (a *Accumulator) endRegion(d *reference.Decision, slot int32) {
	g := a.at(slot)
	if g != nil {
		// The innermost one, unless the trace is damaged.
		for i := len(g.regions) - 1; i >= 0; i-- {
			if g.regions[i].label == d.Label {
				for range len(g.regions) - 1 - i {
					a.close(slot, g)
				}
				a.closeRegion(d, slot, g)
				return
			}
		}
	}
	if a.begins(d.Time) && a.of(d.G, d.Class) {
		a.regions.of(d.Label).Type.Before++
	}
}

// closeRegion ends the innermost region of a goroutine.
func (a *Accumulator) closeRegion(d *reference.Decision, slot int32, g *goroutine) {
	r := &g.regions[len(g.regions)-1]
	x := &a.ended
	*x = named{Request: Request{G: d.G, Class: r.class, FromNs: r.from, ToNs: a.now, Goroutines: 1}}
	a.spent(&x.Spent, slot)
	x.Spent.sub(&r.since)
	if r.task != nil {
		x.Task = r.task.Task
	}
	label := r.label
	a.close(slot, g)
	a.finish(&a.regions, label, x)
	a.release(slot)
}

// close removes the innermost region of a goroutine, and tells its task.
func (a *Accumulator) close(slot int32, g *goroutine) {
	r := &g.regions[len(g.regions)-1]
	if t := r.task; t != nil {
		a.part(t, r)
		if r.outer {
			t.open.remove(slot)
		}
		switch {
		case slot == t.slot:
			if t.own--; t.own == 0 && t.others > 0 {
				a.rest(t)
			}
		case r.outer:
			a.addSince(t, slot, &r.since)
			t.others--
			a.work(t)
		}
	}
	g.regions = g.regions[:len(g.regions)-1]
	a.regionsOpen--
}

// part notes a region of a task that is over.
func (a *Accumulator) part(t *task, r *region) {
	if len(t.Parts) == maxParts {
		t.MoreParts++
		return
	}
	t.Parts, t.parts = append(t.Parts, Part{FromNs: r.from, ToNs: a.now, G: r.g}), append(t.parts, r.label)
}

// of returns the account of a type.
func (k *kinds) of(label int32) *account {
	x := k.by[label]
	switch {
	case x != nil:
	case len(k.by) < maxTypes:
		x = newAccount(label)
		k.by[label] = x
	default:
		if k.more == nil {
			k.more = newAccount(0)
		}
		x = k.more
	}
	return x
}

func newAccount(label int32) *account {
	return &account{label: label, lengths: hdrhistogram.New(1, longestNs, 2)}
}

// of reports whether requests count that goroutine g of a class began.
func (a *Accumulator) of(g int64, class int32) bool {
	return a.opt.Only == nil || a.opt.Only(g, class)
}

// begins reports whether a time lies in the window.
func (a *Accumulator) begins(at int64) bool {
	return at >= a.opt.From && (a.opt.To <= 0 || at < a.opt.To)
}

// finish counts a request that is over, and reports whether it is kept.
func (a *Accumulator) finish(k *kinds, label int32, x *named) bool {
	from, to := max(x.FromNs, a.opt.From), x.ToNs
	if a.opt.To > 0 {
		to = min(to, a.opt.To)
	}
	begins := a.begins(x.FromNs)
	if !a.of(x.G, x.Class) || !begins && to <= from {
		return false
	}
	t, ns := k.of(label), max(0, to-from)
	t.Type.TotalNs += ns
	t.Type.add(&x.Spent)
	return begins && t.count(x, ns)
}

// count counts a request that took so long, and reports whether it is among the slowest.
func (t *account) count(x *named, ns int64) bool {
	t.Type.Count++
	t.Type.MaxNs = max(t.Type.MaxNs, ns)
	_ = t.lengths.RecordValue(min(ns, longestNs)) // within its range
	s := t.slowest
	at := sort.Search(len(s), func(i int) bool { return ns > s[i].ToNs-s[i].FromNs })
	if at == maxSlowest {
		return false
	}
	if len(s) == maxSlowest {
		s = s[:maxSlowest-1]
	}
	t.slowest = slices.Insert(s, at, *x)
	return true
}

// Finish ends the account, and returns it. name gives that of a type, text what a log
// says.
func (a *Accumulator) Finish(name, text func(label int32) string) Result {
	for _, t := range a.open {
		if a.of(t.G, t.Class) && a.begins(t.FromNs) {
			a.tasks.of(t.label).Type.Open++
		}
	}
	for _, g := range a.on {
		if g == nil {
			continue
		}
		for i := range g.regions {
			a.left(&g.regions[i])
		}
	}
	return Result{Tasks: a.tasks.result(name, text), Regions: a.regions.result(name, text), Omitted: a.omitted}
}

// result gives the types, that of the most time first.
func (k *kinds) result(name, text func(label int32) string) []Type {
	var out []Type
	for _, x := range k.by {
		out = append(out, x.result(name(x.label), name, text))
	}
	slices.SortFunc(out, func(x, y Type) int {
		return cmp.Or(cmp.Compare(y.TotalNs, x.TotalNs), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Name, y.Name))
	})
	if k.more != nil {
		out = append(out, k.more.result("(other types)", name, text))
	}
	return out
}

func (x *account) result(of string, name, text func(label int32) string) Type {
	t := x.Type
	t.Name = of
	if t.Count > 0 {
		t.P50Ns, t.P99Ns = min(x.lengths.ValueAtQuantile(50), t.MaxNs), min(x.lengths.ValueAtQuantile(99), t.MaxNs)
	}
	for i := range x.slowest {
		s := &x.slowest[i]
		for j, label := range s.logs {
			s.Logs[j].Text = text(label)
		}
		for j, label := range s.parts {
			s.Parts[j].Name = name(label)
		}
		t.Slowest = append(t.Slowest, s.Request)
	}
	return t
}

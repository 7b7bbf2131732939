package kernel

import (
	"errors"
	"io"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	maxTasks    = 1 << 16 // threads that are told apart
	maxClasses  = 2000    // as in package breakdown
	maxSampled  = 8192    // points of the trace that are kept to compare the clocks
	maxBacklog  = 1 << 18 // records that are
	longIdleNs  = 1_000_000
	beforeStart = 1_000_000_000 // records that are so much older than the trace are not compared
)

// Options select what an [Accumulator] counts. The zero value means all of the trace.
type Options struct {
	// From and To bound the window of what is counted, [From, To), in ns since the first event
	// of the trace; To of 0 is its end.
	From, To int64
	// Only, if set, reports whether the goroutine with ID g, of the class with a handle, counts in
	// Machine.Classes.
	Only func(g int64, class int32) bool
}

// Accumulator merges the records of the kernel's scheduler with the decisions of a trace,
// and splits the running time of goroutines into time on a CPU and off it.
// [Accumulator.Sample] is called first, then Start, then Add with each block. It is not
// safe for concurrent use.
type Accumulator struct {
	opt Options
	r   *Reader

	points []Point
	every  int // of them one is kept
	passed int
	known  map[int32]bool

	backlog []Record // that were read to compare the clocks
	next    Record
	more    bool // next is one
	clock   Clock
	base    int64 // time of the records at the trace's first event
	first   int64 // ns of the trace: from when to when there are records
	last    int64
	ended   bool // last is that of the last record
	begun   bool

	cpus    []cpu
	tasks   map[int32]*task
	rest    task             // all beyond maxTasks
	runs    ids.Parts[*task] // by slot: the thread that the goroutine runs on
	sums    ids.Parts[part]  // by slot
	slots   int32
	class   []part          // by the ledger's index of the class
	ps      ids.Parts[part] // by P: of goroutines of the program
	off     OffBy
	stops   Stops
	wakes   Wakeups
	idling  idling
	paths   [numPaths]path
	still   int   // threads of the program that are stopped
	stillAt int64 // since when

	handles []int32
	now     int64
	inside  [2]int64 // events at which their thread was on a CPU, and not
	lost    int64
	missing int64 // switches without a record

	stretches *ledger.CPUs // of the present block
	onPs      []*task      // by P: the thread that ran a goroutine there last
}

// part is what is known of running time, ns.
type part struct{ off, unknown int64 }

func (p *part) add(q part) {
	p.off += q.off
	p.unknown += q.unknown
}

type cpu struct {
	known     bool // tid is on it since since
	tid       int32
	since     int64
	displaced []*task // runnable, run a goroutine, and were on it last
	CPUUse
}

type task struct {
	tid, group int32
	comm       Comm
	ours       bool // it ran goroutines
	recorded   bool // there were records about it
	strange    bool // it is not known which one of the records it is
	on         presence
	how        byte  // if off: as Record.State; a woken one is 'R'
	woken      bool  // if off: it was
	cpu        int32 // that it is or was on; NoCPU if unknown
	at         int64 // of the last record about it
	booked     int64 // if off: up to when
	cpuNs      int64
	insteadNs  int64

	thread int32 // its number in the trace; 0 if not known
	runs   bool  // a goroutine, as the trace has it
	slot   int32
	p      int32 // where; NoP if the goroutine is not the program's
	onP    int32 // where, whosever the goroutine is
	from   int64
	run    part
	wakeup
}

type presence uint8

const (
	unknown presence = iota
	isOn
	isOff
)

// NewAccumulator returns an Accumulator for the records of r.
func NewAccumulator(r *Reader, o Options) *Accumulator {
	if o.To <= 0 {
		o.To = math.MaxInt64
	}
	return &Accumulator{opt: o, r: r, every: 1, last: math.MinInt64, known: map[int32]bool{}, tasks: map[int32]*task{}, stretches: &ledger.CPUs{}}
}

// Sample records that a thread had an event at a raw trace time, ns, and so was on a CPU.
func (m *Accumulator) Sample(at, thread int64) {
	if thread <= 0 || thread >= maxTID {
		return
	}
	if len(m.known) < maxTasks {
		m.known[int32(thread)] = true
	}
	if m.passed++; m.passed%m.every != 0 {
		return
	}
	m.points = append(m.points, Point{at, int32(thread)})
	if len(m.points) == maxSampled {
		m.points, m.every = histogram.Halve(m.points, func(_, y Point) Point { return y }), 2*m.every
	}
}

// Start compares the clocks. start is the raw trace time of the first event, in ns. The
// error tells why the records cannot be used.
func (m *Accumulator) Start(start int64) error {
	m.base = start
	if err := m.readAhead(start); err != nil {
		return err
	}
	var err error
	if m.clock, err = Compare(m.points, m.backlog, m.r.ResolutionNs()); err != nil {
		return m.r.fail(err)
	}
	for tid := range m.known {
		if k := m.thread(tid); k != &m.rest {
			k.ours, k.thread = true, tid
		}
	}
	m.points, m.known = nil, nil
	m.base = start + m.clock.ShiftNs
	m.next, m.backlog, m.more = m.backlog[0], m.backlog[1:], true
	return nil
}

// readAhead fills the backlog. Of records from long before the trace only the states that
// they leave count.
func (m *Accumulator) readAhead(start int64) error {
	for len(m.backlog) < maxBacklog {
		r, err := m.r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m.backlog = append(m.backlog, r)
		if len(m.backlog) == maxBacklog && r.Time < start-beforeStart {
			const old = maxBacklog / 2
			for i := range m.backlog[:old] {
				m.apply(&m.backlog[i])
			}
			m.backlog = append(m.backlog[:0], m.backlog[old:]...)
		}
	}
	return nil
}

// advance processes the records up to a time of the trace.
func (m *Accumulator) advance(to int64) error {
	for m.more && m.next.Time-m.base <= to {
		m.apply(&m.next)
		if len(m.backlog) > 0 {
			m.next, m.backlog = m.backlog[0], m.backlog[1:]
			continue
		}
		m.backlog = nil
		var err error
		if m.next, err = m.r.Next(); err != nil {
			m.more, m.ended = false, true
			if !errors.Is(err, io.EOF) {
				return err
			}
		}
	}
	return nil
}

func (m *Accumulator) task(tid int32) *task {
	k := m.tasks[tid]
	if k == nil {
		if len(m.tasks) >= maxTasks {
			return &m.rest
		}
		k = &task{tid: tid, at: m.first, cpu: NoCPU, p: reference.NoP, wakeup: wakeup{wokenAt: never, handed: never}}
		m.tasks[tid] = k
	}
	return k
}

// thread returns the record of a thread of the trace.
func (m *Accumulator) thread(tid int32) *task {
	if m.clock.Threads == nil {
		return m.task(tid)
	}
	if mapped, ok := m.clock.Threads[tid]; ok {
		return m.task(mapped)
	}
	return &m.rest // one that has not been seen while the clocks were compared
}

func (m *Accumulator) apply(r *Record) {
	t := max(r.Time-m.base, m.last)
	if !m.begun {
		m.begun, m.first = true, t
		for _, k := range m.tasks {
			k.at = t
		}
	}
	m.last = t
	if r.CPU == NoCPU && r.Kind == Lost {
		return
	}
	switch r.Kind {
	case Switch:
		m.switched(r, t)
	case Wake:
		m.woken(r, t)
	case Lost:
		m.lose(m.at(r.CPU), t)
	}
}

func (m *Accumulator) at(id int32) *cpu {
	for int(id) >= len(m.cpus) {
		m.cpus = append(m.cpus, cpu{CPUUse: CPUUse{CPU: int32(len(m.cpus))}})
	}
	return &m.cpus[id]
}

func (m *Accumulator) switched(r *Record, t int64) {
	c := m.at(r.CPU)
	if !c.known { // since the records begin, or since some were lost
		c.known, c.tid = true, r.TID
		if !c.Seen {
			c.Seen, c.since = true, m.first
			m.addOn(ledger.OnCPU{From: m.opt.From, To: m.first, CPU: r.CPU, Who: ledger.OnUnknown})
		}
	}
	if c.tid != r.TID && r.TID != 0 {
		m.seenOn(m.task(r.TID), r.CPU, t)
	}
	if c.tid == r.TID {
		m.occupied(c, t)
	} else {
		m.addUnknown(c, t)
	}
	for _, k := range c.displaced {
		m.bookOff(k, t)
	}
	c.tid, c.since = r.Next, t
	if r.TID != 0 {
		k := m.task(r.TID)
		k.comm = r.Comm
		if r.Group != 0 {
			k.group = r.Group
		}
		m.left(k, r, t)
	}
	if r.Next != 0 {
		k := m.task(r.Next)
		k.comm = r.Into
		m.came(k, r.CPU, t)
	}
}

// counted is how much of an interval is in the window, ns.
func (m *Accumulator) counted(from, to int64) int64 {
	return max(0, min(to, m.opt.To)-max(from, m.opt.From))
}

// occupied adds up to t to who is on a CPU.
func (m *Accumulator) occupied(c *cpu, t int64) {
	ns := m.counted(c.since, t)
	if c.tid == 0 {
		c.IdleNs += ns
		return
	}
	k := m.task(c.tid)
	k.cpuNs += ns
	m.addOn(m.occupant(c, t))
	if k.ours {
		c.ProgramNs += ns
	} else {
		c.OthersNs += ns
	}
}

// addUnknown adds up to t to what the records do not tell of a CPU.
func (m *Accumulator) addUnknown(c *cpu, t int64) {
	c.UnknownNs += m.counted(c.since, t)
	m.addOn(ledger.OnCPU{From: c.since, To: t, CPU: c.CPU, Who: ledger.OnUnknown})
}

func (m *Accumulator) left(k *task, r *Record, t int64) {
	if k == &m.rest {
		return
	}
	k.recorded = true
	k.on, k.how, k.woken, k.cpu, k.at, k.booked = isOff, r.State, false, r.CPU, t, t
	if stopped(k.how) {
		m.stop(k, t)
	}
	m.displace(k)
	m.watch(k, t)
}

func (m *Accumulator) came(k *task, on int32, t int64) {
	if k == &m.rest {
		return
	}
	k.recorded = true
	m.wasOff(k, t)
	if k.on == isOn && k.runs { // when it left the CPU is missing
		k.run.unknown += m.counted(max(k.at, k.from), t)
	}
	switch {
	case k.on == isOff && stopped(k.how):
		m.resume(k, t)
	case k.on == isOff && k.woken && k.ours && m.counted(t, t+1) > 0:
		m.wakes.over(t - k.at)
	}
	m.replace(k)
	k.arrives(t)
	k.on, k.cpu, k.at = isOn, on, t
	m.watch(k, t)
}

// seenOn is for a thread that is on a CPU at t, as what it does there shows. If it is held
// to be off, the record of a switch is missing: ftrace leaves some out, without a mark.
func (m *Accumulator) seenOn(k *task, on int32, t int64) {
	if k == &m.rest || k.on != isOff {
		return
	}
	m.missing++
	since, c := t, m.at(max(0, on))
	switch {
	case on != NoCPU && k.how == 'R' && c.tid == 0 && c.known && k.woken:
		since = max(k.booked, c.since) // an idle CPU takes who is woken at once
	case stopped(k.how):
		m.bookOff(k, t)
		m.resume(k, t)
	case on != NoCPU && k.how == 'R' && c.tid == 0 && c.known:
		m.bookOff(k, t) // nothing but a quota keeps it from an idle CPU
	case k.runs:
		k.run.unknown += m.counted(max(k.booked, k.from), t)
	}
	m.replace(k)
	k.arrives(since)
	k.on, k.cpu, k.at = isOn, on, t
	m.watch(k, t)
	if on == NoCPU || !c.known {
		return
	}
	for _, x := range c.displaced {
		m.bookOff(x, since)
	}
	if c.tid == 0 {
		m.occupied(c, since)
	} else {
		m.addUnknown(c, t)
	}
	c.tid, c.since = k.tid, since
}

// wasOff books up to t that a thread was off the CPUs, as a record says there.
func (m *Accumulator) wasOff(k *task, t int64) {
	switch {
	case k.on == isOff:
		m.bookOff(k, t)
	case k.on == unknown && k.runs:
		ns := m.counted(max(k.at, k.from), t)
		k.run.off += ns
		m.off.UnknownNs += ns
		m.addOff(k, max(k.at, k.from), t, ledger.LackUnknown)
	}
}

// woken is for a thread that is to run, and has no CPU yet.
func (m *Accumulator) woken(r *Record, t int64) {
	k := m.task(r.TID)
	if k == &m.rest || k.on == isOn {
		return // one that wakes itself before it sleeps
	}
	k.comm, k.recorded = r.Comm, true
	m.wasOff(k, t)
	if k.on == isOff && stopped(k.how) {
		m.resume(k, t)
	}
	m.replace(k)
	if !(k.on == isOff && k.woken) { // else sched_wakeup follows sched_waking
		k.at = t
	}
	k.on, k.how, k.woken, k.booked = isOff, 'R', true, t
	if r.CPU != NoCPU {
		k.cpu = m.at(r.CPU).CPU
	}
	m.displace(k)
	m.watch(k, t)
}

func (m *Accumulator) lose(c *cpu, t int64) {
	m.lost++
	if !c.Seen {
		m.addOn(ledger.OnCPU{From: m.opt.From, To: t, CPU: c.CPU, Who: ledger.OnUnknown})
	}
	if c.known {
		m.addUnknown(c, t)
		if k := m.tasks[c.tid]; k != nil && k.on == isOn && k.cpu == c.CPU {
			if k.runs {
				k.run.unknown += m.counted(max(k.at, k.from), t)
			}
			k.on, k.at = unknown, t
		}
	}
	for _, k := range c.displaced {
		m.bookOff(k, t)
		k.on, k.at = unknown, t
		m.watch(k, t)
	}
	c.displaced = c.displaced[:0]
	c.known, c.Seen, c.since = false, true, t
}

// displace notes on its last CPU that a thread with a goroutine waits for a CPU.
func (m *Accumulator) displace(k *task) {
	if k.runs && k.on == isOff && k.how == 'R' && k.cpu >= 0 {
		c := m.at(k.cpu)
		c.displaced = append(c.displaced, k)
	}
}

// replace reverts that.
func (m *Accumulator) replace(k *task) {
	if k.on != isOff || k.how != 'R' || k.cpu < 0 {
		return
	}
	c := m.at(k.cpu)
	if i := slices.Index(c.displaced, k); i >= 0 {
		c.displaced = slices.Delete(c.displaced, i, i+1)
	}
}

// stopped reports whether a thread in a state was stopped by a signal or a debugger.
func stopped(state byte) bool { return state == 'T' || state == 't' }

// stop and resume follow the threads of the program that are stopped by a signal.
func (m *Accumulator) stop(k *task, t int64) {
	if !k.ours {
		return
	}
	if m.still++; m.still == 1 {
		m.stillAt = t
	}
}

func (m *Accumulator) resume(k *task, t int64) {
	if !k.ours || m.still == 0 {
		return
	}
	if m.still--; m.still == 0 {
		m.stops.over(m.stillAt, m.counted(m.stillAt, t))
	}
}

// bookOff adds up to t to what a thread that is off the CPUs has lacked.
func (m *Accumulator) bookOff(k *task, t int64) {
	from := max(k.booked, k.from)
	k.booked = max(k.booked, t)
	if !k.runs {
		m.lacks(k, from, t)
		return
	}
	ns := m.counted(from, t)
	k.run.off += ns
	m.addOff(k, from, t, m.lackOf(k))
	switch {
	case stopped(k.how):
		m.off.StoppedNs += ns
	case k.how != 'R':
		m.off.BlockedNs += ns
	case k.cpu < 0 || !m.cpus[k.cpu].known:
		m.off.UnknownNs += ns
	default:
		m.instead(m.cpus[k.cpu].tid, ns)
	}
}

// instead books that a thread of the program waited for a CPU while that ran another.
func (m *Accumulator) instead(tid int32, ns int64) {
	if tid == 0 {
		m.off.IdleNs += ns
		if ns >= longIdleNs {
			m.off.ThrottledNs += ns
		}
		return
	}
	k := m.task(tid)
	if k.ours {
		m.off.OwnNs += ns
		return
	}
	m.off.OthersNs += ns
	k.insteadNs += ns
}

// Add processes the next block of decisions, and the waits that end in it, in their order. It
// notes in the block the run intervals that lacked a CPU. The error is one of reading the
// records.
func (m *Accumulator) Add(b *ledger.Block, ended []waits.EndedWait) error {
	m.runs.Grow(b.Slots)
	m.sums.Grow(b.Slots)
	m.idling.ready.Grow(b.Slots)
	m.handles, m.slots = b.Classes, max(m.slots, b.Slots)
	b.OffCPU = b.OffCPU[:0]
	b.CPUs.Clear()
	m.stretches = &b.CPUs
	ps := 0
	for i := range b.Decisions {
		d, n := &b.Decisions[i], &b.Notes[i]
		if d.Kind.Annotates() {
			continue
		}
		m.now = max(m.now, d.Time)
		if err := m.advance(m.now); err != nil {
			return err
		}
		of := 0
		for of < len(ended) && int(ended[of].At) == i {
			of++
		}
		switch {
		case n.Changed&ledger.Turned != 0:
			m.turn(b, d, n, ended[:of])
		case d.Kind == reference.KindPStart:
			m.getsP(d)
		case d.Kind == reference.KindPStop, d.Kind == reference.KindRetake:
			m.losesP(d)
		case d.Kind == reference.KindHandoff:
			if g := m.givenP(d.P); g != nil && g.at != never {
				g.handed = true
			}
		}
		ended = ended[of:]
		if n.Changed&ledger.Counts != 0 {
			m.tick(m.now)
			m.idling.idle = b.Ps[ps].Idle
			ps++
		}
	}
	m.addOpen()
	return nil
}

// turn ends what the goroutine of a decision did until then.
func (m *Accumulator) turn(b *ledger.Block, d *reference.Decision, n *ledger.Note, ended []waits.EndedWait) {
	if n.Was == ledger.Running {
		m.end(b, d, n)
	}
	switch n.Now {
	case ledger.Running:
		m.begin(d, n, ended)
		return
	case ledger.Runnable:
		m.tick(m.now)
		*m.idling.ready.At(n.G) = m.idling.ns
	case ledger.Unseen:
		m.fold(d.G, n.G, n.Class)
	}
	if n.Changed&ledger.Returned != 0 || n.Was == ledger.InSyscall && n.Now == ledger.Runnable { // from a system call
		if k := m.acting(d); k != nil {
			k.inCall = false
			m.watch(k, m.now)
		}
	}
}

func (m *Accumulator) begin(d *reference.Decision, n *ledger.Note, ended []waits.EndedWait) {
	k := m.acting(d)
	if k == nil {
		k = &task{cpu: NoCPU, strange: true, wakeup: wakeup{wokenAt: never, handed: never}}
	}
	for i := range ended {
		m.divide(&ended[i], n.G, k)
	}
	if d.M <= 0 || d.M >= maxTID {
		return
	}
	m.firstStart(k, d)
	k.holds, k.inCall, k.fresh = true, false, false
	k.ours, k.thread = true, int32(d.M)
	if k.runs {
		m.over(k)
	}
	m.noteOnCPU(k)
	if k.on == unknown {
		k.on, k.at = isOn, m.now // it did this
	}
	k.runs, k.slot, k.from, k.run, k.p = true, n.G, m.now, part{}, reference.NoP
	m.watch(k, m.now)
	if n.Flags.OfProgram() {
		k.p = d.P
	}
	m.runsOn(k, d.P)
	*m.runs.At(n.G) = k
	m.displace(k)
}

func (m *Accumulator) noteOnCPU(k *task) {
	covered := m.begun && m.now >= m.first && !(m.ended && m.now > m.last)
	if !covered || k.on == unknown || !k.recorded {
		return
	}
	switch {
	case k.on == isOn:
		k.at = m.now
		m.inside[0]++
	case m.now-k.at <= m.clock.ErrorNs: // it may still have been on it
		m.inside[0]++
	default:
		m.inside[1]++
		m.seenOn(k, k.cpu, m.now)
	}
}

func (m *Accumulator) end(b *ledger.Block, d *reference.Decision, n *ledger.Note) {
	k := *m.runs.At(n.G)
	if k == nil {
		return
	}
	if n.Now != ledger.InSyscall && d.Why != reference.WhyLost {
		m.noteOnCPU(k)
	}
	k.inCall = n.Now == ledger.InSyscall
	from := k.from
	m.over(k)
	if k.run.off > 0 {
		b.OffCPU = append(b.OffCPU, ledger.OffCPU{P: d.P, From: from, To: m.now, Ns: k.run.off})
	}
}

// over ends what a thread runs.
func (m *Accumulator) over(k *task) {
	if k.on == isOff {
		m.bookOff(k, m.now)
		m.replace(k)
	}
	k.run.unknown += m.uncovered(k.from, m.now)
	if k.strange {
		k.run.unknown = math.MaxInt64
	}
	k.run.unknown = min(k.run.unknown, m.counted(k.from, m.now)-k.run.off)
	m.sums.At(k.slot).add(k.run)
	if k.p >= 0 && k.p < ledger.MaxPs {
		m.ps.Make(k.p).add(k.run)
	}
	*m.runs.At(k.slot) = nil
	k.runs = false
}

// uncovered is how much of an interval there are no records of, ns.
func (m *Accumulator) uncovered(from, to int64) int64 {
	if !m.begun {
		return m.counted(from, to)
	}
	ns := m.counted(from, min(to, m.first))
	if m.ended {
		ns += m.counted(max(from, m.last), to)
	}
	return ns
}

// fold adds goroutine g, which is over, to its class.
func (m *Accumulator) fold(g int64, slot, of int32) {
	s := m.sums.At(slot)
	sum := *s
	*s = part{}
	if m.opt.Only != nil && !m.opt.Only(g, m.handles[of]) {
		return
	}
	of = min(of, maxClasses)
	for int(of) >= len(m.class) {
		m.class = append(m.class, part{})
	}
	m.class[of].add(sum)
}

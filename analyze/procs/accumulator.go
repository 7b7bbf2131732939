package procs

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	matrixPs   = 512  // Ps up to which steals are counted by thief and victim
	maxChanges = 1024 // changes of GOMAXPROCS that are listed
)

// Accumulator builds the account of the Ps from one pass over a stream of
// decisions: their times by state, the lengths of their queues, and counts of
// decisions. Its memory depends on the number of Ps only.
type Accumulator struct {
	now      int64
	gaps     int64     // ns that are not recorded
	accounts []account // by P

	global, runnable level
	globalTakes      int64

	steals, moved int64
	matrix        []int64 // stride x stride, thief first
	stride        int
	stealPs       int  // Ps from 0 to the highest that stole or was stolen from
	matrixLost    bool // there was one at or above matrixPs

	handoffs, retakes, preemptions [256]int64 // by reference.Why
	overflows                      int64

	procs []Procs

	omitted  int32 // Ps that are not told apart
	mentions int64 // of such
}

// account is what one P adds up to.
type account struct {
	times  [ledger.NumStates]int64
	queue  level
	birth  int64
	since  int64 // start of the present state
	starts int64
	parks  int64
	state  ledger.State
	born   bool
}

// level is a length, the most that it was, and its integral over time up to its last
// change.
type level struct {
	n, max   int64
	since    int64
	integral Integral
}

// set changes the level at now.
func (l *level) set(n, now int64) {
	l.integral.add(uint64(l.n), uint64(now-l.since))
	l.n, l.since, l.max = n, now, max(l.max, n)
}

// New returns an empty Accumulator.
func New() *Accumulator { return &Accumulator{} }

// Add processes the next block of the stream. It does not keep it. A time that falls
// counts as the time before.
func (a *Accumulator) Add(b *ledger.Block) {
	a.omitted, a.mentions = b.Omitted, b.Mentions
	for len(a.accounts) < b.Known {
		a.accounts = append(a.accounts, account{state: ledger.Unused})
	}
	ds, next := b.Decisions, 0 // the first that was not taken yet
	notes := b.Notes[:len(ds)]
	for i := range ds {
		if i < next {
			continue
		}
		d, n := &ds[i], &notes[i]
		a.now = max(a.now, d.Time)
		switch d.Kind {
		case reference.KindReady, reference.KindMove:
			a.lengths(d, n)
		case reference.KindStart:
			if d.Src == reference.SrcGlobal || d.Src == reference.SrcGlobalTick {
				a.globalTakes++ // of a batch only the first starts like this
			}
			a.lengths(d, n)
			if n.Changed&ledger.OneP != 0 { // it is, unless the P is not told apart
				p := &a.accounts[d.P]
				if i >= b.Synthetic {
					p.starts++
				}
				p.pass(n.To, a.now)
			}
		case reference.KindSyscall:
			if k := b.Calls(i); k > 0 {
				a.addCalls(ds[i : i+k])
				next = i + k
				continue
			}
			fallthrough
		case reference.KindStop, reference.KindSyscallExit:
			if n.Changed&ledger.OneP != 0 {
				a.accounts[d.P].pass(n.To, a.now)
			}
		default:
			a.rare(b, i)
		}
	}
}

// pass ends what a P did until now, and begins another state.
func (p *account) pass(to ledger.State, now int64) {
	if p.born {
		p.times[p.state] += now - p.since
	} else {
		p.born, p.birth = true, now
	}
	p.state, p.since = to, now
}

// lengths processes the lengths of queues that decision d changed.
func (a *Accumulator) lengths(d *reference.Decision, n *ledger.Note) {
	if n.Changed&ledger.GlobalLen != 0 {
		a.global.set(int64(max(0, d.Global)), a.now)
	}
	if n.Changed&ledger.LocalLen != 0 {
		a.accounts[d.P].queue.set(int64(max(0, d.Local)), a.now)
	}
	if n.Changed&ledger.VictimLen != 0 {
		q := &a.accounts[d.Victim].queue
		q.set(q.n-1, a.now)
	}
	if n.Changed&ledger.RunnableNum != 0 {
		a.runnable.set(int64(n.Runnable), a.now)
	}
}

// rare processes a decision of the other kinds.
func (a *Accumulator) rare(b *ledger.Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	if d.Kind == reference.KindLost { // the queues are empty
		a.global.set(0, a.now)
		for i := range a.accounts {
			a.accounts[i].queue.set(0, a.now)
		}
		a.runnable.set(0, a.now)
		a.gaps += max(0, d.Wait)
	}
	if n.Changed&ledger.OneP != 0 {
		a.accounts[d.P].pass(n.To, a.now)
	}
	for _, c := range b.Changes(i) {
		a.accounts[c.P].pass(c.To, a.now)
	}
	switch d.Kind {
	case reference.KindPStop:
		if d.Why == reference.WhyIdle && d.Flags&reference.FlagFirst == 0 && uint(d.P) < uint(len(a.accounts)) {
			a.accounts[d.P].parks++
		}
	case reference.KindSteal:
		a.steal(d)
	case reference.KindOverflow:
		a.overflows++
	case reference.KindRetake:
		a.retakes[d.Why]++
	case reference.KindHandoff:
		a.handoffs[d.Why]++
	case reference.KindPreempt:
		a.preemptions[d.Why]++
	case reference.KindProcs:
		n := max(0, d.Batch)
		if k := len(a.procs); k < maxChanges && (k == 0 || a.procs[k-1].N != n) {
			a.procs = append(a.procs, Procs{AtNs: a.now, N: n})
		}
	}
}

// addCalls processes brief system calls.
func (a *Accumulator) addCalls(calls []reference.Decision) {
	p := &a.accounts[calls[0].P]
	now, since := a.now, p.since
	for i := 1; i < len(calls); i += 2 {
		from := max(now, calls[i-1].Time)
		now = max(from, calls[i].Time)
		p.times[ledger.User] += from - since
		p.times[ledger.Syscall] += now - from
		since = now
	}
	a.now, p.since = now, since
}

func (a *Accumulator) steal(d *reference.Decision) {
	a.steals++
	a.moved += int64(max(0, d.Batch))
	if d.P < 0 || d.Victim < 0 {
		return
	}
	top := int(max(d.P, d.Victim))
	a.stealPs = max(a.stealPs, top+1)
	if top >= matrixPs {
		a.matrixLost, a.matrix, a.stride = true, nil, 0
	}
	if a.matrixLost {
		return
	}
	if top >= a.stride {
		stride := min(matrixPs, max(8, 2*a.stride, top+1))
		m := make([]int64, stride*stride)
		for i := range a.stride {
			copy(m[i*stride:], a.matrix[i*a.stride:(i+1)*a.stride])
		}
		a.matrix, a.stride = m, stride
	}
	a.matrix[int(d.P)*a.stride+int(d.Victim)]++
}

// Finish closes all intervals at end, ns of the last event, and returns the
// result. The Accumulator cannot be used afterwards.
func (a *Accumulator) Finish(end int64) Result {
	end = max(end, a.now)
	r := Result{
		Ps:          make([]Proc, 0, len(a.accounts)),
		Steals:      Steals{Count: a.steals, Moved: a.moved},
		Handoffs:    counts(&a.handoffs),
		Retakes:     counts(&a.retakes),
		Preemptions: counts(&a.preemptions),
		Overflows:   a.overflows,
		GlobalTakes: a.globalTakes,
		Procs:       a.procs,
	}
	if r.Procs == nil {
		r.Procs = []Procs{}
	}
	r.OmittedPs, r.OmittedMentions = a.omitted, a.mentions

	var local Integral
	rows := a.stealPs
	for i := range a.accounts {
		p := &a.accounts[i]
		p.queue.set(0, end)
		local.Plus(p.queue.integral)
		if !p.born {
			continue
		}
		p.times[p.state] += end - p.since
		rows = max(rows, i+1)
		r.Ps = append(r.Ps, Proc{
			P:          int32(i),
			LifetimeNs: end - p.birth,
			RunningNs:  p.times[ledger.User],
			SystemNs:   p.times[ledger.System],
			GCNs:       p.times[ledger.GC],
			TracerNs:   p.times[ledger.Tracer],
			SyscallNs:  p.times[ledger.Syscall],
			SchedNs:    p.times[ledger.Sched],
			IdleNs:     p.times[ledger.Idle],
			StoppedNs:  p.times[ledger.Stopped],
			UnusedNs:   p.times[ledger.Unused],

			NotRecordedNs: p.times[ledger.NotRecorded],

			Starts:    p.starts,
			Parks:     p.parks,
			QueueMean: p.queue.integral.Mean(end - p.birth - p.times[ledger.NotRecorded]),
			QueueMax:  int32(p.queue.max),
		})
	}
	if rows <= matrixPs {
		r.Steals.Matrix = a.rows(rows)
	}

	a.global.set(0, end)
	a.runnable.set(0, end)
	r.Queues = Queues{
		GlobalMean:   a.global.integral.Mean(end - a.gaps),
		GlobalMax:    int32(a.global.max),
		LocalMean:    local.Mean(end - a.gaps),
		RunnableMean: a.runnable.integral.Mean(end - a.gaps),
		RunnableMax:  a.runnable.max,
	}
	return r
}

// rows cuts the matrix to n x n.
func (a *Accumulator) rows(n int) [][]int64 {
	m := make([][]int64, n)
	for i := range m {
		m[i] = make([]int64, n)
		if i < a.stride {
			copy(m[i], a.matrix[i*a.stride:(i+1)*a.stride])
		}
	}
	return m
}

func counts(by *[256]int64) Counts {
	c := Counts{ByCause: map[string]int64{}}
	for why, n := range by {
		if n > 0 {
			c.Count += n
			c.ByCause[reference.Why(why).String()] += n
		}
	}
	return c
}

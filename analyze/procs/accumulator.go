package procs

import "github.com/gmpscope/gmpscope/reference"

const (
	matrixPs   = 512  // Ps up to which steals are counted by thief and victim
	maxChanges = 1024 // changes of GOMAXPROCS that are listed
)

// Accumulator takes the account of the Ps from one pass over a stream of
// decisions. Its memory depends on the number of Ps only.
type Accumulator struct {
	tr  *Tracker
	own bool // tr is driven from here
	now int64
	ps  []account // by P, as the tracker has them

	steals, moved int64
	matrix        []int64 // stride x stride, thief first
	stride        int
	stealPs       int  // Ps from 0 to the highest that stole or was stolen from
	matrixLost    bool // there was one at or above matrixPs

	handoffs, retakes, preemptions [256]int64 // by reference.Why
	overflows, globalTakes         int64

	global, runnable           Integral
	globalLen, globalMax       int32
	runnableLen, runnableMax   int64
	globalSince, runnableSince int64

	procs []Procs
}

// account is what one P adds up to.
type account struct {
	times  [numStates]int64
	queue  Integral
	birth  int64
	since  int64 // start of the present state
	qSince int64 // start of the present length
	starts int64
	parks  int64
	qLen   int32
	qMax   int32
	state  State
	born   bool
}

// New returns an empty Accumulator.
func New() *Accumulator { return &Accumulator{tr: NewTracker(), own: true} }

// Following returns an empty Accumulator that reads tr, to which each decision
// is applied before Add gets it.
func Following(tr *Tracker) *Accumulator { return &Accumulator{tr: tr} }

// Add takes the next decision of the stream. It does not keep d. A time that
// falls counts as the time before.
func (a *Accumulator) Add(d *reference.Decision) {
	a.now = max(a.now, d.Time)
	if a.own {
		a.tr.Apply(d)
	}
	for i := range a.tr.changes {
		c := &a.tr.changes[i]
		p := a.at(c.P)
		if p.born {
			p.times[p.state] += a.now - p.since
		} else {
			p.born, p.birth = true, a.now
		}
		p.state, p.since = c.To, a.now
	}
	switch d.Kind {
	case reference.KindReady, reference.KindMove:
		a.lengths(d)
	case reference.KindStart:
		a.lengths(d)
		if d.Src == reference.SrcGlobal || d.Src == reference.SrcGlobalTick {
			a.globalTakes++ // of a batch only the first starts like this
		}
		if p := a.at(d.P); p != nil {
			p.starts++
		}
	case reference.KindPStop:
		if d.Why == reference.WhyIdle && d.Flags&reference.FlagFirst == 0 {
			if p := a.at(d.P); p != nil {
				p.parks++
			}
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
		n := a.tr.Procs()
		if k := len(a.procs); k < maxChanges && (k == 0 || a.procs[k-1].N != n) {
			a.procs = append(a.procs, Procs{AtNs: a.now, N: n})
		}
	}
}

// AddCalls takes system calls that the Tracker has followed by [Tracker.Calls].
func (a *Accumulator) AddCalls(calls []reference.Decision) {
	p := a.at(calls[0].P)
	for ; len(calls) >= 2; calls = calls[2:] {
		from := max(a.now, calls[0].Time)
		a.now = max(from, calls[1].Time)
		p.times[p.state] += from - p.since
		p.times[Syscall] += a.now - from
		p.since = a.now
	}
}

func (a *Accumulator) at(p int32) *account {
	if uint32(p) < uint32(len(a.ps)) {
		return &a.ps[p]
	}
	return a.open(p)
}

// open returns the account of a P that has none yet, and nil if there is no such
// P.
func (a *Accumulator) open(p int32) *account {
	if p < 0 || int(p) >= a.tr.Known() {
		return nil
	}
	a.ps = append(a.ps, make([]account, a.tr.Known()-len(a.ps))...)
	return &a.ps[p]
}

// lengths notes the queue lengths that the decision changed.
func (a *Accumulator) lengths(d *reference.Decision) {
	a.local(d.P)
	a.local(d.Victim)
	if n := a.tr.Global(); n != a.globalLen {
		a.global.Add(int64(a.globalLen), a.now-a.globalSince)
		a.globalLen, a.globalSince = n, a.now
		a.globalMax = max(a.globalMax, n)
	}
	if n := a.tr.Runnable(); n != a.runnableLen {
		a.runnable.Add(a.runnableLen, a.now-a.runnableSince)
		a.runnableLen, a.runnableSince = n, a.now
		a.runnableMax = max(a.runnableMax, n)
	}
}

func (a *Accumulator) local(id int32) {
	p := a.at(id)
	if p == nil {
		return
	}
	if n := a.tr.Local(id); n != p.qLen {
		p.queue.Add(int64(p.qLen), a.now-p.qSince)
		p.qLen, p.qSince = n, a.now
		p.qMax = max(p.qMax, n)
	}
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
		Ps:          make([]Proc, 0, len(a.ps)),
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
	r.OmittedPs, r.OmittedMentions = a.tr.Omitted()

	var local Integral
	rows := a.stealPs
	for i := range a.ps {
		p := &a.ps[i]
		p.queue.Add(int64(p.qLen), end-p.qSince)
		local.Plus(p.queue)
		if !p.born {
			continue
		}
		p.times[p.state] += end - p.since
		rows = max(rows, i+1)
		r.Ps = append(r.Ps, Proc{
			P:          int32(i),
			LifetimeNs: end - p.birth,
			RunningNs:  p.times[User],
			SystemNs:   p.times[System],
			GCNs:       p.times[GC],
			TracerNs:   p.times[Tracer],
			SyscallNs:  p.times[Syscall],
			SchedNs:    p.times[Sched],
			IdleNs:     p.times[Idle],
			StoppedNs:  p.times[Stopped],
			UnusedNs:   p.times[Unused],
			Starts:     p.starts,
			Parks:      p.parks,
			QueueMean:  p.queue.Mean(end - p.birth),
			QueueMax:   p.qMax,
		})
	}
	if rows <= matrixPs {
		r.Steals.Matrix = a.rows(rows)
	}

	a.global.Add(int64(a.globalLen), end-a.globalSince)
	a.runnable.Add(a.runnableLen, end-a.runnableSince)
	r.Queues = Queues{
		GlobalMean:   a.global.Mean(end),
		GlobalMax:    a.globalMax,
		LocalMean:    local.Mean(end),
		RunnableMean: a.runnable.Mean(end),
		RunnableMax:  a.runnableMax,
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

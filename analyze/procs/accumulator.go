package procs

import "github.com/gmpscope/gmpscope/reference"

const (
	matrixPs   = 512  // Ps up to which steals are counted by thief and victim
	maxChanges = 1024 // changes of GOMAXPROCS that are listed
)

// Accumulator takes the account of the Ps from one pass over a stream of
// decisions: what its [Tracker] adds up, and counts of decisions. Its memory depends
// on the number of Ps only.
type Accumulator struct {
	tr  *Tracker
	own bool // tr is driven from here

	steals, moved int64
	matrix        []int64 // stride x stride, thief first
	stride        int
	stealPs       int  // Ps from 0 to the highest that stole or was stolen from
	matrixLost    bool // there was one at or above matrixPs

	handoffs, retakes, preemptions [256]int64 // by reference.Why
	overflows                      int64

	procs []Procs
}

// New returns an empty Accumulator.
func New() *Accumulator { return &Accumulator{tr: NewTracker(), own: true} }

// Following returns an empty Accumulator that reads tr, to which each decision
// is applied before Add gets it.
func Following(tr *Tracker) *Accumulator { return &Accumulator{tr: tr} }

// Add takes the next decision of the stream. It does not keep d. A time that
// falls counts as the time before.
func (a *Accumulator) Add(d *reference.Decision) {
	if a.own {
		a.tr.Apply(d)
	}
	if d.Kind >= reference.KindSteal && d.Kind <= reference.KindProcs { // else count counts none
		a.count(d)
	}
}

// count counts decisions of the kinds that are rare.
func (a *Accumulator) count(d *reference.Decision) {
	switch d.Kind {
	case reference.KindPStop:
		if d.Why == reference.WhyIdle && d.Flags&reference.FlagFirst == 0 && uint(d.P) < uint(len(a.tr.accounts)) {
			a.tr.accounts[d.P].parks++
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
			a.procs = append(a.procs, Procs{AtNs: a.tr.now, N: n})
		}
	}
}

// AddCalls takes system calls that the Tracker has followed by [States.Calls].
func (a *Accumulator) AddCalls(calls []reference.Decision) {
	t := a.tr
	p := t.account(calls[0].P)
	now, since := t.now, p.since
	for i := 1; i < len(calls); i += 2 {
		from := max(now, calls[i-1].Time)
		now = max(from, calls[i].Time)
		p.times[User] += from - since
		p.times[Syscall] += now - from
		since = now
	}
	t.now, p.since = now, since
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
	t := a.tr
	end = max(end, t.now)
	r := Result{
		Ps:          make([]Proc, 0, len(t.accounts)),
		Steals:      Steals{Count: a.steals, Moved: a.moved},
		Handoffs:    counts(&a.handoffs),
		Retakes:     counts(&a.retakes),
		Preemptions: counts(&a.preemptions),
		Overflows:   a.overflows,
		GlobalTakes: t.globalTakes,
		Procs:       a.procs,
	}
	if r.Procs == nil {
		r.Procs = []Procs{}
	}
	r.OmittedPs, r.OmittedMentions = t.Omitted()

	var local Integral
	rows := a.stealPs
	for i := range t.accounts {
		p := &t.accounts[i]
		p.queue.Add(int64(p.local), end-p.qSince)
		local.Plus(p.queue)
		if !p.born {
			continue
		}
		p.times[t.ps[i].state] += end - p.since
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

			NotRecordedNs: p.times[NotRecorded],

			Starts:    p.starts,
			Parks:     p.parks,
			QueueMean: p.queue.Mean(end - p.birth - p.times[NotRecorded]),
			QueueMax:  p.qMax,
		})
	}
	if rows <= matrixPs {
		r.Steals.Matrix = a.rows(rows)
	}

	t.globalSum.Add(int64(t.global), end-t.globalSince)
	t.runnableSum.Add(t.runnableLevel, end-t.runnableSince)
	r.Queues = Queues{
		GlobalMean:   t.globalSum.Mean(end - t.gaps),
		GlobalMax:    t.globalMax,
		LocalMean:    local.Mean(end - t.gaps),
		RunnableMean: t.runnableSum.Mean(end - t.gaps),
		RunnableMax:  t.runnableMax,
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

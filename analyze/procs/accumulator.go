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
	end      int64     // of the last block, ns
	gaps     int64     // ns that are not recorded
	accounts []account // by P

	levels      []level // by ledger.Length.Of, from AllRunnable on
	globalTakes int64

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
	starts int64
	parks  int64
	known  bool
}

// level is a length, the most that it was, and its integral over time up to its last
// change.
type level struct {
	n, max   int64
	since    int64
	integral Integral
}

func (l *level) set(n, now int64) {
	l.integral.add(uint64(l.n), uint64(now-l.since))
	l.n, l.since, l.max = n, now, max(l.max, n)
}

// New returns an empty Accumulator.
func New() *Accumulator { return &Accumulator{levels: make([]level, -ledger.AllRunnable)} }

// Add processes the next block of the stream. It does not retain it.
func (a *Accumulator) Add(b *ledger.Block) {
	a.end, a.omitted, a.mentions = b.End, b.Omitted, b.Mentions
	for len(a.accounts) < b.Known {
		a.accounts, a.levels = append(a.accounts, account{}), append(a.levels, level{})
	}
	for i := range b.PIntervals {
		x := &b.PIntervals[i]
		p := &a.accounts[x.P]
		p.known = true
		p.times[x.State] += x.To - x.From
		if x.Next.Running() && int(x.At) < len(b.Decisions) {
			a.start(p, b, int(x.At))
		}
	}
	for i := range b.Lengths {
		x := &b.Lengths[i]
		a.levels[x.Of-ledger.AllRunnable].set(int64(x.N), x.Time)
	}
	for _, i := range b.Rare {
		a.count(&b.Decisions[i])
	}
}

// start counts decision i of a block if it is a start on a P.
func (a *Accumulator) start(p *account, b *ledger.Block, i int) {
	d := &b.Decisions[i]
	if d.Kind != reference.KindStart {
		return
	}
	if d.Src == reference.SrcGlobal || d.Src == reference.SrcGlobalTick {
		a.globalTakes++ // of a batch only the first starts like this
	}
	if i >= b.Synthetic {
		p.starts++
	}
}

func (a *Accumulator) count(d *reference.Decision) {
	switch d.Kind {
	case reference.KindLost:
		a.gaps += max(0, d.Wait)
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
			a.procs = append(a.procs, Procs{AtNs: max(0, d.Time), N: n})
		}
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

// Finish returns the result, once [ledger.Ledger.Close] has ended what was open. The
// Accumulator cannot be used afterwards.
func (a *Accumulator) Finish() Result {
	r := Result{
		Ps:          make([]Proc, 0, len(a.accounts)),
		Steals:      Steals{Count: a.steals, Moved: a.moved},
		Handoffs:    counts(&a.handoffs),
		Retakes:     counts(&a.retakes),
		Preemptions: counts(&a.preemptions),
		Overflows:   a.overflows,
		GlobalTakes: a.globalTakes,
		Procs:       append([]Procs{}, a.procs...),
		OmittedPs:   a.omitted, OmittedMentions: a.mentions,
	}

	var local Integral
	rows := a.stealPs
	for i := range a.accounts {
		p := &a.accounts[i]
		queue := &a.levels[int32(i)-ledger.AllRunnable]
		queue.set(0, a.end)
		local.Plus(queue.integral)
		if !p.known {
			continue
		}
		var lifetime int64
		for _, ns := range p.times {
			lifetime += ns
		}
		rows = max(rows, i+1)
		r.Ps = append(r.Ps, Proc{
			P:          int32(i),
			LifetimeNs: lifetime,
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
			QueueMean: queue.integral.Mean(lifetime - p.times[ledger.NotRecorded]),
			QueueMax:  int32(queue.max),
		})
	}
	if rows <= matrixPs {
		r.Steals.Matrix = a.rows(rows)
	}

	global, runnable := &a.levels[ledger.GlobalQueue-ledger.AllRunnable], &a.levels[0]
	global.set(0, a.end)
	runnable.set(0, a.end)
	r.Queues = Queues{
		GlobalMean:   global.integral.Mean(a.end - a.gaps),
		GlobalMax:    int32(global.max),
		LocalMean:    local.Mean(a.end - a.gaps),
		RunnableMean: runnable.integral.Mean(a.end - a.gaps),
		RunnableMax:  runnable.max,
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

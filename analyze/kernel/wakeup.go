package kernel

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// IdleCause is the runtime's or the kernel's part of a cause of package waits by which goroutines
// waited although a P was free: one of [CauseWakingRuntime], [CauseWakingKernel], [CauseMissedRuntime]
// and [CauseMissedKernel].
type IdleCause string

// The parts of two causes of package waits, for which goroutines were runnable although a P was free:
// waits.CausePWakingUp, "p-waking-up" (the P that ran the goroutine in the end had got its thread and
// had run nothing yet), and waits.CauseIdlePAvailable, "idle-p-available" (a P had no thread).
const (
	CauseWakingRuntime IdleCause = "p-waking-up/runtime"      // the P's thread was on a CPU, and looked for work
	CauseWakingKernel  IdleCause = "p-waking-up/kernel"       // the P's thread could run, and was on no CPU
	CauseMissedRuntime IdleCause = "idle-p-available/runtime" // no thread had been woken for a P, or it was on a CPU already
	CauseMissedKernel  IdleCause = "idle-p-available/kernel"  // a thread had been woken for a P, and was on no CPU yet
)

// Places of p-waking-up and idle-p-available in waits.EndedWait.
var (
	atWaking = slices.Index(waits.Causes(), waits.CausePWakingUp)
	atMissed = slices.Index(waits.Causes(), waits.CauseIdlePAvailable)
)

// never is the time of what has not happened.
const never = int64(math.MinInt64)

// wakeup is what a thread without work goes through until it runs a goroutine: the runtime
// has the kernel wake it (startm), the kernel puts it on a CPU, it takes its P (acquirep,
// which writes the event) and looks for a goroutine (findRunnable).
type wakeup struct {
	holds   bool  // a P
	fresh   bool  // it has run no goroutine since it got that
	inCall  bool  // it is in a system call
	onWay   bool  // it holds no P, was woken, and is on no CPU
	wokenAt int64 // when it was woken last without a P; never if it was not
	onCPU   int64 // when it was on a CPU after that
	handed  int64 // when the P that it took had been given up or retaken; never if that was idle
	lacked  span  // ns of the trace: since it got its P, when it first and last lacked a CPU
	lackNs  int64 // for how long it did
}

// idling follows the Ps without a thread, and the threads on their way to one.
type idling struct {
	idle  int32            // Ps
	onWay int              // threads
	at    int64            // up to when ns counts
	ns    int64            // for how long there were both
	ready ids.Parts[int64] // by slot: ns when its goroutine became runnable
	given []given          // by P

	wakingRuntime, wakingKernel, missedRuntime, missedKernel int64 // ns by [IdleCause]
}

// given is a P that a thread gave up, or that was retaken.
type given struct {
	at     int64
	handed bool // to another thread
}

// tick lets time pass up to t.
func (m *Accumulator) tick(t int64) {
	w := &m.idling
	if t <= w.at {
		return
	}
	if w.idle > 0 && w.onWay > 0 {
		w.ns += m.counted(w.at, t)
	}
	w.at = t
}

// watch notes whether k is on its way to a P at t.
func (m *Accumulator) watch(k *task, t int64) {
	onWay := k.ours && !k.holds && !k.inCall && !k.runs && k.on == isOff && k.woken
	if onWay == k.onWay {
		return
	}
	m.tick(t)
	if k.onWay = onWay; onWay {
		m.idling.onWay++
	} else {
		m.idling.onWay--
	}
}

// arrives notes that k, which is off the CPUs, comes onto one at t.
func (k *task) arrives(t int64) {
	if k.on == isOff && k.woken && !k.holds && !k.inCall {
		k.wokenAt, k.onCPU = k.at, max(t, k.at)
	}
}

// lacks adds a time in which k, which runs no goroutine, was on no CPU, if it could run.
func (m *Accumulator) lacks(k *task, from, to int64) {
	if k.how != 'R' || to <= from {
		return
	}
	if k.lackNs == 0 {
		k.lacked.from = from
	}
	k.lacked.to = to
	k.lackNs += m.counted(from, to)
}

func (m *Accumulator) getsP(d *reference.Decision) {
	k := m.acting(d)
	if k == nil {
		return
	}
	k.holds, k.inCall, k.fresh, k.lackNs, k.handed = true, false, true, 0, never
	k.booked = max(k.booked, m.now) // it is on a CPU, whatever the records miss
	if g := m.givenP(d.P); g != nil {
		if g.handed {
			k.handed = g.at
		}
		*g = given{at: never}
	}
	m.watch(k, m.now)
}

// losesP is for a thread that gives up its P, or is robbed of it.
func (m *Accumulator) losesP(d *reference.Decision) {
	if k := m.acting(d); k != nil {
		k.holds, k.fresh, k.wokenAt = false, false, never
		m.watch(k, m.now)
	}
	if g := m.givenP(d.P); g != nil {
		*g = given{at: never}
		if d.Why != reference.WhyIdle && d.Why != reference.WhySTW {
			g.at = m.now
		}
	}
}

// acting returns the thread of a decision, nil if it is not known.
func (m *Accumulator) acting(d *reference.Decision) *task {
	if d.M <= 0 || d.M >= maxTID {
		return nil
	}
	if k := m.thread(int32(d.M)); k != &m.rest {
		return k
	}
	return nil
}

func (m *Accumulator) givenP(p int32) *given {
	w := &m.idling
	if p < 0 || p >= ledger.MaxPs {
		return nil
	}
	for int(p) >= len(w.given) {
		w.given = append(w.given, given{at: never})
	}
	return &w.given[p]
}

// divide splits the time that idle Ps have in a wait of goroutine g, which thread k ends.
// That the kernel had a thread on its way is at most what the wait owes to idle Ps: both
// are about the same time, except where the P of its queue was unavailable or marked.
func (m *Accumulator) divide(w *waits.EndedWait, slot int32, k *task) {
	if w.Kind != waits.KindUser {
		return
	}
	s := &m.idling
	waking, missed := w.Causes[atWaking], w.Causes[atMissed]
	kernel := int64(0)
	if waking > 0 && k.fresh && k.lackNs > 0 {
		kernel = max(0, min(waking, k.lackNs, k.lacked.to-max(k.lacked.from, w.From)))
	}
	s.wakingKernel += kernel
	s.wakingRuntime += waking - kernel
	if missed != 0 {
		m.tick(m.now)
		kernel = max(0, min(missed, s.ns-*s.ready.At(slot)))
		s.missedKernel += kernel
		s.missedRuntime += missed - kernel
	}
}

// Ways on which a woken thread came to run a goroutine.
const (
	pathAll = iota
	pathSteal
	pathHandoff
	numPaths
)

var pathNames = [numPaths]string{"start", "steal", "handoff"}

// longestPartNs is the longest part of a path that is told apart.
const longestPartNs = 1_000_000_000

type path struct {
	count int64
	parts [3]*histogram.Histogram // decided, woken, ran
}

// add returns the end of each part and the beginning of the first, ns of the trace.
func (p *path) add(from, asked, onCPU, ran int64) {
	if p.count == 0 {
		for i := range p.parts {
			p.parts[i] = histogram.New(longestPartNs)
		}
	}
	p.count++
	p.parts[0].Add(max(0, asked-from))
	p.parts[1].Add(onCPU - asked)
	p.parts[2].Add(max(0, ran-onCPU))
}

// firstStart books the parts of a wake-up, when its thread k starts its first goroutine.
// What had become runnable after the thread was woken did not have it woken.
func (m *Accumulator) firstStart(k *task, d *reference.Decision) {
	if !k.fresh || k.wokenAt == never || m.counted(m.now, m.now+1) == 0 {
		return
	}
	latest := k.wokenAt + m.r.ResolutionNs()
	if from := m.now - d.Wait; d.Wait >= 0 && from <= latest {
		m.paths[pathAll].add(from, k.wokenAt, k.onCPU, m.now)
		if d.Src == reference.SrcSteal {
			m.paths[pathSteal].add(from, k.wokenAt, k.onCPU, m.now)
		}
	}
	if k.handed != never && k.handed <= latest {
		m.paths[pathHandoff].add(k.handed, k.wokenAt, k.onCPU, m.now)
	}
}

func (m *Accumulator) wakePaths() []WakePath {
	out := []WakePath{}
	for i := range m.paths {
		p := &m.paths[i]
		if p.count == 0 {
			continue
		}
		var parts [3]WakePart
		for j, h := range p.parts {
			q := h.HDR()
			parts[j] = WakePart{P50Ns: q.ValueAtQuantile(50), P99Ns: q.ValueAtQuantile(99)}
		}
		out = append(out, WakePath{Kind: pathNames[i], Count: p.count, Decided: parts[0], Woken: parts[1], Ran: parts[2]})
	}
	return out
}

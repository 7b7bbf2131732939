// Package retakestall is the detector retake-stall: did system calls keep a P
// from the goroutines in its queue? doc.md explains it.
package retakestall

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "retake-stall"

// Thresholds decide when the detector reports system calls that kept a P from the goroutines
// in its queue. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0
// to 1.
type Thresholds struct {
	// StallNs is how long a goroutine must stand behind a system call to count. sysmon
	// takes such a P at its second look, 20 µs apart, unless it has backed off
	// (runtime/proc.go: retake, sysmon).
	StallNs int64 `json:"stall_ns"`
	// Backoff is how many times longer a stall may last than the time for which
	// sysmon had not taken a P before. Its sleeps double after a millisecond of
	// that, so two of them, one to see the call and one to take the P, are never
	// more than that long. What lasts longer is a machine without CPUs.
	Backoff float64 `json:"backoff"`
	// Rare is the share of the calls from the same stack below which one that is
	// so long counts as a thread without a CPU, once there are RareOf of them.
	Rare     float64        `json:"rare"`
	RareOf   int64          `json:"rare_of"`
	MinCount int64          `json:"min_count"` // number of such system calls from which on it is more than a note
	Grade    findings.Grade `json:"grade"`     // severities, by the time that goroutines waited behind the system calls
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{StallNs: 1_000_000, Backoff: 2, Rare: 0.05, RareOf: 20, MinCount: 10, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports system calls that kept a P from the goroutines in its
// queue, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{ProcsPlus: 1, Why: "one P more takes the queue over; if the machine has a core for it"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, tookAt: -1}
			view.Syscalls(findings.SyscallFilter{MinNs: t.StallNs}, w.syscall)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindRetake}}, w.retake)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindLost}}, w.lose)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	victims findings.Tally
	calls   findings.Tally // by class of the caller; Ns is their victims'
	stalls  int64          // ns of the calls, while a goroutine waited
	longest int64
	taken   int64   // ended by sysmon
	back    int64   // over before sysmon came
	tookAt  int64   // when sysmon took a P last; -1: not yet, or not since a gap
	long    []int64 // long calls, by the number of their stack
	rare    int64   // unusually long calls
	freaks  int64   // longer than sysmon's sleeps explain
	quiet   int64   // for how long it had not when the longest stall began; -1: it never had
}

// maxVictims is how many goroutines of a queue are looked at, the earliest ones.
const maxVictims = 257

func (w *watcher) retake(d *reference.Decision) {
	if d.Why == reference.WhyRetakeSlow {
		w.tookAt = w.view.Now()
	}
}

// lose is for a gap in the trace: sysmon may have taken Ps in it.
func (w *watcher) lose(*reference.Decision) { w.tookAt = -1 }

func (w *watcher) syscall(c *findings.Syscall) {
	n, i := w.view.CallsFrom(c.Stack)
	long := findings.Entry(&w.long, i, 0)
	*long++
	if c.Local == 0 || c.System || c.Why == reference.WhySTW {
		return
	}
	if n >= w.t.RareOf && float64(*long) < w.t.Rare*float64(n) {
		w.rare++
		return
	}
	quiet := int64(-1)
	if w.tookAt >= 0 {
		quiet = max(0, c.From-w.tookAt)
		if float64(c.To-max(c.From, w.tookAt)) > w.t.Backoff*float64(quiet)+float64(w.t.StallNs) {
			w.freaks++
			return
		}
	}
	var cost, worst int64
	for g := range w.view.Waiting(c.P, maxVictims) {
		from := max(w.view.QueuedAt(g), c.From)
		if ns := c.To - from; ns >= w.t.StallNs && !g.Self && !g.Locked {
			w.victims.Add(&findings.Cell{Class: g.Class, Ns: ns, From: from, To: c.To, G: g.ID, P: c.P, Stack: g.Stack})
			cost += ns
			worst = max(worst, ns)
		}
	}
	if cost == 0 {
		return
	}
	w.calls.Add(&findings.Cell{Class: c.Class, Ns: cost, From: c.From, To: c.To, G: c.G, P: c.P, Stack: c.Stack})
	w.stalls += worst
	if worst > w.longest {
		w.longest, w.quiet = worst, quiet
	}
	switch c.Why {
	case reference.WhySyscallExit:
		w.back++
	case reference.WhyRetakeSlow:
		w.taken++
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	total, n := w.victims.Total, w.calls.Total.N
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	if n < w.t.MinCount || f.Strained { // sysmon itself may have had no CPU
		s = findings.Note
	}
	callers := w.calls.Actors(f, findings.Cause, 2)
	x := total.Finding(s, findings.Inferred)
	x.Feigned = findings.ByStall
	x.Actors = append(w.victims.Actors(f, findings.Victim, 3), callers...)
	caller, longest, quiet := callers[0].Short(), quantity.Duration(w.longest), "never before in the trace"
	switch {
	case w.quiet == 0:
		quiet = "meanwhile"
	case w.quiet > 0:
		quiet = quantity.Duration(w.quiet) + " before"
	}
	x.Headline = findings.Say("System calls of %s keep a P from its queue for up to %s", caller, longest)
	x.Title = findings.Say("%s, most of %s, kept the P from the goroutines in its queue, up to %s", quantity.Plural(n, "system call", "system calls"), findings.Name(callers[0].Class), longest)
	x.Measured("calls with goroutines waiting behind them", findings.Count(n), findings.Time(w.t.StallNs).With(" each"))
	x.Measured("the longest that one waited", findings.Time(w.longest), findings.Time(w.t.StallNs))
	x.Measured("how long these Ps stood still, summed", findings.Time(w.stalls))
	x.Measured("goroutines that waited", findings.Count(total.N))
	x.Measured("calls from which sysmon took the P in the end", findings.Count(w.taken))
	x.Measured("calls that came back first", findings.Count(w.back))
	x.Measured("when the longest began, sysmon had last taken a P", findings.Said("%s", quiet))
	x.Measured("calls unusually long for their stack, left out", findings.Count(w.rare), findings.Share(w.t.Rare).With(" of them"))
	x.Measured("longer than its sleeps explain, left out", findings.Count(w.freaks))
	x.Advise("Do not wake others and block in the kernel right after it: make the call of %s first, or from a goroutine of its own that wakes nobody.", caller)
	x.Advise("Replace the call by one that the poller handles, such as a socket, a pipe or a deadline, where a wait costs no P; or batch such calls, so that there are fewer.")
	x.Advise("sysmon looks every 20 µs only as long as it finds Ps to take; after 1 ms without any it looks ever more rarely, down to every 10 ms. A rare blocking call therefore costs more than a frequent one. A further P would take the queue over meanwhile.")
	return []findings.Finding{x}
}

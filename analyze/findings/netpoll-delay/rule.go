// Package netpolldelay is the detector netpoll-delay: was the network left to
// sysmon, because all Ps were busy? doc.md explains it.
package netpolldelay

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "netpoll-delay"

// Thresholds decide when the detector reports network wake-ups that were left to sysmon
// because all Ps were busy. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// Share is the share of the wake-ups by the network that must have come from a thread
	// without a P while all Ps were busy.
	Share float64 `json:"share"`
	// WaitNs is from when on the wait after such a wake-up counts, and MinCount and
	// TailShare how many of them, and which share, must have waited so long.
	WaitNs    int64   `json:"wait_ns"`
	MinCount  int64   `json:"min_count"`
	TailShare float64 `json:"tail_share"`
	// LongNs is the length of a run interval that holds up the network.
	LongNs int64 `json:"long_ns"`
	// PollNs is for how long nobody polled when sysmon does.
	PollNs int64          `json:"poll_ns"`
	Grade  findings.Grade `json:"grade"` // severities, by the waiting of goroutines that were woken late
}

// Default returns the thresholds that apply unless a configuration sets others. PollNs is
// sysmon's, in proc.go; a wait of 1 ms for 1 % of the wake-ups is a p99 above 1 ms, a hundred
// times what waking a thread takes.
func Default() Thresholds {
	return Thresholds{Share: 0.001, MinCount: 5, WaitNs: 1_000_000, TailShare: 0.01, LongNs: 1_000_000, PollNs: 10_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports network wake-ups that were left to sysmon because all
// Ps were busy, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindSymptom, NeedsQueues: true,
		Remedy: findings.Remedy{Why: "the time before the wake-up is no waiting for a P"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, pending: map[int64]struct{}{}}
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.WithoutP}, w.ready)
			w.mark = w.view.NewMark()
			w.view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStart}, Mark: w.mark}, w.start)
			w.view.Runs(findings.RunFilter{MinNs: t.LongNs}, w.run)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	late    int64              // wake-ups by the network, by threads without a P while all Ps were busy
	pending map[int64]struct{} // goroutines woken so that have not started yet
	mark    findings.Mark      // of these
	victims findings.Tally
	causes  findings.Tally
}

func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if g != nil && !g.System && d.Why == reference.WhyNetwork && w.view.CountPs(ledger.Idle) == 0 {
		w.late++
		w.pending[d.G] = struct{}{}
		w.view.Mark(w.view.Slot(), w.mark)
	}
}

func (w *watcher) start(d *reference.Decision) {
	w.view.Unmark(w.view.Slot(), w.mark)
	if _, ok := w.pending[d.G]; ok {
		delete(w.pending, d.G)
		if g := w.view.Goroutine(); g != nil && g.Wait >= 0 {
			w.waited(g, g.Wait, d.Time, d.P)
		}
	}
}

// waited processes the wait of a goroutine that was woken late.
func (w *watcher) waited(g *findings.Goroutine, ns, now int64, p int32) {
	if ns >= w.t.WaitNs {
		w.victims.Add(&findings.Cell{Class: g.Class, Ns: ns, From: now - ns, To: now, G: g.ID, P: p, Stack: g.Stack})
	}
}

func (w *watcher) run(r *findings.Run) {
	if len(w.pending) > 0 && r.Ns() >= w.t.LongNs {
		w.causes.Add(&findings.Cell{Class: r.Class, Ns: r.Ns(), From: r.From, To: r.To, G: r.G, P: r.P, Stack: r.Stack})
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.view.Everyone(func(g *findings.Goroutine) {
		if _, ok := w.pending[g.ID]; ok {
			w.waited(g, f.EndNs-g.ReadyAt, f.EndNs, g.P)
		}
	})
	total, wakes := w.victims.Total, w.view.Totals().NetworkWakes
	if total.N < w.t.MinCount || float64(w.late) < w.t.Share*float64(wakes) || float64(total.N) < w.t.TailShare*float64(w.late) {
		return nil
	}
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	x := total.Finding(s, findings.Inferred)
	x.Feigned = findings.ByStall
	x.Actors = w.victims.Actors(f, findings.Victim, 3)
	x.Headline = findings.Say("No P has time to poll the network: %s late", quantity.Plural(w.late, "wake-up was", "wake-ups were"))
	x.Title = findings.Say("%s came late, from a thread without a P, because no P had time to poll; %s of them then waited, up to %s",
		quantity.Plural(w.late, "network wake-up", "network wake-ups"), quantity.Count(total.N), quantity.Duration(total.Worst))
	x.Measured("network wake-ups by threads without a P while all Ps were busy", findings.Count(w.late).With(" of %s (%s)", quantity.Count(wakes), quantity.Part(w.late, wakes)), findings.Share(w.t.Share))
	x.Measured("of them, that waited for a P afterwards", findings.Count(total.N), findings.Count(w.t.MinCount).With(" of %s, and %s", quantity.Duration(w.t.WaitNs), quantity.Percent(w.t.TailShare)))
	x.Measured("their waits, summed", findings.Time(total.Ns))
	x.Measured("the longest", findings.Time(total.Worst), findings.Time(w.t.WaitNs))
	x.Measured("before each wake-up, not shown by the trace: the data lay in the kernel for up to", findings.Time(w.t.PollNs).With(" (sysmon polls when nobody has for so long)"))
	if causes := &w.causes; len(causes.Cells) > 0 && 2*causes.Total.Ns > total.To-total.From { // long runs kept the Ps from polling
		x.Actors = append(x.Actors, causes.Actors(f, findings.Cause, 2)...)
		name := f.Name(causes.Top(1)[0].Class)
		x.Measured("run intervals of "+quantity.Duration(w.t.LongNs)+" and more while such goroutines waited", findings.Count(causes.Total.N).With(", most of %s", name).Of(causes.Total.Ns))
		x.Advise("Split the long runs of %s, with runtime.Gosched or an operation that blocks after every 100 µs or so: a P polls the network when it finds nothing else to run.", name)
		x.Advise("Bound how many of them run at once, below GOMAXPROCS, so that a P stays free for those who serve the network; or move the computing into another process.")
	} else {
		x.Advise("No goroutine ran for long: the Ps did not poll because their queues never ran empty. Admit less work at once, so that the queues stay short, or add CPUs.")
	}
	x.Advise("Latency that clients see beyond the waits in this report may be this: compare it with theirs.")
	return []findings.Finding{x}
}

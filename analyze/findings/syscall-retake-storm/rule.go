// Package syscallretakestorm is the detector syscall-retake-storm: did short
// system calls lose their P, and then wait longer for another than they took?
// doc.md explains it.
package syscallretakestorm

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "syscall-retake-storm"

// Thresholds decide when the detector reports short system calls that lost their P and then
// waited long for another. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// ShortNs is the length up to which a call would better have kept its P. To
	// take the P, start a thread for it and get one back takes some 100 µs, and
	// sysmon does not look twice within 40.
	ShortNs int64 `json:"short_ns"`
	// Of the calls of a class, at least Share must have been such short ones that lost
	// their P, or Rate of them in a second; and at least MinCount.
	Share    float64        `json:"share"`
	Rate     float64        `json:"rate"`
	MinCount int64          `json:"min_count"`
	Grade    findings.Grade `json:"grade"` // severities, by the time that goroutines waited for a P after such calls
}

// Default returns the thresholds that apply unless a configuration sets others. What they
// guard against is golang/go#18236.
func Default() Thresholds {
	return Thresholds{ShortNs: 1_000_000, Share: 0.05, Rate: 1000, MinCount: 20, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports short system calls that lost their P and then waited
// long for another, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		Remedy: findings.Remedy{ProcsPlus: 1, Why: "one P more, as if CPU-bound goroutines left one free; if the machine has a core for it"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, classes: findings.NewTable(findings.MaxKept, newCalls)}
			view.Syscalls(findings.SyscallFilter{Lost: true}, w.syscall)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSyscallExit}, When: findings.WithoutP}, w.exit)
			view.Residencies(findings.ResidencyFilter{Whys: []reference.Why{reference.WhySyscallExit}}, w.leave)
			return w
		},
	}
}

type watcher struct {
	t       Thresholds
	view    *findings.View
	classes findings.Table[int32, calls]
}

// calls are the system calls of one class.
type calls struct {
	taken   int64 // that lost the P
	short   int64 // of these, those that came back soon
	shortNs int64
	waits   findings.Cell // of the short ones, for another P
}

func newCalls(class int32) calls { return calls{waits: findings.Cell{Class: class}} }

func (w *watcher) syscall(s *findings.Syscall) {
	if !s.System && byOthers(s.Why) {
		if c := w.classes.At(s.Class); c != nil {
			c.taken++
		}
	}
}

// byOthers reports whether a P was taken because others could use it.
func byOthers(why reference.Why) bool {
	return why == reference.WhyRetakeSlow || why == reference.WhyRetakeReturn
}

func (w *watcher) exit(*reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System || !w.short(g, w.view.Now()) {
		return
	}
	if c := w.classes.At(g.Class); c != nil {
		c.short++
		c.shortNs += w.view.Now() - g.CallAt
	}
}

// short reports whether g's last call lost its P and came back soon, at the given
// time.
func (w *watcher) short(g *findings.Goroutine, back int64) bool {
	return byOthers(g.CallWhy) && g.CallAt >= 0 && back-g.CallAt <= w.t.ShortNs
}

func (w *watcher) leave(s *findings.Residency) {
	g := s.G
	if !s.Start || !w.short(g, g.ReadyAt) {
		return
	}
	if c := w.classes.At(g.Class); c != nil {
		c.waits.Add(&findings.Cell{Ns: s.To - g.ReadyAt, From: g.ReadyAt, To: s.To, G: g.ID, P: s.P, Stack: g.Stack})
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var classes []*calls // whose calls matter
	var sum calls
	var all int64 // calls of these classes
	for _, c := range w.classes.List {
		n := w.view.ClassStat(c.waits.Class).Calls
		often := float64(c.short) >= w.t.Share*float64(n) || float64(c.short)*1e9 >= w.t.Rate*float64(f.RecordedNs())
		// A wait shorter than the call is a fair price for what others did meanwhile.
		if c.short < w.t.MinCount || !often || c.waits.Ns < c.shortNs {
			continue
		}
		classes = append(classes, c)
		all += n
		sum.taken += c.taken
		sum.short += c.short
		sum.shortNs += c.shortNs
		sum.waits.Merge(&c.waits)
	}
	s, ok := w.t.Grade.Severity(sum.waits.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	slices.SortFunc(classes, func(x, y *calls) int {
		return cmp.Or(cmp.Compare(y.waits.Ns, x.waits.Ns), cmp.Compare(x.waits.Class, y.waits.Class))
	})
	top := &classes[0].waits
	x := findings.Finding{
		Severity: s, CostNs: sum.waits.Ns, FromNs: top.From, ToNs: top.To, Basis: findings.Inferred, Feigned: findings.ByStall,
	}
	for _, c := range classes[:min(3, len(classes))] {
		x.Actors = append(x.Actors, c.waits.Actor(f, findings.Victim))
	}
	call, wait, by := sum.shortNs/sum.short, sum.waits.Ns/max(1, sum.waits.N), f.Procs.Retakes.ByCause
	x.Headline = findings.Say("%s of %s lost their P", quantity.Plural(sum.short, "short system call", "short system calls"), findings.Short(f.Name(top.Class)))
	x.Title = findings.Say("%s of about %s, most of %s, lost their P and waited %s for another",
		quantity.Plural(sum.short, "system call", "system calls"), quantity.Duration(call), f.Name(top.Class), quantity.Duration(wait))
	x.Measured("calls that lost the P and came back soon", findings.Count(sum.short), findings.Count(w.t.MinCount).With(", within %s", quantity.Duration(w.t.ShortNs)))
	x.Measured("share of all calls of these goroutines", findings.PartOf(sum.short, max(1, all)), findings.Share(w.t.Share))
	x.Measured("such calls a second", findings.Rate(float64(sum.short)*1e9/float64(max(1, f.RecordedNs()))), findings.Rate(w.t.Rate).With(", or the share"))
	x.Measured("their mean length", findings.Time(call), findings.Time(w.t.ShortNs))
	x.Measured("mean wait for a P afterwards", findings.Time(wait), findings.Time(call).With(", the call"))
	x.Measured("the longest", findings.Time(top.Worst))
	x.Measured("calls that lost the P, however long", findings.Count(sum.taken).With(" of %s", quantity.Count(all)))
	x.Measured("other retakes: by sysmon, by returning calls", findings.Count(by[reference.WhyRetakeSlow.String()]).With(", %s", quantity.Count(by[reference.WhyRetakeReturn.String()])))
	x.Advise("Make fewer and larger steps between the calls, or fewer calls: buffer (bufio), batch, keep what was read. A call that sysmon finds at two looks, 20 µs apart, loses its P as soon as others want it.")
	x.Advise("Bound how many goroutines make such calls at once, by a semaphore or a few I/O goroutines, so that the others need not wait for a P after each call.")
	x.Advise("The wait is for Ps that CPU-bound goroutines hold: leave a P to the others, by fewer of them, or have them yield (runtime.Gosched) between steps of some 100 µs.")
	return []findings.Finding{x}
}

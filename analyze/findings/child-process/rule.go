// Package childprocess is the detector child-process: does the program do nothing but wait for
// processes that it has started? doc.md explains it.
package childprocess

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	blockedonothers "github.com/gmpscope/gmpscope/analyze/findings/blocked-on-others"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "child-process"

// Thresholds decide when the detector reports time in which nothing runs but child processes.
// Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// MinNs is for how long nothing but child processes must have run.
	MinNs int64 `json:"min_ns"`
	// Least shares of the recording for which nothing but child processes ran.
	NoteShare    float64 `json:"note_share"`
	WarningShare float64 `json:"warning_share"`
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own.
func Default() Thresholds { return Thresholds{MinNs: 50_000_000, NoteShare: 0.1, WarningShare: 0.25} }

// New returns the detector that reports time in which nothing runs but child processes, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, AnyLength: true, Kind: findings.KindCause, CostOf: findings.OfBlocked,
		Explains: []string{blockedonothers.ID},
		Remedy:   findings.Remedy{Why: "the model makes the system calls of the recording"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, under: map[int64]call{}}
			view.Syscalls(findings.SyscallFilter{Lost: true}, w.lostP)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSyscallExit}, When: findings.WithoutP}, w.returned)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	under map[int64]call // system calls that have lost their P, by goroutine
	calls []call         // those that took long
}

// longNs is from when on a system call may be a wait for a process; maxCalls bounds memory: what
// comes later does not count.
const (
	longNs   = 1_000_000
	maxCalls = 1 << 14
)

// call is a system call without its P.
type call struct {
	g            int64
	class, stack int32
	began        int64
	from, to     int64 // without the P
	// For how long goroutines of the program had run by then.
	busyFrom, busyTo int64
}

func (w *watcher) lostP(c *findings.Syscall) {
	if !c.System {
		w.under[c.G] = call{g: c.G, class: c.Class, stack: c.Stack, began: c.From, from: c.To, busyFrom: w.view.RunIntegral().BusyNs}
	}
}

func (w *watcher) returned(d *reference.Decision) {
	c, ok := w.under[d.G]
	delete(w.under, d.G)
	if ok {
		w.over(c, d.Time)
	}
}

func (w *watcher) over(c call, now int64) {
	if c.to, c.busyTo = now, w.view.RunIntegral().BusyNs; now-c.began >= longNs && len(w.calls) < maxCalls {
		w.calls = append(w.calls, c)
	}
}

// site is the waits in one function of the program.
type site struct {
	findings.Cell
	in    findings.Name
	place string
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for _, g := range slices.Sorted(maps.Keys(w.under)) {
		w.over(w.under[g], f.EndNs)
	}
	var all []call
	var sum findings.Cell
	bySite := findings.NewTable(maxCalls, func(in findings.Name) site { return site{in: in} })
	for _, c := range w.calls {
		if !waits(f.Frames(c.stack)) {
			continue
		}
		all = append(all, c)
		in, place := f.ProgramsFunction(c.stack)
		s, ns := bySite.At(in), c.to-c.began
		if s.N == 0 {
			s.place = place
		}
		wait := findings.Cell{
			Class: c.class, N: 1, Ns: ns, Worst: ns, From: c.began, To: c.to, G: c.g, P: reference.NoP, Stack: c.stack,
		}
		s.Include(&wait)
		sum.Merge(&wait)
	}
	alone := alone(all)
	share := f.Share(alone)
	s, ok := findings.ByShare(share, w.t.NoteShare, w.t.WarningShare, math.Inf(1))
	if !ok || alone < w.t.MinNs {
		return nil
	}
	sites := bySite.List
	slices.SortStableFunc(sites, func(x, y *site) int { return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.in, y.in)) })
	most := sites[0]
	x := findings.Finding{
		Severity: s, CostNs: min(alone, f.BlockedNs), FromNs: most.From, ToNs: most.To, Basis: findings.Certain,
		Actors: []findings.Actor{most.Actor(f, findings.Cause)},
	}
	of := fmt.Sprintf("%s of %s", quantity.Duration(alone), quantity.Duration(f.RecordedNs()))
	x.Headline = findings.Say("Waiting for a child process (%s): nothing else ran for %s", most.in, of)
	x.Title = findings.Say("For %s (%s) the program only waited for processes that it had started: %s waited %s, %s in all and up to %s at a time",
		of, quantity.Percent(share), most.in, quantity.Plural(most.N, "time", "times"), quantity.Duration(most.Ns), quantity.Duration(most.Worst))
	x.Measured("time in which nothing ran but child processes", findings.Time(alone).With(" (%s)", quantity.Percent(share)), findings.Time(w.t.MinNs).With(" and %s", quantity.Percent(w.t.NoteShare)))
	x.Measured("waits for a child process, summed", findings.Time(sum.Ns))
	for _, s := range sites[:min(maxSites, len(sites))] {
		x.MeasuredOf(findings.Say("in %s (%s)", s.in, findings.Place(s.place)), findings.Time(s.Ns).With(" in %s", quantity.Plural(s.N, "wait", "waits")))
	}
	x.Advise("Start fewer processes in %s, or let one do the work of several; keep their answers where they stay the same.", most.in)
	x.Advise("Do meanwhile what does not need their answers, or run several at once if the machine has the cores. No setting of the scheduler changes what they take.")
	return []findings.Finding{x}
}

// maxSites is how many functions are named.
const maxSites = 3

// waits reports whether a system call waits for a process to end: it is made by
// os.(*Process).Wait, whose innermost functions differ with the system and the Go version, or is a
// wait4 of the program's own.
func waits(frames []string) bool {
	return findings.Through(frames, "os.(*Process).Wait", "os.(*Process).wait", "os.(*Process).blockUntilWaitable",
		"os.(*Process).pidfdWait", "syscall.Wait4", "golang.org/x/sys/unix.Wait4", "golang.org/x/sys/unix.Waitid")
}

// alone is for how long at least one of the calls was under way and no goroutine of the program ran.
func alone(calls []call) (ns int64) {
	slices.SortFunc(calls, func(x, y call) int { return cmp.Compare(x.from, y.from) })
	for i := 0; i < len(calls); {
		from, to := &calls[i], &calls[i]
		for ; i < len(calls) && calls[i].from <= to.to; i++ {
			if calls[i].to > to.to {
				to = &calls[i]
			}
		}
		ns += to.to - from.from - (to.busyTo - from.busyFrom)
	}
	return ns
}

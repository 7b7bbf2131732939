package findings

import (
	"slices"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Grade is the thresholds of lost time for each severity. Both the share and the absolute
// time must be reached: the share makes long traces comparable, the time keeps short ones
// from raising an alarm about a single event.
type Grade struct {
	// Shares are of the trace's duration: 0.01 means that at any instant a
	// hundredth of a goroutine was kept waiting on average.
	NoteShare     float64 `json:"note_share"`
	NoteNs        int64   `json:"note_ns"`
	WarningShare  float64 `json:"warning_share"`
	WarningNs     int64   `json:"warning_ns"`
	CriticalShare float64 `json:"critical_share"`
	CriticalNs    int64   `json:"critical_ns"`
}

// DefaultGrade returns the Grade of detectors that have no other.
func DefaultGrade() Grade {
	return Grade{
		NoteShare: 0.001, NoteNs: 1_000_000,
		WarningShare: 0.01, WarningNs: 10_000_000,
		CriticalShare: 0.25, CriticalNs: 100_000_000,
	}
}

// Severity returns the severity of a cost, the goroutine-time lost, within a recorded duration, both
// in ns. It is not ok if that is too little to report.
func (g Grade) Severity(cost, duration int64) (s Severity, ok bool) {
	return g.bySize(cost, quantity.Ratio(cost, max(0, duration)))
}

func (g Grade) bySize(cost int64, share float64) (s Severity, ok bool) {
	switch {
	case cost >= g.CriticalNs && share >= g.CriticalShare:
		return Critical, true
	case cost >= g.WarningNs && share >= g.WarningShare:
		return Warning, true
	case cost >= g.NoteNs && share >= g.NoteShare:
		return Note, true
	}
	return "", false
}

// ByShare returns the severity of a share by the least shares for each severity, all fractions from 0
// to 1. It is not ok if that is too little to report.
func ByShare(share, note, warning, critical float64) (s Severity, ok bool) {
	return Grade{NoteShare: note, WarningShare: warning, CriticalShare: critical}.bySize(0, share)
}

// Order returns the rank of a severity for sorting: 0 for Critical, 1 for Warning, 2 for Note, and 3
// for anything else.
func (s Severity) Order() int {
	if i := slices.Index([]Severity{Critical, Warning, Note}, s); i >= 0 {
		return i
	}
	return 3
}

// AtLeast reports whether s is at least as severe as t.
func (s Severity) AtLeast(t Severity) bool { return s.Order() <= t.Order() }

// Lower returns the next lower severity; a note stays a note.
func (s Severity) Lower() Severity {
	if s == Critical {
		return Warning
	}
	return Note
}

// Values of Finding.Basis: how a finding is known.
const (
	Certain   = "certain"   // the trace shows it
	Inferred  = "inferred"  // it follows from events, stacks and the rules of the scheduler
	Suspected = "suspected" // the trace cannot prove it
)

// shortNs is the duration below which a trace is an anecdote: ten time slices.
const shortNs = 100_000_000

const (
	strained = "Threads of this program seem to have lacked CPUs: run intervals far longer than is usual for their class, a P with work that stood still, a thread in the scheduler that did nothing for milliseconds, or idle Ps that were slow to get a thread. Part of what is found may be the operating system's doing; "
	short    = "The recording is short: see in a longer one whether what is found happens all the time, or only at the start."
)

// Values of Doubt.ID: why a finding may be wrong.
const (
	Strained  = "strained" // threads seem to have lacked CPUs
	OnlyShort = "short"    // the recording is short
)

// Feigned is what may have made the evidence of a finding although what the finding says is not true.
// The zero value is nothing.
type Feigned uint8

// What may feign evidence.
const (
	ByStrain Feigned = iota + 1 // a lack of CPUs
	ByStall                     // a lack of CPUs, or a thread with a P that stood still
)

// doubt makes a finding milder where the machine was strained, or stood still for a quarter of its
// cost, and that may have made its evidence; and where the recording is short: what happens once,
// at the start of a program or in a single burst, fills it.
func (f *Facts) doubt(d *Detector, x *Finding) {
	if x.Feigned != 0 && f.Strained || x.Feigned == ByStall && f.Records() == nil && f.Stalls.explains(x.CostNs) {
		x.Severity, x.Basis = x.Severity.Lower(), Suspected
		x.Doubts = append(x.Doubts, Strained)
	}
	if x.Kind != KindTrace && !d.AnyLength && f.RecordedNs() < shortNs && x.Severity != Note {
		x.Severity = x.Severity.Lower()
		x.Doubts = append(x.Doubts, OnlyShort)
	}
}

// doubts puts into words what findings doubt.
func (f *Facts) doubts(list []Finding) []Doubt {
	var out []Doubt
	for _, d := range [...]Doubt{{ID: Strained, Text: f.strain(), WaitedNs: min(f.Stalls.WaitedNs, f.Waits.User.TotalNs)}, {ID: OnlyShort, Text: short}} {
		if slices.ContainsFunc(list, func(x Finding) bool { return slices.Contains(x.Doubts, d.ID) }) {
			out = append(out, d)
		}
	}
	return out
}

// strain reports what was strained, and what to do about it.
func (f *Facts) strain() string {
	if m := f.Records(); m != nil {
		return "By the kernel's records goroutines had no CPU for " + quantity.Percent(m.OffShare()) + " of their running time: part of this is the operating system's doing; repeat the recording where they have one."
	}
	switch {
	case f.EnoughCPUs():
		return strained + "repeat the recording on a quiet machine. More Ps than CPUs is ruled out."
	case f.MorePs():
		return strained + "there were more Ps than CPUs, so repeat the recording with GOMAXPROCS " + quantity.Count(int64(f.PsFor())) + "."
	}
	return strained + "repeat the recording on a quiet machine, or with no more Ps than CPUs."
}

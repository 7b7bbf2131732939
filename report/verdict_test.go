package report

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// wordingOf is the diagnosis of a result, ready to be put into words.
func wordingOf(r *analyze.Result) *wording { return &wording{diagnosis.Diagnose(r), r, nil} }

func TestVerdictIsAboutACause(t *testing.T) {
	f := func(id string, s findings.Severity, cost int64) findings.Finding {
		return findings.Finding{ID: id, Kind: kindOf(t, id), Severity: s, CostNs: cost}
	}
	of := func(x findings.Finding, ids ...string) findings.Finding {
		x.SymptomOf = ids
		return x
	}
	by := func(x findings.Finding) findings.Finding { // blames somebody
		x.Actors = []findings.Actor{{Role: findings.Cause, Class: "main.hog", Stack: []string{"syscall.read (x.go:1)"}}}
		return x
	}
	counted := func(x findings.Finding) findings.Finding {
		x.Counted = true
		return x
	}
	for _, c := range []struct {
		list []findings.Finding
		want string
	}{
		{nil, ""},
		{[]findings.Finding{f("convoy", findings.Note, 9)}, ""},
		{[]findings.Finding{f("trace-quality", findings.Critical, 0), of(f("starvation", findings.Critical, 100), "convoy"), f("convoy", findings.Critical, 60)}, "convoy"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), f("lock-convoy", findings.Critical, 60)}, "starvation"},
		{[]findings.Finding{of(f("starvation", findings.Critical, 100), "late-preemption"), of(f("timer-lateness", findings.Critical, 90), "late-preemption"), f("late-preemption", findings.Warning, 50)}, "late-preemption"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), f("convoy", findings.Critical, 49)}, "starvation"},
		{[]findings.Finding{of(f("starvation", findings.Critical, 100), "convoy"), f("convoy", findings.Note, 99)}, "convoy"},
		{[]findings.Finding{by(of(f("starvation", findings.Critical, 100), "convoy")), f("convoy", findings.Note, 99)}, "starvation"},
		{[]findings.Finding{by(of(f("timer-lateness", findings.Critical, 100), "os-preemption")), f("os-preemption", findings.Note, 99)}, "os-preemption"},
		{[]findings.Finding{f("starvation", findings.Warning, 100), f("os-preemption", findings.Warning, 1)}, "os-preemption"},
		{[]findings.Finding{f("timer-lateness", findings.Critical, 100), f("lock-convoy", findings.Warning, 100)}, "lock-convoy"},
		{[]findings.Finding{f("convoy", findings.Critical, 100), f("work-conservation", findings.Warning, 60), f("os-preemption", findings.Warning, 50)}, "convoy"},
		{[]findings.Finding{of(f("starvation", findings.Critical, 100), "convoy", "cpu-throttling"), f("convoy", findings.Critical, 90), f("cpu-throttling", findings.Warning, 50)}, "convoy"},
		{[]findings.Finding{f("convoy", findings.Critical, 100), f("os-preemption", findings.Warning, 49)}, "convoy"},
		{[]findings.Finding{f("convoy", findings.Warning, 100), f("os-preemption", findings.Note, 99)}, "convoy"},
		{[]findings.Finding{f("lock-convoy", findings.Warning, 1), f("starvation", findings.Warning, 1)}, "lock-convoy"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), counted(f("unbuffered-io", findings.Warning, 20))}, "unbuffered-io"},
		{[]findings.Finding{f("starvation", findings.Critical, 100), counted(f("unbuffered-io", findings.Warning, 9))}, "starvation"},
	} {
		got := ""
		if x := findings.Chief(c.list, findings.Warning); x != nil {
			got = x.ID
		}
		if got != c.want {
			t.Errorf("%v: about %q, want %q", c.list, got, c.want)
		}
	}
}

// kindOf is the kind of the detector with an ID.
func kindOf(t *testing.T, id string) findings.Kind {
	t.Helper()
	for _, d := range all.Detectors(all.Default()) {
		if d.ID == id {
			return d.Kind
		}
	}
	t.Fatal("there is no detector " + id)
	return ""
}

func TestRunsWithoutCPUAreSaid(t *testing.T) {
	const said = "Threads seem to have lacked a CPU"
	for _, c := range []struct {
		id       string
		severity findings.Severity
		want     bool
	}{
		{"os-preemption", findings.Warning, true},
		{"cpu-throttling", findings.Critical, true},
		{"os-preemption", findings.Note, false},
		{"convoy", findings.Critical, false},
	} {
		r := &analyze.Result{Findings: []findings.Finding{{ID: c.id, Kind: kindOf(t, c.id), Severity: c.severity}}}
		if got := wordingOf(r).sureness(); strings.Contains(got, said) != c.want {
			t.Errorf("%s, %s: %q", c.id, c.severity, got)
		}
	}
}

func TestCPUsThatWereToldAreSaid(t *testing.T) {
	for _, c := range []struct {
		cpus  float64
		basis string // of os-preemption; empty: not found
		want  string
	}{
		{0, "", ""},
		{0, findings.Suspected, " Threads seem to have lacked a CPU: runs and waits contain time in which nothing ran."},
		{0.5, findings.Certain, " The process had 0.5 CPUs (as told), fewer than its 4 Ps. Threads lacked a CPU: runs and waits contain time in which nothing ran."},
		{1, "", " The process had 1 CPU (as told), fewer than its 4 Ps."},
		{4, "", " The process had 4 CPUs (as told): more Ps than CPUs is ruled out."},
		{8, findings.Suspected, " The process had 8 CPUs (as told): more Ps than CPUs is ruled out, and other processes remain. Threads seem to have lacked a CPU: runs and waits contain time in which nothing ran."},
	} {
		r := &analyze.Result{Trace: analyze.Trace{GOMAXPROCS: 4, CPUs: c.cpus}}
		if c.basis != "" {
			r.Findings = []findings.Finding{{Kind: findings.KindMachine, Severity: findings.Warning, Basis: c.basis}}
		}
		if got := wordingOf(r).lackOfCPUs(); got != c.want {
			t.Errorf("%v CPUs, %s: %q, want %q", c.cpus, c.basis, got, c.want)
		}
	}
}

func TestFirstAdvice(t *testing.T) {
	const none = "less work at once, more Ps if the machine has the cores, or shorter runs."
	for _, c := range []struct {
		list []findings.Finding
		want string
	}{
		{[]findings.Finding{{ID: "convoy", Severity: findings.Warning, Advice: []findings.Text{findings.Say("Split the long work.")}}}, "split the long work."},
		{[]findings.Finding{{ID: "starvation", Severity: findings.Warning}}, none},
		{nil, none},
	} {
		r := &analyze.Result{Findings: c.list}
		r.Waits.User.Causes = causes(0, 0, 0, 0, 0, 5, 0)
		if got := wordingOf(r).advice(); got != c.want {
			t.Errorf("%v: %q, want %q", c.list, got, c.want)
		}
	}
}

// What to do about a finding's cause comes from the one that it is a symptom of, if that blames
// the same function.
func TestAdviceOfTheSameCause(t *testing.T) {
	poll := findings.Actor{Role: findings.Cause, Class: "main.hog", Stack: []string{"main.poll (x.go:1)"}}
	for _, c := range []struct {
		by   findings.Finding
		want string
	}{
		{findings.Finding{ID: "yield-spinning", Severity: findings.Note, Advice: []findings.Text{findings.Say("Let it block.")}, Actors: []findings.Actor{poll}}, "let it block."},
		{findings.Finding{ID: "yield-spinning", Severity: findings.Note, Advice: []findings.Text{findings.Say("Let it block.")}, Actors: []findings.Actor{{Role: findings.Cause, Class: "main.other"}}}, "split it."},
		{findings.Finding{ID: "convoy", Severity: findings.Note, Advice: []findings.Text{findings.Say("Let it block.")}, Actors: []findings.Actor{poll}}, "split it."},
	} {
		late := findings.Finding{ID: "timer-lateness", Severity: findings.Critical, SymptomOf: []string{"yield-spinning"}, Advice: []findings.Text{findings.Say("Split it.")}, Actors: []findings.Actor{poll}}
		r := &analyze.Result{Findings: []findings.Finding{late, c.by}}
		if got := wordingOf(r).advice(); got != c.want {
			t.Errorf("%s: %q, want %q", c.by.ID, got, c.want)
		}
	}
}

func TestSymptomsBeginWithWhoSuffersAndFromWhat(t *testing.T) {
	r := &analyze.Result{Findings: []findings.Finding{{
		ID: "starvation", Kind: findings.KindSymptom, Severity: findings.Warning, Title: findings.Say("3 waits of over 1 ms took more than 3× what sharing would have"),
		Actors: []findings.Actor{{Role: findings.Cause, Class: "main.hog"}, {Role: findings.Victim, Class: "main.small"}, {Role: findings.Victim, Class: "main.victim"}},
	}}}
	class := func(name string, cs ...waits.CauseTime) waits.Class {
		s := waits.Summary{Causes: cs}
		for _, c := range cs {
			s.TotalNs += c.Ns
			s.MaxNs = max(s.MaxNs, c.Ns)
		}
		return waits.Class{Name: name, Waits: s}
	}
	r.Waits.Classes = []waits.Class{
		class("main.hog", waits.CauseTime{Cause: waits.CauseQueueing, Ns: 90_000_000}),
		class("main.small", waits.CauseTime{Cause: waits.CauseGC, Ns: 1_000_000}),
		class("main.victim", waits.CauseTime{Cause: waits.CauseIdlePAvailable, Ns: 6_000_000}, waits.CauseTime{Cause: waits.CauseGC, Ns: 2_000_000}),
	}
	want := "main.victim waited 8 ms in all, up to 6 ms at a time: 75 % of it while an idle P had not come for it yet."
	if got := wordingOf(r).inWords(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Waits.Classes[2] = class("main.victim", waits.CauseTime{Cause: waits.CauseIdlePAvailable, Ns: 4_000_000}, waits.CauseTime{Cause: waits.CauseGC, Ns: 3_000_000}, waits.CauseTime{Cause: waits.CauseQueueing, Ns: 3_000_000})
	want = "main.victim waited 10 ms in all, up to 4 ms at a time: 40 % of it while an idle P had not come for it yet and 30 % behind mark workers of the garbage collector."
	if got := wordingOf(r).inWords(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Findings[0].Kind = findings.KindCause
	if got := wordingOf(r).inWords(); got != "3 waits of over 1 ms took more than 3× what sharing would have." {
		t.Errorf("a cause: %q", got)
	}
}

func TestACostlyNoteIsToldWhereThereIsLittleWaiting(t *testing.T) {
	r := &analyze.Result{
		Detectors: []analyze.Detector{{ID: "gc-assist-wait"}},
		Findings:  []findings.Finding{{ID: "gc-assist-wait", Severity: findings.Note, Title: findings.Say("Goroutines had to help"), CostNs: 30, Advice: []findings.Text{findings.Say("Allocate less.")}}},
	}
	r.Procs.Ps = []procs.Proc{{RunningNs: 100}}
	r.Waits.User = waits.Summary{Count: 1, TotalNs: 10, Causes: []waits.CauseTime{{Cause: waits.CauseQueueing, Ns: 10}}}
	if got, want := wordingOf(r).verdict().Headline, "Goroutines had to help"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := wordingOf(r).verdict().Try, "If that cost matters to you, try: allocate less."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Findings[0].CostNs = 15
	if wordingOf(r).Subject != nil {
		t.Error("a seventh of the running is not costly")
	}
}

// TestCollected is for programs that mostly collect garbage.
func TestCollected(t *testing.T) {
	ps := func(gc, ran, other int64) *analyze.Result {
		return &analyze.Result{Procs: procs.Result{Ps: []procs.Proc{{GCNs: gc, RunningNs: ran, SyscallNs: other}}}}
	}
	if got, want := wordingOf(ps(6e6, 5e6, 0)).collected(), "The garbage collector ran for longer than the program: 6 ms against 5 ms of CPU capacity."; strings.ReplaceAll(got, "\u00a0", " ") != want {
		t.Errorf("%q", got)
	}
	for _, r := range []*analyze.Result{ps(5e6, 6e6, 0), ps(6e6, 5e6, 20e6), ps(0, 0, 0)} {
		if got := wordingOf(r).collected(); got != "" {
			t.Errorf("%q", got)
		}
	}
}

// used is a result of a program that used a part of a P's 100 ms, and was blocked for 900 ms.
func used(part float64) *analyze.Result {
	r := &analyze.Result{Detectors: []analyze.Detector{{ID: "convoy"}}}
	r.Procs.Ps = []procs.Proc{{LifetimeNs: 100e6, RunningNs: int64(part * 100e6), IdleNs: int64((1 - part) * 100e6)}}
	r.Waits.User = waits.Summary{Count: 100, TotalNs: 40e6, MaxNs: 1e6, Causes: []waits.CauseTime{{Cause: waits.CauseIdlePAvailable, Ns: 40e6}}}
	r.Waits.Classes = []waits.Class{{ID: 1, Name: "main.serve", Goroutines: 2, Waits: r.Waits.User}}
	var s breakdown.TimeByState
	s.RunningNs, s.BlockedNs[breakdown.ReasonSleep] = r.Procs.Ps[0].RunningNs, 900e6
	r.Breakdown = breakdown.Result{Program: s, Classes: []breakdown.Class{{ID: 1, Name: "main.serve", Goroutines: 2, TimeByState: s}}}
	return r
}

// The verdict says whether to act, and where to look if there is nothing to do.
func TestWhetherToAct(t *testing.T) {
	note := func(id, basis string, of findings.CostBase, doubts ...findings.Doubt) *analyze.Result {
		r := used(0.2)
		r.Doubts = doubts
		r.Findings = []findings.Finding{{
			ID: id, Kind: findings.KindCause, Severity: findings.Note, Basis: basis, Title: findings.Say("x"), CostOf: of, CostNs: 90e6, MaybeMeant: id == "blocked-on-others", WholeNs: 900e6, Advice: []findings.Text{findings.Say("Do it.")},
			Actors: []findings.Actor{{Role: findings.Victim, Class: "main.serve"}},
		}}
		return r
	}
	for _, c := range []struct {
		name, label string
		r           *analyze.Result
		lines       []string // parts of them
		not         string   // what they do not say
	}{
		{"waits that may be meant", "Blocked, perhaps by design: note", note("blocked-on-others", findings.Certain, findings.OfBlocked), []string{
			"Act only if that is too slow for you: it may be what is meant. Then: do it.",
			"up to 1 ms at a time, against 90 ms blocked, as the headline says: it is not the scheduler.",
			"The lifetime of main.serve (2 goroutines",
		}, "Who waited for a P"},
		{"a lock is never meant", "Note; act if it matters", note("lock-convoy", findings.Certain, findings.OfBlocked), []string{"If that cost matters to you, try: do it."}, "may be what is meant"},
		{"suspected", "Suspected: note", note("yield-spinning", findings.Suspected, findings.OfPTime), nil, "Act only"},
		{"in doubt", "Note; act if it matters", note("lock-convoy", findings.Certain, findings.OfBlocked, findings.Doubt{ID: findings.Strained, WaitedNs: 4 * ms}), []string{"The times above may be too long: threads seem to have lacked CPUs at times"}, "Threads seem"},
		{"idle", "No problem found", used(0.02), []string{
			"Nothing to do about scheduling: 1 detector found no serious fault. If the program is still too slow, see what it is blocked on: 2 % of the CPU capacity was in use. Longest blocked was main.serve (99.8 % of its time, most in time.Sleep)",
			"40 ms in 100 waits, 400 µs each on average and 1 ms at most, while 2 % of the CPU capacity was in use",
		}, "as they ran"},
		{"much waiting", "No serious problem found", used(0.5), []string{"If that waiting matters to you, try: ", "the time goes into computing: goroutines ran for 50 ms, most of it main.serve (50 ms)", "400 µs each on average and 1 ms at most"}, "Nothing to do"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := wordingOf(c.r).verdict()
			if v.Label != c.label {
				t.Errorf("label %q, want %q", v.Label, c.label)
			}
			all := strings.ReplaceAll(strings.Join(v.Lines, "\n"), "\u00a0", " ")
			for _, want := range c.lines {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not in\n%s", want, all)
				}
			}
			if strings.Contains(all, c.not) {
				t.Errorf("%q is in\n%s", c.not, all)
			}
		})
	}
}

// What costs next to no waiting is no delay.
func TestOverheadIsNoDelay(t *testing.T) {
	f := findings.Finding{ID: "goroutine-churn", Kind: findings.KindCause, Severity: findings.Warning, Counted: true, Title: findings.Say("x"), CostOf: findings.OfWaiting, CostNs: 1, WholeNs: 1000}
	for _, c := range []struct {
		cost        int64
		label, line string
	}{
		{1, "Overhead: warning", "x. That costs running more than waiting: it explains 0.1 % of all waits for a P."},
		{500, "Scheduling delays: warning", "x."},
	} {
		r := used(0.5)
		f.CostNs = c.cost
		r.Findings = []findings.Finding{f}
		v := wordingOf(r).verdict()
		if detail := strings.ReplaceAll(v.Detail, "\u00a0", " "); v.Label != c.label || detail != c.line {
			t.Errorf("%q, %q", v.Label, detail)
		}
	}
}

// A start of which the queue is known counts as clear, for whichever of two reasons it came from there.
func TestSureOfTheQueue(t *testing.T) {
	r := &analyze.Result{Reconstruction: analyze.Reconstruction{Starts: 100, Explained: 60, ByBasis: map[string]int64{reference.Known(reference.Ambiguous, reference.RuleTick).String(): 30}}}
	if got, want := strings.ReplaceAll(wordingOf(r).sureness(), "\u00a0", " "), "is clear for 90 % of 100 starts."; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// That main waits for all the others is no hint, nor that many were blocked for a part of their life.
func TestMainIsNotBlockedLongest(t *testing.T) {
	r := used(0.02)
	m := r.Breakdown.Classes[0]
	m.Name, m.BlockedNs[breakdown.ReasonSync] = "main.main", 5e9
	few := m // thousands that were blocked for a third of their life
	few.Name, few.RunningNs = "main.brief", 15e9
	r.Breakdown.Classes = append(r.Breakdown.Classes, m, few)
	if got := wordingOf(r).whereToLook(); !strings.Contains(got, "Longest blocked was main.serve") {
		t.Error(got)
	}
}

// Who sleeps, or is in system calls, is not blocked for want of work.
func TestWhyBlockedLongest(t *testing.T) {
	for _, c := range []struct {
		reason breakdown.Reason
		calls  int64
		want   string
	}{
		{breakdown.ReasonChanReceive, 0, "which may be for want of work;"},
		{breakdown.ReasonSleep, 0, "most in time.Sleep), which may be meant;"},
		{breakdown.ReasonChanReceive, 100e9, "most in system calls); section"},
	} {
		r := used(0.02)
		m := &r.Breakdown.Classes[0]
		m.BlockedNs = [len(m.BlockedNs)]int64{}
		m.BlockedNs[c.reason], m.SyscallNs = 50e9, c.calls
		if got := wordingOf(r).whereToLook(); !strings.Contains(got, c.want) {
			t.Errorf("%v, %d: %s", c.reason, c.calls, got)
		}
	}
}

// What matters is what a finding costs: waiting, or something else.
func TestWhatMatters(t *testing.T) {
	for of, want := range map[findings.CostBase]string{findings.OfWaiting: "If that waiting matters to you, try: let it be.", findings.OfPTime: "If that cost matters to you, try: let it be."} {
		r := &analyze.Result{
			Detectors: make([]analyze.Detector, 1), Procs: procs.Result{Ps: []procs.Proc{{LifetimeNs: 1e9, RunningNs: 1e9}}},
			Waits:    waits.Result{User: waits.Summary{Count: 9, TotalNs: 2e9, MaxNs: 1e9}},
			Findings: []findings.Finding{{ID: "x", Kind: findings.KindCause, Severity: findings.Note, CostNs: 2e9, CostOf: of, WholeNs: 9e9, Advice: []findings.Text{findings.Say("Let it be.")}}},
		}
		if got := wordingOf(r).verdict().Try; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
}

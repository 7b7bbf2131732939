package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/std"
)

// ProgramKind is a kind of program, which decides what its users feel.
type ProgramKind string

// The kinds.
const (
	Server     ProgramKind = "server"     // does units of work that begin from outside, again and again, or accepts connections
	Tests      ProgramKind = "tests"      // built by go test
	Benchmarks ProgramKind = "benchmarks" // likewise, and only benchmarks ran
	Batch      ProgramKind = "batch"      // does one job; so is what is none of the others
	Idle       ProgramKind = "idle"       // hardly uses its Ps, and no goroutine waits long for one
	Wasm       ProgramKind = "wasm"       // js/wasm: one thread, which the host lends it
)

// ProgramKinds returns all kinds of programs that there are, in a fixed order.
func ProgramKinds() []ProgramKind {
	return []ProgramKind{Server, Tests, Benchmarks, Batch, Idle, Wasm}
}

// CheckProgramKind returns an error, which lists what is possible, unless k is one of [ProgramKinds].
func CheckProgramKind(k ProgramKind) error {
	if slices.Contains(ProgramKinds(), k) {
		return nil
	}
	var all []string
	for _, k := range ProgramKinds() {
		all = append(all, string(k))
	}
	return fmt.Errorf("program %s: must be one of %s", k, strings.Join(all, ", "))
}

// Program is the kind of program that a trace is of.
type Program struct {
	Kind  ProgramKind `json:"kind"`
	Basis string      `json:"basis"` // "inferred", or "assumed" if --program sets it
}

// Tested reports whether the program was built by go test.
func (p *Program) Tested() bool { return p.Kind == Tests || p.Kind == Benchmarks }

// program returns what kind of program the result is of.
func (a *analysis) program(r *Result, f *findings.Facts) Program {
	if a.Program != "" {
		return Program{a.Program, "assumed"}
	}
	used, of := r.Procs.InUse()
	kind := Batch
	switch {
	case hostNs(f.Waits.Classes) > 0:
		kind = Wasm
	case f.Tests.Benchmarks:
		kind = Benchmarks
	case f.Tested != "":
		kind = Tests
	case len(served(&r.Work)) > 0:
		kind = Server
	case findings.Idle(used, of, r.Waits.User.MaxNs) && !r.mainWorks():
		kind = Idle
	case r.Work.Serves && !r.mainComputes():
		kind = Server
	}
	return Program{kind, findings.Inferred}
}

// mainComputes reports whether main does most of what is done.
func (r *Result) mainComputes() bool {
	return slices.ContainsFunc(r.Breakdown.Classes, func(c breakdown.Class) bool {
		return c.Name == "main.main" && 2*c.RunningNs > r.Breakdown.Program.RunningNs
	})
}

// mainWorks reports whether main waits most of the time for child processes, often for other things outside
// of the program, or, in a job that ends, for a library that sleeps: it does not rest.
func (r *Result) mainWorks() bool {
	var asking, children, asleep, all, times int64
	for i := range r.Work.Kinds {
		k := &r.Work.Kinds[i]
		if !k.Entry || k.Class != "main.main" {
			continue
		}
		all += k.TotalNs
		for i := range k.Path {
			p := &k.Path[i]
			pkg, _ := std.Split(p.Where)
			switch {
			case p.What == "child":
				children += p.Ns
			case (p.What == "sleep" || p.What == "select") && !std.Has(pkg) && pkg != "main" && ends(k):
				asleep += p.Ns
			case p.Via != nil && (p.Via.What == "network" || p.Via.What == "pipe" || p.What == "network" && p.Who != ""):
				asking += p.Ns
				times = max(times, p.Waits)
			}
		}
	}
	return times >= manyRequests && 2*asking >= all || max(children, asleep) > 0 && 2*max(children, asleep) >= all
}

// ends reports whether main is seen to end what it does: it runs at its end.
func ends(k *work.UnitKind) bool {
	if len(k.Slowest) == 0 || len(k.Slowest[0].Segments) == 0 {
		return false
	}
	s := k.Slowest[0].Segments
	return k.How == work.Phase.String() || s[len(s)-1].What == "running" && s[len(s)-1].Via == nil
}

// manyRequests is how many units of a kind make a server, at least.
const manyRequests = 20

// served returns the kinds of units that a server does, at least 20 of each: main's, and lives of goroutines that no
// reader or accept loop started, may be steps of one job.
func served(u *work.Units) []*work.UnitKind {
	return slices.DeleteFunc(u.Entries(), func(k *work.UnitKind) bool {
		return k.Count < manyRequests || k.Class == "main.main" || k.How == work.Lifetime.String() && !k.Server
	})
}

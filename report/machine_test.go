package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/report"
)

// recorded analyses a recording of testdata/kernel, with or without the kernel's side.
func recorded(t *testing.T, name string, o analyze.Options, with bool) *report.Document {
	t.Helper()
	dir := filepath.Join("..", "testdata", "kernel")
	if with {
		f, err := os.Open(filepath.Join(dir, name+".ftrace.zst"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if o.Kernel, err = kernel.New(f, name); err != nil {
			t.Fatal(err)
		}
		defer o.Kernel.Close()
	}
	res, err := analyze.File(t.Context(), filepath.Join(dir, name+".trace.zst"), o)
	if err != nil {
		t.Fatal(err)
	}
	return report.Build(res, "gmpscope")
}

// TestMachineLeads has the first line name the culprit, if the machine is it.
func TestMachineLeads(t *testing.T) {
	for _, tc := range []struct{ name, headline, detector, basis string }{
		{"neighbour", "The program had 1 of the 1.98 CPUs that it needed; node had the rest", "os-preemption", "certain"},
		{"stopped", "The process was stopped 4 times by a signal, for up to 43.4 ms", "process-stopped", "certain"},
		{"quota", "The program had 0.61 of the 2 CPUs that it needed; a CPU quota took the rest", "cpu-throttling", "inferred"},
		{"crowd", "The program had 1.89 of the 3.37 CPUs that it needed: 8 Ps on 2 CPUs", "os-preemption", "certain"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := recorded(t, tc.name, analyze.Options{}, true)
			if v.Verdict.Headline != tc.headline || !strings.HasPrefix(v.Verdict.Label, "Trouble with the machine") {
				t.Errorf("%s\n%s", v.Verdict.Label, v.Verdict.Headline)
			}
			for _, f := range v.Result.Findings {
				if f.Kind == findings.KindMachine && (f.ID != tc.detector || f.Basis != tc.basis) {
					t.Errorf("%s, %s: %s", f.ID, f.Basis, f.Title)
				}
			}
		})
	}
}

// TestMachineIsRuledOut has no finding about the machine where threads were on their CPU.
func TestMachineIsRuledOut(t *testing.T) {
	doc := recorded(t, "quiet", analyze.Options{}, true)
	if i := slices.IndexFunc(doc.Result.Findings, func(f findings.Finding) bool { return f.Kind == findings.KindMachine }); i >= 0 {
		t.Error(doc.Result.Findings[i].Title)
	}
	if s := strings.Join(doc.Verdict.Lines, "\n"); strings.Contains(s, "lacked") {
		t.Error(s)
	}
}

// TestQuotaByCgroup has what the control group counted decide.
func TestQuotaByCgroup(t *testing.T) {
	for _, tc := range []struct {
		stat  kernel.CgroupStat
		basis string // "" for no finding
	}{
		{kernel.CgroupStat{Periods: 7, Throttled: 6, ThrottledNs: 796507041}, findings.Certain},
		{kernel.CgroupStat{Periods: 7}, ""},
	} {
		doc, got := recorded(t, "quota", analyze.Options{CgroupStat: &tc.stat}, true), ""
		for _, f := range doc.Result.Findings {
			if f.ID == "cpu-throttling" {
				got = f.Basis
			}
		}
		if got != tc.basis {
			t.Errorf("%+v: %q, want %q", tc.stat, got, tc.basis)
		}
	}
}

// TestMachineSection has the section in the text, with hostile names made harmless.
func TestMachineSection(t *testing.T) {
	doc := recorded(t, "neighbour", analyze.Options{}, true)
	doc.Result.Kernel.ByProcess[0].Name = "a\x1b[31mb\u202e"
	var b bytes.Buffer
	if err := report.WriteText(&b, doc, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, "THE MACHINE\n") || !strings.Contains(s, "handlers (this program)") || !strings.Contains(s, "beside an idle P") || strings.ContainsAny(s, "\x1b\u202e") {
		t.Error(s)
	}
	b.Reset()
	if err := report.WriteText(&b, recorded(t, "neighbour", analyze.Options{}, false), report.TextOptions{}); err != nil || strings.Contains(b.String(), "THE MACHINE") {
		t.Error("a section without records", err)
	}
}

// TestTimeOffCPUIsNoRun has no slice late, and no run long, by the time in which its thread
// had no CPU.
func TestTimeOffCPUIsNoRun(t *testing.T) {
	for with, want := range map[bool]bool{false: true, true: false} {
		var blamed []string
		for _, f := range recorded(t, "quota", analyze.Options{}, with).Result.Findings {
			if f.ID == "late-preemption" || f.ID == "convoy" {
				blamed = append(blamed, f.ID)
			}
		}
		if (len(blamed) > 0) != want {
			t.Errorf("with records %v: %v", with, blamed)
		}
	}
}

package html

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/report"
)

// TestMachine has the section about the machine, with hostile names made harmless.
func TestMachine(t *testing.T) {
	k := &kernel.Machine{
		OnOff:     kernel.OnOff{RunningNs: 100, OnCPUNs: 60, OffCPUNs: 40},
		CPUs:      make([]kernel.CPUUse, 259),
		ByProcess: []kernel.ProcessUse{{Name: "<script>x</script>\u202e", Threads: 1, CPUNs: 40, InsteadNs: 40}},
		WakePaths: []kernel.WakePath{{Kind: "handoff", Count: 7}},
		Classes:   []kernel.ClassOnOff{{Name: "main.<b>", OnOff: kernel.OnOff{RunningNs: 100, OnCPUNs: 60, OffCPUNs: 40}}},
	}
	var b bytes.Buffer
	if err := Write(&b, report.Build(&analyze.Result{Kernel: k}, "test"), Options{}); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	for _, want := range []string{`<section id="machine">`, `href="#machine"`, "&lt;script&gt;x", "and 3 more CPUs", "main.<wbr>&lt;b&gt;", "for a P handed off"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(s, "<script>x") || strings.Contains(s, "\u202e") {
		t.Error("a name is not made harmless")
	}
	b.Reset()
	if err := Write(&b, report.Build(&analyze.Result{}, "test"), Options{}); err != nil || strings.Contains(b.String(), `id="machine"`) {
		t.Error("a section without records", err)
	}
}

package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// handlers is a result with a class of the program that waited little and one that waited
// more, and one of the runtime.
func handlers() *analyze.Result {
	split := func(running, runnable, syscall, network, channel int64) breakdown.TimeByState {
		s := breakdown.TimeByState{RunningNs: running * 1e6, RunnableNs: runnable * 1e6, SyscallNs: syscall * 1e6}
		s.BlockedNs[breakdown.ReasonNetwork] = network * 1e6
		s.BlockedNs[breakdown.ReasonChanReceive] = channel * 1e6
		return s
	}
	handler, worker, scavenger := split(400, 130, 70, 2600, 0), split(500, 400, 0, 50, 50), split(1, 900, 0, 0, 99)
	r := &analyze.Result{Breakdown: breakdown.Result{Classes: []breakdown.Class{
		{ID: 1, Name: "srv.handle", Goroutines: 12, TimeByState: handler},
		{ID: 2, Name: "srv.worker", Goroutines: 1, TimeByState: worker},
		{ID: 3, Name: "runtime.bgscavenge", Runtime: true, Goroutines: 1, TimeByState: scavenger},
	}}}
	r.Breakdown.Program.Add(&handler)
	r.Breakdown.Program.Add(&worker)
	for _, c := range r.Breakdown.Classes {
		w := waits.Class{ID: c.ID, Name: c.Name, System: c.Runtime, Goroutines: c.Goroutines}
		w.Waits.TotalNs = c.RunnableNs
		r.Waits.Classes = append(r.Waits.Classes, w)
	}
	return r
}

func TestLived(t *testing.T) {
	byFinding := handlers()
	byFinding.Findings = []findings.Finding{{ID: "convoy", Severity: findings.Warning, Actors: []findings.Actor{{Role: findings.Victim, Class: "srv.handle"}}}}
	unknown := handlers()
	unknown.Breakdown.Classes = unknown.Breakdown.Classes[:1]
	for _, tc := range []struct {
		name string
		r    *analyze.Result
		want string
	}{
		{"who waited longest", handlers(), " The lifetime of srv.worker (1 goroutine, 1 s in all): 40 % runnable and 50 % running."},
		{"the victim of the finding", byFinding, " The lifetime of srv.handle (12 goroutines, 3.2 s in all): 4.1 % runnable, 81 % blocked on the network and 12 % running."},
		{"a class without a life", unknown, ""},
		{"nobody waited", &analyze.Result{}, ""},
	} {
		if got := wordingOf(tc.r).lived(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestLivesInText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, Build(handlers(), "test"), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(b.String(), "TIME BREAKDOWN\n")
	section, _, _ = strings.Cut(section, "\n\nFAIRNESS")
	const want = `  Of 4.2 s that goroutines of the program existed, they were runnable, without a P, for 530 ms
  (13 %): that is scheduling. They ran 21 %, were blocked 64 %, and in system calls 1.7 %.

  By goroutine group
  goroutine group     lifetime  running  runnable  blocked  syscall  unknown  most blocked for
  srv.worker               1 s     50 %      40 %     10 %      0 %      0 %  network 5 %
  srv.handle             3.2 s     12 %     4.1 %     81 %    2.2 %      0 %  network 81 %
  runtime.bgscavenge       1 s    0.1 %      90 %    9.9 %      0 %      0 %  chan receive 9.9 %`
	if section != want {
		t.Errorf("got:\n%s\nwant:\n%s", section, want)
	}
}

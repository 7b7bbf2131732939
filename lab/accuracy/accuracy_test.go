package accuracy

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/replay"
)

// The page in the repository is what the program gives.
func TestPageIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("replays all traces")
	}
	root := filepath.Join("..", "..")
	var b bytes.Buffer
	if err := all(t.Context(), &b, filepath.Join(root, "testdata", "traces")); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(root, "lab", "docs", "replay.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("lab/docs/replay.md (-) is not what scripts/lab replay gives (+):\n%s", diff)
	}
}

// The makespan with the other GOMAXPROCS is predicted within the band, except
// where the trace lacks what it takes: lab/docs/replay.md, locks and channels.
func TestPredictions(t *testing.T) {
	ps, err := predict(t.Context(), filepath.Join("..", "..", "testdata", "traces", "whatif"))
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 10 {
		t.Errorf("%d predictions, want 10", len(ps))
	}
	for _, p := range ps {
		lower := p.from == 1 && (p.name == "lock-limited" || p.name == "lock-asleep")
		switch off := p.off(); {
		case lower && off < -bandWhatIf: // a lower bound
		case off < -bandWhatIf || off > bandWhatIf || lower:
			t.Errorf("%s from %d to %d Ps: %+.1f %%", p.name, p.from, p.to, 100*off)
		}
		if p.self == nil || *p.self > 0.05 || *p.self < -0.05 {
			t.Errorf("%s with %d Ps: the model is off by %v", p.name, p.from, p.self)
		}
	}
}

// Makespans that are not called untrusted must be right: more Ps for a program with a mutex
// are not among them, but more than one P for independent work are.
func TestTrust(t *testing.T) {
	ps, err := predict(t.Context(), filepath.Join("..", "..", "testdata", "traces", "whatif"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := 0
	for _, p := range ps {
		if p.untrusted {
			continue
		}
		trusted++
		if off := p.off(); p.bound > 0 && p.to > p.from || off < -bandWhatIf || off > bandWhatIf {
			t.Errorf("%s from %d to %d Ps is trusted: %+.1f %%", p.name, p.from, p.to, 100*off)
		}
	}
	if trusted < 7 {
		t.Errorf("%d are trusted", trusted)
	}
}

// The machine's part of the waiting is no more than threads lacked a CPU, and only what
// the model does not wait for.
func TestMachine(t *testing.T) {
	none := replay.Run{Steals: new(int64), GlobalTakes: new(int64)}
	r := row{res: &replay.Result{Observed: none, Simulated: &replay.Simulated{Simulated: none, Causes: []replay.CauseRun{
		{Cause: waits.CauseIdlePAvailable, ObservedNs: 50, SimulatedNs: 10},
		{Cause: waits.CauseOverhead, ObservedNs: 5, SimulatedNs: 20},
		{Cause: waits.CauseQueueing, ObservedNs: 45, SimulatedNs: 45},
	}}}}
	for lacked, want := range map[int64]int64{0: 0, 30: 30, 100: 40} {
		if r.lacked = &lacked; r.machine() != want {
			t.Errorf("%d ns lacked: %d ns are the machine's, want %d", lacked, r.machine(), want)
		}
	}
	if r.lacked = nil; r.machine() != 0 {
		t.Error("something is the machine's though it is not known whether CPUs were lacked")
	}
	r.res.Observed.Waits.TotalNs, r.res.Simulated.Simulated.Waits.TotalNs = 100, 75
	lacked := int64(30)
	if r.lacked = &lacked; len(r.res.OutOfBand()) == 0 || !r.withoutMachine() {
		t.Errorf("out of band: %v; without the machine's part: %v", r.res.OutOfBand(), !r.withoutMachine())
	}
}

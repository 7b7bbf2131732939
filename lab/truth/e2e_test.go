package truth

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
)

// TestRecording builds the workloads with an instrumented copy of the runtime
// that runs the tests and records one. The first time this takes a minute, so
// it has to be asked for with GMPSCOPE_TRUTH_TEST=1.
func TestRecording(t *testing.T) {
	if os.Getenv("GMPSCOPE_TRUTH_TEST") == "" {
		t.Skip("GMPSCOPE_TRUTH_TEST is not set")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("linux/amd64 only")
	}
	cache, err := DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Cache: cache}
	version := strings.TrimPrefix(runtime.Version(), "go")
	bin, err := b.Workload(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(bin, "-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(list))); n < 16 {
		t.Errorf("%d workloads", n)
	}
	for _, name := range []string{"mixed", "locked", "tree", "pull"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			traceFile, recFile := filepath.Join(dir, "trace"), filepath.Join(dir, "rec")
			r := Recipe{Go: version, Workload: name, Procs: 4, Seed: 3, Scale: 0.2}
			p, err := b.Program(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if err := Run(t.Context(), p, r, traceFile, recFile); err != nil {
				t.Fatal(err)
			}
			recs, err := ReadRecordsFile(recFile)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(traceFile)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			j, err := Join(recs, f)
			if err != nil {
				t.Fatal(err)
			}
			if j.Starts < 100 || j.NoTake != 0 {
				t.Errorf("%d starts, %d without origin", j.Starts, j.NoTake)
			}
			if c := Check(recs); c.Broken != 0 || c.Order != 0 {
				t.Errorf("%s: %v", c, c.Examples)
			}
			_, ds, err := Reconstruct(t.Context(), traceFile, analyze.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkReplay(t, j, recs, ds)
		})
	}
}

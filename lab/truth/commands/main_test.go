package commands

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/truth"
)

func TestPicked(t *testing.T) {
	list := []int{1, 2, 4, 6, 8}
	for _, c := range []struct {
		n, turn int
		want    []int
	}{
		{0, 3, list}, {5, 3, list}, {9, 3, list}, {3, 0, []int{1, 2, 4}}, {3, 4, []int{8, 1, 2}}, {1, 6, []int{2}},
	} {
		if d := cmp.Diff(c.want, picked(list, c.n, c.turn)); d != "" {
			t.Errorf("%d of them at turn %d (-want +got):\n%s", c.n, c.turn, d)
		}
	}
}

func TestSampleHasEveryWorkload(t *testing.T) {
	var all []truth.Recipe
	for _, release := range []string{"1.22", "1.23", "1.24", "1.25", "1.26", "1.27"} {
		for w := range 20 {
			for _, procs := range []int{1, 2, 4, 6, 8} {
				all = append(all, truth.Recipe{Go: release, Workload: fmt.Sprint("w", w), Procs: procs})
			}
		}
	}
	workloads, releases, procs, names := map[string]int{}, map[string]int{}, map[int]int{}, map[string]bool{}
	got := sample(all, []string{"w3", "w5", "not there"})
	for _, r := range got {
		workloads[r.Workload]++
		releases[r.Go]++
		procs[r.Procs]++
		names[r.Name()] = true
	}
	if len(got) != 22 || len(names) != 22 || len(workloads) != 20 || len(releases) != 6 || len(procs) != 5 {
		t.Errorf("%d recipes, %d different, of %d workloads, %d releases, %d numbers of Ps", len(got), len(names), len(workloads), len(releases), len(procs))
	}
	if workloads["w3"] != 2 || workloads["w4"] != 1 {
		t.Errorf("workloads %v", workloads)
	}
}

// TestTable has the recordings of the tests scored, which are in the compact form, by a table
// and alone; a folder without recordings, and a name that none has, are errors.
func TestTable(t *testing.T) {
	const dir, name = "../testdata/floor", "raft-go1.24.9-p1"
	said := func(args ...string) (string, error) {
		var out strings.Builder
		err := cli.Run(t.Context(), Truth, append([]string{"truth"}, args...), &out, io.Discard)
		return out.String(), err
	}
	if out, err := said("table", "--dir", dir, "--match", "^raft-"); err != nil || !strings.Contains(out, ": 1 recordings; Go 1.24.9;") || !strings.Contains(out, "\n| raft | ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := said("score", "--truth", filepath.Join(dir, name+".truth.zst"), "--trace", filepath.Join(dir, name+".trace.zst")); err != nil || !strings.Contains(out, "exact source") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"--dir", t.TempDir()}, {"--dir", dir, "--match", "^none-"}} {
		if out, err := said(append([]string{"table"}, args...)...); err == nil {
			t.Errorf("%v: no error, but\n%s", args, out)
		}
	}
}

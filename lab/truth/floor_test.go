package truth

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/reconstruct"
)

var update = flag.Bool("update", false, "rewrite the floors")

// floorFile holds, by recording and rate, how well the reconstruction did when
// it was last written: right cases, and all.
const floorFile = "floors.json"

// A rate may fall by this share of its cases, and by one case more, before a
// test fails: a better rule costs a few cases somewhere.
const floorTolerance = 0.002

// below reports whether a rate is under its floor. Of how many cases is not the
// same each time: a reconstruction that claims less has less to be right in.
func below(got, floor Rate) bool {
	if floor.Of == 0 || got.Of == 0 {
		return false
	}
	was := float64(floor.Right) / float64(floor.Of)
	return float64(got.Right)+1+floorTolerance*float64(got.Of) < was*float64(got.Of)
}

// TestFloors reconstructs small recordings of every workload and compares the
// score of each with what it was. The recordings are made again by "truth
// floor", the floors by -update; read the difference before you commit it.
func TestFloors(t *testing.T) {
	dir := filepath.Join("testdata", "floor")
	files, err := filepath.Glob(filepath.Join(dir, "*.trace.zst"))
	if err != nil {
		t.Fatal(err)
	}
	floors := make(map[string]map[string]Rate)
	if text, err := os.ReadFile(filepath.Join(dir, floorFile)); err != nil && !*update {
		t.Fatal(err)
	} else if err == nil && !*update {
		if err := json.Unmarshal(text, &floors); err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string]map[string]Rate)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".trace.zst")
		t.Run(name, func(t *testing.T) {
			rates := scoreRecording(t, filepath.Join(dir, name), 0).rates()
			got[name] = rates
			if *update {
				return
			}
			if floors[name] == nil {
				t.Fatalf("%s has no floor for it", floorFile)
			}
			for _, k := range slices.Sorted(maps.Keys(floors[name])) {
				if floor := floors[name][k]; below(rates[k], floor) {
					t.Errorf("%s: %v %% of %d, was %v %% of %d", k, rates[k], rates[k].Of, floor, floor.Of)
				}
			}
		})
	}
	if *update {
		text, err := json.MarshalIndent(got, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, floorFile), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range floors {
		if !slices.Contains(files, filepath.Join(dir, name+".trace.zst")) {
			t.Errorf("there is a floor for %s, but no recording", name)
		}
	}
}

// scoreRecording reconstructs the trace of a recording, without some hypotheses, and scores it.
func scoreRecording(t *testing.T, stem string, without reconstruct.Set) *Score {
	t.Helper()
	trace, real, err := ReadRecording(stem)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scoreTrace(t.Context(), trace, real, without)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rates returns what a reconstruction is judged by, all the better the higher.
func (s *Score) rates() map[string]Rate {
	m := map[string]Rate{
		"starts paired":   {int64(s.Starts - s.Missing), int64(s.Starts + s.Extra)},
		"exact source":    s.Exact,
		"coarse source":   s.Coarse,
		"steal recall":    s.StealRecall,
		"steal precision": s.StealPrecision,
		"victim":          s.Victim,
		"steal batch":     s.Batch,
		"global batch":    s.Global,
		"locked":          s.Locks,
		"ll":              s.LL,
		"gl":              s.GL,
		"ready queue":     s.Ready,
		"preempt cause":   s.Preempt,
		"where certain":   s.Certain(),
		"waiting: queue":  s.Waiting.Queue,
		"waiting: place":  s.Waiting.Place,
		"waiting: cause":  s.Waiting.Cause,
	}
	for k, r := range s.Found {
		m[k+" recall"] = *r
	}
	for k, r := range s.Real {
		m[k+" precision"] = *r
	}
	return m
}

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		got, floor Rate
		want       bool
	}{
		{Rate{1000, 1000}, Rate{1000, 1000}, false},
		{Rate{997, 1000}, Rate{1000, 1000}, false},
		{Rate{996, 1000}, Rate{1000, 1000}, true},
		{Rate{9, 10}, Rate{10, 10}, false},
		{Rate{8, 10}, Rate{10, 10}, true},
		{Rate{0, 0}, Rate{10, 10}, false},
		{Rate{5, 10}, Rate{0, 0}, false},
		{Rate{100, 100}, Rate{50, 100}, false},
	} {
		if below(c.got, c.floor) != c.want {
			t.Errorf("below(%v, %v) is %v", c.got, c.floor, !c.want)
		}
	}
}

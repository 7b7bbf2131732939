package textbook

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gmpscope/gmpscope/reference/sim"
)

// outcomes runs every program once for all tests.
var outcomes = sync.OnceValues(runAll)

func named(all []outcome, id string) (outcome, bool) {
	i := slices.IndexFunc(all, func(o outcome) bool { return o.id == id })
	if i < 0 {
		return outcome{}, false
	}
	return all[i], true
}

// TestPrograms holds each row against the figures of the classic explanation.
// Every check fails if the mechanism of its row is broken, or is there on the
// side that must be without it.
func TestPrograms(t *testing.T) {
	all, err := outcomes()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		id            string
		without, with []check
	}{
		{"one",
			[]check{{"share of the work in the time", func(r *sim.Result) float64 { return 1000 / float64(r.EndNs) }, 0, 0.05}},
			[]check{{"share of the work in the time", func(r *sim.Result) float64 { return 1000 / float64(r.EndNs) }, 0, 0.05}}},
		{"thousand",
			[]check{{"threads", threadsMade, 1001, 1001}, {"starts", starts, 10_000, 20_000}},
			[]check{{"threads", threadsMade, 4, 5}, {"starts", starts, 1001, 4000}, {"utilisation", (*sim.Result).Utilisation, 0.99, 1}}},
		{"million",
			[]check{{"starts", starts, 1_001_001, 1_001_001}, {"locks per start", locksPerStart, 2, 2.01}},
			[]check{{"starts", starts, 1_001_001, 1_001_001}, {"locks per start", locksPerStart, 0, 0.2}}},
		{"spawner",
			[]check{{"utilisation", (*sim.Result).Utilisation, 0.24, 0.25}, {"thefts", stealCount, 0, 0}},
			[]check{{"utilisation", (*sim.Result).Utilisation, 0.98, 1}}},
		{"blocked",
			[]check{{"utilisation", (*sim.Result).Utilisation, 0.2505, 0.2508}, {"left", leftOver, 0, 0}},
			[]check{{"utilisation", (*sim.Result).Utilisation, 0.99, 1}, {"left", leftOver, 0, 0}}},
		{"syscalls",
			[]check{{"seconds", seconds, 25, 25.01}, {"threads", threadsMade, 4, 5}},
			[]check{{"seconds", seconds, 0.1, 0.15}, {"threads", threadsMade, 900, 1010}}},
		{"forever",
			[]check{{"run time of the fifth", share(5), 0, 0}, {"share of the first", share(1), 0.99, 1}},
			[]check{{"least share", least, 0.79, 0.81}, {"greatest share", greatest, 0.79, 0.81}, {"longest wait in ms", longest, 1, 30}}},
		{"tick",
			[]check{{"run time of the waiter", share(2), 0, 0}},
			[]check{{"longest wait of the waiter in ms", waitOf(2), 0.1, 61 * 0.11}}},
		{"inherit",
			[]check{{"run time of the waiter", share(2), 0, 0}},
			[]check{{"longest wait of the waiter in ms", waitOf(2), 1, 31}}},
		{"requeue",
			[]check{{"least share", least, 0, 0.55}, {"greatest share", greatest, 0.95, 1}},
			[]check{{"least share", least, 0.79, 0.81}, {"greatest share", greatest, 0.79, 0.81}}},
		{"half",
			[]check{{"thefts", stealCount, 500, 1000}},
			[]check{{"thefts", stealCount, 3, 50}}},
	} {
		t.Run(row.id, func(t *testing.T) {
			o, ok := named(all, row.id)
			if !ok {
				t.Fatal("there is no such program")
			}
			for _, c := range row.without {
				c.test(t, o.off.name, o.without.result)
			}
			for _, c := range row.with {
				c.test(t, o.on.name, o.with.result)
			}
		})
	}
}

// check wants a figure of a result between two bounds.
type check struct {
	what     string
	of       func(*sim.Result) float64
	min, max float64
}

func (c check) test(t *testing.T, side string, r *sim.Result) {
	t.Helper()
	if v := c.of(r); v < c.min || v > c.max {
		t.Errorf("%s: %s is %g, not from %g to %g", side, c.what, v, c.min, c.max)
	}
}

func threadsMade(r *sim.Result) float64 { return float64(r.Threads) }
func starts(r *sim.Result) float64      { return float64(r.TotalStarts()) }
func seconds(r *sim.Result) float64     { return float64(r.EndNs) / 1e9 }
func stealCount(r *sim.Result) float64  { return float64(r.Steals) }
func leftOver(r *sim.Result) float64    { return float64(r.Left) }

// share is what a class ran of the time of one P.
func share(class int) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 {
		if class >= len(r.Classes) {
			return 0
		}
		return float64(r.Classes[class].RunningNs) / float64(r.EndNs)
	}
}

func waitOf(class int) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 { return float64(r.Classes[class].MaxWaitNs) / 1e6 }
}

func least(r *sim.Result) float64 {
	v := 1.0
	for i := range r.Classes[1:] {
		v = min(v, share(i+1)(r))
	}
	return v
}

func greatest(r *sim.Result) float64 {
	v := 0.0
	for i := range r.Classes[1:] {
		v = max(v, share(i+1)(r))
	}
	return v
}

func longest(r *sim.Result) float64 {
	v := 0.0
	for i := range r.Classes[1:] {
		v = max(v, waitOf(i+1)(r))
	}
	return v
}

// TestPage compares lab/docs/textbook.md and its pictures with what the model gives.
func TestPage(t *testing.T) {
	all, err := outcomes()
	if err != nil {
		t.Fatal(err)
	}
	files := page(all)
	docs := filepath.Join("..", "docs")
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		if err != nil || string(got) != want {
			t.Errorf("lab/docs/%s is not what the model gives (%v): scripts/lab textbook", name, err)
		}
	}
	found, err := filepath.Glob(filepath.Join(docs, "textbook", "*"))
	if err != nil || len(found) != len(files)-1 {
		t.Errorf("%d files in lab/docs/textbook, of %d programs: %v", len(found), len(files)-1, err)
	}
}

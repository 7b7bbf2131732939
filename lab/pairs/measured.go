package pairs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// Measured is what was measured on recordings that are too large to keep, for the page.
type Measured struct {
	Resampled []Resampled `json:"resampled"` // by `lab judge resampled`
	Planted   []Planted   `json:"planted"`   // by `lab judge planted`
}

// Resampled counts comparisons of a program with itself.
type Resampled struct {
	Traces       int  `json:"traces"` // a side
	Apart        bool `json:"apart"`  // the sides are of sessions at different times
	Programs     int  `json:"programs"`
	All          int  `json:"all"`
	Significant  int  `json:"significant"`
	Inconclusive int  `json:"inconclusive"`
}

// Planted counts in how many comparisons a planted slowdown was noticed.
type Planted struct {
	Effect string `json:"effect"` // how many times the work of one handler
	All    int    `json:"all"`
	Diff   int    `json:"diff"`  // judged worse
	Check  int    `json:"check"` // that broke the budget proposed from the traces before
}

//go:embed measured.json
var measuredJSON []byte

func measured() (m Measured, err error) {
	err = json.Unmarshal(measuredJSON, &m)
	return m, err
}

// Keep changes measured.json.
func Keep(change func(*Measured)) error {
	root, err := runner.Root()
	if err != nil {
		return err
	}
	m, err := measured()
	if err != nil {
		return err
	}
	change(&m)
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "lab", "pairs", "measured.json"), append(text, '\n'), 0o644)
}

// caught is in how many of ten comparisons a slowdown must be noticed to count.
const caught = 8

// page writes the section of the page.
func (m *Measured) page(b *strings.Builder) {
	b.WriteString(`
## The same program twice

By ` + "`lab judge resampled`" + `, on a machine of 2 CPUs: comparisons of recordings drawn at random, within a session or from two sessions. Two
sessions are of a quiet machine, 85 minutes apart; the third followed the second, beside two processes that compute.

| traces a side | sessions | programs | comparisons | significant | inconclusive |
|---:|---|---:|---:|---:|---:|
`)
	all, significant := 0, 0
	for _, r := range m.Resampled {
		sessions := "the same"
		if r.Apart {
			sessions = "apart"
		}
		all, significant = all+r.All, significant+r.Significant
		fmt.Fprintf(b, "| %d | %s | %d | %d | %d | %d |\n", r.Traces, sessions, r.Programs, r.All, r.Significant, r.Inconclusive)
	}
	fmt.Fprintf(b, "\nIn all %d of %d (%.1f %%) are significant.\n", significant, all, 100*float64(significant)/float64(max(1, all)))
	b.WriteString(`
## The smallest slowdown that is noticed

By ` + "`lab judge planted`" + `, on the same machine, quiet: one of two handlers of an HTTP server does so many times its work, recorded with
` + "`record --alternate --runs 5`" + `; check holds the new traces against the budget that it proposes from the old ones.

| times the work | recorded | diff: worse | check: broken |
|---:|---:|---:|---:|
`)
	diff, check := "none", "none"
	for _, p := range m.Planted {
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", p.Effect, p.All, p.Diff, p.Check)
		if diff == "none" && 10*p.Diff >= caught*p.All {
			diff = p.Effect + " times the work"
		}
		if check == "none" && 10*p.Check >= caught*p.All {
			check = p.Effect + " times the work"
		}
	}
	fmt.Fprintf(b, "\nThe smallest that is noticed in %d of ten: by diff %s, by check %s.\n", caught, diff, check)
}

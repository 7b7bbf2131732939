// Package labelled answers: is the verdict right on programs whose trouble is known?
// The programs in lab/testdata/programs are in the style of production code; each has a
// label that says what is wrong with it, or that nothing is. They and their labels were
// written without regard to what the detectors look for.
//
// The verdict is judged as its reader does, by the first line and the first advice. Some
// programs are kept: nothing is tuned by them, so that what they say is no memory.
package labelled

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/report"
)

// Label reports what is wrong with a program. README.md beside the programs explains the
// keys.
type Label struct {
	Name        string   `json:"name"`
	Wrong       bool     `json:"wrong"`
	Culprit     []string `json:"culprit"` // functions, each of which names it; empty: the machine, or nothing
	Cause       string   `json:"cause"`
	Not         []string `json:"not"` // functions that would be accused wrongly
	Description string   `json:"story"`
	Remedy      string   `json:"remedy"`
	Procs       int      `json:"procs"` // GOMAXPROCS
	Kept        bool     `json:"kept"`
	Proof       string   `json:"proof"`
	// Want is the verdict that is right, of a program before and after a change.
	Want compare.Verdict `json:"want"`
}

// Causes are what a label may say.
var Causes = []string{
	"lock", "stage", "busy-wait", "wake-up-cost", "mass-wake-up", "self-inspection", "machine", "long-run", "churn",
	"syscall", "gc", "burst", "blocked-elsewhere", "finalizer", "starved-queue", "other", "none",
}

const (
	// Dir is the folder of the programs, and Pairs that of the programs before and after
	// a change, from the checkout root, with slashes.
	Dir   = "lab/testdata/programs"
	Pairs = Dir + "/pairs"
)

// Read returns the labels below dir, a folder of the checkout root, by name.
func Read(root, dir string) ([]*Label, error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*", "label.json"))
	if err != nil {
		return nil, err
	}
	var out []*Label
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		l := &Label{}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(l); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if folder := filepath.Base(filepath.Dir(name)); l.Name != folder {
			return nil, fmt.Errorf("%s: the label is of %q", name, l.Name)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no programs in %s", dir)
	}
	return out, nil
}

// Judgement is what the verdict says about a program.
type Judgement struct {
	*Label
	Right    bool
	Headline string
	Advice   string // the first, "" if there is none
}

// Judge holds the verdict on a trace of the program against its label.
func (l *Label) Judge(r *analyze.Result) *Judgement {
	doc := report.Build(r, "")
	j := &Judgement{Label: l, Headline: doc.Verdict.Headline, Advice: advice(doc.Verdict.Lines)}
	chief := findings.Chief(r.Findings, findings.Warning)
	switch {
	case !l.Wrong:
		j.Right = chief == nil
	case len(l.Culprit) == 0:
		j.Right = chief != nil && chief.Kind == findings.KindMachine
	default:
		j.Right = l.named(j.Headline) || l.named(j.Advice)
	}
	return j
}

// named reports whether a text names the culprit.
func (l *Label) named(text string) bool {
	return slices.ContainsFunc(l.Culprit, func(f string) bool { return strings.Contains(text, f) })
}

// advice is the first that a verdict gives, after what it depends on.
func advice(lines []string) string {
	for _, lead := range []string{"Try first: ", "Then: ", ", try: "} {
		for _, line := range lines {
			if _, a, ok := strings.Cut(line, lead); ok {
				return a
			}
		}
	}
	return ""
}

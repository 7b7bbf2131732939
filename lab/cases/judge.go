package cases

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// Verdict is what became of a recording.
type Verdict struct {
	Recording *Recording
	Found     []findings.Finding // one for each detector that found something: its worst
	Missed    []string           // wanted and not found, or too mild
	False     []string           // found, neither wanted nor allowed
}

// Right reports whether all that is wanted was found, and nothing else.
func (v *Verdict) Right() bool { return len(v.Missed) == 0 && len(v.False) == 0 }

// Wrong says in words what is wrong, "right" if nothing is.
func (v *Verdict) Wrong() string {
	var parts []string
	if len(v.Missed) > 0 {
		parts = append(parts, "missed: "+strings.Join(v.Missed, ", "))
	}
	if len(v.False) > 0 {
		parts = append(parts, "false: "+strings.Join(v.False, ", "))
	}
	if len(parts) == 0 {
		return "right"
	}
	return strings.Join(parts, "; ")
}

// severity is that of a detector's worst finding, "" for none.
func (v *Verdict) severity(id string) findings.Severity {
	for _, x := range v.Found {
		if x.ID == id {
			return x.Severity
		}
	}
	return ""
}

// Judge holds findings, ranked, against what the recording wants.
func Judge(r *Recording, ranked []findings.Finding) *Verdict {
	v := &Verdict{Recording: r}
	for _, x := range ranked { // the first of a detector is its worst
		if v.severity(x.ID) == "" {
			v.Found = append(v.Found, x)
		}
	}
	for _, id := range r.Wanted() {
		if s := v.severity(id); s == "" || !s.AtLeast(r.Want[id]) {
			v.Missed = append(v.Missed, id)
		}
	}
	for _, x := range v.Found {
		if _, ok := r.Want[x.ID]; ok || slices.Contains(r.May, x.ID) {
			continue
		}
		if x.Severity != findings.Note || r.Case.Name == NearMiss && r.Case.Room == x.ID {
			v.False = append(v.False, x.ID)
		}
	}
	return v
}

// Analyze judges a trace as a recording of r.
func Analyze(ctx context.Context, r *Recording, trace []byte) (*Verdict, error) {
	src, err := input.New(bytes.NewReader(trace), r.Name())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	result, err := analyze.Run(ctx, src, analyze.Options{})
	if err != nil {
		return nil, fmt.Errorf("analyze %s: %w", r.Name(), err)
	}
	return Judge(r, result.Findings), nil
}

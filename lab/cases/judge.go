package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/lab/runner"
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

// Wrong reports in words what is wrong, "right" if nothing is.
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
func (r *Recording) Judge(ranked []findings.Finding) *Verdict {
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

// Analyze judges a recording.
func (r *Recording) Analyze(ctx context.Context, x *runner.Recording) (*Verdict, error) {
	result, err := x.Analyze(ctx)
	if err != nil {
		return nil, err
	}
	return r.Judge(result.Findings), nil
}

// Check is [Recording.Analyze] with the verdict as an error.
func (r *Recording) Check(ctx context.Context, x *runner.Recording) (wrong, err error) {
	v, err := r.Analyze(ctx, x)
	if err == nil && !v.Right() {
		wrong = errors.New(v.String())
	}
	return wrong, err
}

// String is the verdict and what was found, for the recorder.
func (v *Verdict) String() string {
	var b strings.Builder
	b.WriteString(v.Wrong())
	for _, x := range v.Found {
		fmt.Fprintf(&b, "\n    %s %s: %s [cost %s]", x.Severity, x.ID, x.Title, quantity.Duration(x.CostNs))
	}
	return b.String()
}

// Live judges fresh recordings, and fails if one is judged wrong.
func Live(ctx context.Context, w io.Writer, recordings []*Recording, from runner.Source, times int) error {
	wrong := 0
	for _, r := range recordings {
		for range times {
			x, err := from(ctx, &r.Take)
			if err != nil {
				return err
			}
			v, err := r.Analyze(ctx, x)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s: CPU lacked %.1f ms: %s\n", r.Name, float64(x.Waited)/1e6, v)
			if !v.Right() {
				wrong++
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d recordings are judged wrong", wrong, times*len(recordings))
	}
	return nil
}

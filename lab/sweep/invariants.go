package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/lab/plausible"
	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

// contradictions returns what cannot be in what is found in a trace: sums and numbers, in the documents too; decisions
// that break an invariant of the replay; transitions that the public reader does not show; a result that depends on the
// number of workers.
func contradictions(ctx context.Context, file string) ([]string, error) {
	zipped, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	data, err := runner.Decompress(zipped)
	if err != nil {
		return nil, err
	}
	found := decoders(ctx, data)
	var pages [2]bytes.Buffer
	for i := range pages {
		src, err := input.New(bytes.NewReader(data), "trace")
		if err != nil {
			return nil, err
		}
		r, err := analyze.Run(ctx, src, analyze.Options{Workers: 1 + i})
		src.Close()
		if err != nil {
			return append(found, fmt.Sprintf("analysis: %v", err)), nil
		}
		doc := report.Build(r, "gmpscope")
		if err := report.WriteJSON(&pages[i], doc, report.JSONOptions{Timeline: true}); err != nil {
			return nil, err
		}
		if i > 0 {
			break
		}
		found = append(found, plausible.Result(r)...)
		var text, page bytes.Buffer
		err = errors.Join(report.WriteText(&text, doc, report.TextOptions{AllFindings: true}), html.Write(&page, doc, html.Options{}))
		if err != nil {
			return nil, err
		}
		found = append(found, plausible.Text(text.String())...)
		found = append(found, plausible.HTML(page.String())...)
	}
	if !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
		found = append(found, "two workers find something else than one")
	}

	src, err := input.New(bytes.NewReader(data), "trace")
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r, err := replay.Audit(ctx, src, replay.Options{})
	if err != nil {
		return append(found, fmt.Sprintf("replay: %v", err)), nil
	}
	if g := r.Audit; g != nil {
		for invariant, n := range g.Violations {
			found = append(found, fmt.Sprintf("replay: %s, %d times", invariant, n))
		}
		if g.Explained+g.Ambiguous+g.Unexplained != g.Starts {
			found = append(found, fmt.Sprintf("replay: %d, %d and %d of %d starts", g.Explained, g.Ambiguous, g.Unexplained, g.Starts))
		}
	}
	return found, nil
}

// decoders holds the transitions of goroutines that our decoder finds against those that the public reader does. Statuses
// do not count: a generation by itself states them otherwise.
func decoders(ctx context.Context, data []byte) []string {
	src, err := input.New(bytes.NewReader(data), "trace")
	if err != nil {
		return []string{fmt.Sprintf("decoder: %v", err)}
	}
	defer src.Close()
	own := events.New(ctx, src, events.Options{})
	defer own.Close()
	public, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return []string{fmt.Sprintf("public reader: %v", err)}
	}
	var some []events.Event
	for n := 0; ; n++ {
		ev, publicErr := nextTransition(public)
		var e events.Event
		var ownErr error
		for {
			if len(some) == 0 {
				if some, ownErr = own.Next(); ownErr != nil {
					break
				}
				continue
			}
			e, some = some[0], some[1:]
			if e.Kind == events.Go && e.From != e.To && e.From != events.Undetermined {
				break
			}
		}
		if publicErr != nil || ownErr != nil {
			if publicErr != ownErr {
				return []string{fmt.Sprintf("transition %d: our decoder ends with %v, the public reader with %v", n, ownErr, publicErr)}
			}
			return nil
		}
		if e.Res != int64(ev.StateTransition().Resource.Goroutine()) || e.M != int64(ev.Thread()) || e.G != int64(ev.Goroutine()) || int64(e.P) != int64(ev.Proc()) {
			return []string{fmt.Sprintf("transition %d is %+v for our decoder, %v for the public reader", n, e, ev)}
		}
	}
}

// nextTransition returns the next transition of a goroutine from a known state.
func nextTransition(r *trace.Reader) (trace.Event, error) {
	for {
		ev, err := r.ReadEvent()
		if err != nil {
			return ev, err
		}
		if ev.Kind() != trace.EventStateTransition || ev.StateTransition().Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		if from, to := ev.StateTransition().Goroutine(); from != to && from != trace.GoUndetermined {
			return ev, nil
		}
	}
}

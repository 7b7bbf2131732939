package analyze

import (
	"context"
	"errors"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of Run. The zero value is usable.
type Options struct {
	// Workers is the number of generations decoded at once; 0 means GOMAXPROCS.
	// It does not change the result.
	Workers int
	// OnDecision, if set, is called with every decision, in order. The decision
	// is valid during the call only. An error ends the analysis.
	OnDecision func(d *reference.Decision) error
}

// ErrNoEvents says that a trace holds nothing that could be analysed.
var ErrNoEvents = errors.New("no events")

// Run analyses the trace that src gives. A damaged trace gives a result for
// what could be read, with warnings; an error means that there is no result.
func Run(ctx context.Context, src *input.Source, o Options) (*Result, error) {
	return nil, ErrNoEvents
}

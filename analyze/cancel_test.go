package analyze_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// mostAfter is how many events, and how many decisions, an analysis may take once its
// context is done.
const mostAfter = 10_000

// lateWork counts what an analysis takes once its context is done.
type lateWork struct {
	ctx                         *tracetest.Looks
	events, decisions, observed atomic.Int64
}

// count counts what is taken. That is a moment to cancel, too.
func (l *lateWork) count(to *atomic.Int64, n int) {
	if l.ctx.Cancelled() {
		to.Add(int64(n))
	}
	l.ctx.Err()
}

func (l *lateWork) Begin(analyze.Lookup) {}

func (l *lateWork) Observe(b *ledger.Block, _ []waits.EndedWait) error {
	l.count(&l.observed, len(b.Decisions))
	return nil
}

// TestCancel cancels analyses at many of the moments at which they look at their context, or
// hand on what they have: then they end with its error, and have done little more.
func TestCancel(t *testing.T) {
	name := "real/manygens-io-go1.25-p4"
	if !tracetest.Long() {
		name = "real/manygens-io-go1.22-p4" // a quarter as large
	}
	trace := tracetest.Recorded(t, name)
	for name, o := range map[string]analyze.Options{
		"all":              {},
		"one worker":       {Workers: 1},
		"decisions only":   {DecisionsOnly: true},
		"without timeline": {NoTimeline: true},
		"window":           {Focus: focus.Focus{From: int64(50 * time.Millisecond), Classes: []string{"*"}}},
	} {
		t.Run(name, func(t *testing.T) {
			tracetest.EachLook(t, func(ctx *tracetest.Looks) bool {
				late := &lateWork{ctx: ctx}
				o := o
				o.OnEvents = func(n int) { late.count(&late.events, n) }
				o.OnDecision = func(*reference.Decision) error { late.count(&late.decisions, 1); return nil }
				if !o.DecisionsOnly {
					o.Observer = late
				}
				src, err := input.New(bytes.NewReader(trace), "trace")
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				res, err := analyze.Run(ctx, src, o)
				if !ctx.Cancelled() {
					if err != nil {
						t.Error(err)
					}
					return false
				}
				if res != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("%v: %v, %v", ctx, res, err)
				}
				if e, d, b := late.events.Load(), late.decisions.Load(), late.observed.Load(); max(e, d, b) > mostAfter {
					t.Errorf("%v: %d events read, %d decisions made and %d observed afterwards", ctx, e, d, b)
				}
				return true
			})
		})
	}
}

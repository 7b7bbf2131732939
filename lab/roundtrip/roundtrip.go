// Package roundtrip holds the reconstruction against the simulator, for tests: a
// run is simulated, written as a trace, and analysed.
package roundtrip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/tracewriter"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// Run is a run, as simulated and as reconstructed from its trace.
type Run struct {
	Trace    []byte
	Analysis *analyze.Result
	Starts   []Start
}

// Start is a start of a goroutine of the simulated program.
type Start struct{ Want, Got reference.Decision }

// Counts reports in how many starts the reconstruction is right.
type Counts struct {
	Starts         int
	Source         int // the same, but see Sure
	Sure, SureSame int // starts of which the reconstruction says that it is sure, and of them those with the same source
	Steals, Stolen int // simulated ones, and those with the right source, victim and batch
	Local, Global  int // the same length of the P's queue and of the global one, after the start
}

// Do simulates, writes generations of so many ns (0: of a second), reads the trace
// with the public reader to its end, and analyses it by rules.
func Do(ctx context.Context, o sim.Options, load sim.Arrivals, generation int64, rules reference.Rules) (*Run, error) {
	var out bytes.Buffer
	var want []reference.Decision
	w := tracewriter.New(&out, tracewriter.Options{Format: o.Policy.Rules.TraceFormat, Generation: generation})
	o.Emit = func(d *reference.Decision) {
		w.Add(d)
		if d.Kind == reference.KindStart {
			want = append(want, *d)
		}
	}
	if _, err := sim.Simulate(ctx, o, load); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r := &Run{Trace: out.Bytes()}
	if err := read(r.Trace); err != nil {
		return nil, fmt.Errorf("public reader: %w", err)
	}
	src, err := input.Open(ctx, "-", input.Options{Stdin: bytes.NewReader(r.Trace)})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var got []reference.Decision
	r.Analysis, err = analyze.Run(ctx, src, analyze.Options{Rules: rules, OnDecision: func(d *reference.Decision) error {
		if d.Kind == reference.KindStart && d.G != tracewriter.WorldG {
			got = append(got, *d)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	if w := r.Analysis.Trace.Warnings; len(w) > 0 {
		return nil, fmt.Errorf("analyze warns: %v", w)
	}
	if len(want) != len(got) {
		return nil, fmt.Errorf("%d starts were simulated, and %d reconstructed", len(want), len(got))
	}
	for i := range want {
		a, b := &want[i], &got[i]
		if a.G != b.G || a.P != b.P || a.M != b.M {
			return nil, fmt.Errorf("start %d is of goroutine %d on P%d and thread %d, and reconstructed of %d on P%d and thread %d", i, a.G, a.P, a.M, b.G, b.P, b.M)
		}
		r.Starts = append(r.Starts, Start{*a, *b})
	}
	return r, nil
}

// read reads a trace with the public reader.
func read(data []byte) error {
	r, err := trace.NewReader(bytes.NewReader(data))
	for err == nil {
		_, err = r.ReadEvent()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Count compares the starts.
func (r *Run) Count() Counts {
	c := Counts{Starts: len(r.Starts)}
	for i := range r.Starts {
		w, g := &r.Starts[i].Want, &r.Starts[i].Got
		same := w.Src == g.Src
		c.Source += one(same)
		if g.Basis.Level() >= reference.Inferred {
			c.Sure++
			c.SureSame += one(same)
		}
		if w.Src == reference.SrcSteal || w.Src == reference.SrcStealRunnext {
			c.Steals++
			c.Stolen += one(same && w.Victim == g.Victim && w.Batch == g.Batch)
		}
		c.Local += one(w.Local == g.Local)
		c.Global += one(w.Global == g.Global)
	}
	return c
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

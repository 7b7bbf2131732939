package accuracy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
)

// bandWhatIf is how far a prediction of the makespan may be off.
const bandWhatIf = 0.10

// prediction is what the trace of a program with one GOMAXPROCS says about another.
type prediction struct {
	name               string
	from, to           int // GOMAXPROCS
	measured, makespan int64
	low, high          int64    // of the simulations
	self               *float64 // error of the model, of the makespan
	bound              int64    // by a mutex; 0 if none is known
	untrusted          bool     // by what the simulation says itself
}

func (p *prediction) off() float64 { return float64(p.makespan-p.measured) / float64(p.measured) }

// predict has each of the traces NAME-p1.trace.gz and NAME-p2.trace.gz in a
// folder predict the makespan of the other.
func predict(ctx context.Context, dir string) ([]prediction, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*-p1.trace.gz"))
	if err != nil {
		return nil, err
	}
	var out []prediction
	for _, file := range files {
		name := strings.TrimSuffix(file, "-p1.trace.gz")
		var pair [2]*replay.Result
		for i := range pair {
			o := replay.SimulateOptions{WhatIf: []replay.Change{{Procs: 2 - i}}}
			pair[i], err = simulateWith(ctx, fmt.Sprintf("%s-p%d.trace.gz", name, i+1), o)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s has no recording with GOMAXPROCS %d", name, i+1)
			}
			if err != nil {
				return nil, err
			}
		}
		for i, r := range pair {
			x := r.Simulated.WhatIf[0]
			out = append(out, prediction{
				name: filepath.Base(name), from: i + 1, to: 2 - i, measured: pair[1-i].Observed.MakespanNs,
				makespan: x.Simulated.MakespanNs, low: x.Spread.Min.MakespanNs, high: x.Spread.Max.MakespanNs, self: r.Simulated.Error.Makespan, bound: x.LockBoundNs, untrusted: x.UntrustedMakespan != "",
			})
		}
	}
	return out, nil
}

func simulateWith(ctx context.Context, file string, o replay.SimulateOptions) (*replay.Result, error) {
	src, err := input.Open(ctx, file, input.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return replay.Simulate(ctx, src, o)
}

// predictions writes a row for each prediction.
func predictions(w io.Writer, ps []prediction) {
	good, trusted, both := 0, 0, 0
	for _, p := range ps {
		right := math.Abs(p.off()) <= bandWhatIf
		if right {
			good++
		}
		if !p.untrusted {
			trusted++
			if right {
				both++
			}
		}
	}
	fmt.Fprintf(w, "%d of %d are within %s; %d do not call themselves untrusted, and %d of those are within it.\n\n", good, len(ps), quantity.Percent(bandWhatIf), trusted, both)
	fmt.Fprintln(w, "| program | recorded with | predicted for | measured, ms | predicted, ms | spread, ms | error, % | model, % | mutex bound, ms | trusted |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
	ms := func(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e6) }
	for _, p := range ps {
		off := p.off()
		mark := ""
		if math.Abs(off) > bandWhatIf {
			mark = "**"
		}
		bound, trust := "", "yes"
		if p.untrusted {
			trust = "no"
		}
		if p.bound > 0 {
			bound = ms(p.bound)
		}
		fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %s to %s | %s%s%s | %s | %s | %s |\n", p.name, p.from, p.to, ms(p.measured), ms(p.makespan), ms(p.low), ms(p.high),
			mark, percent(&off), mark, percent(p.self), bound, trust)
	}
}

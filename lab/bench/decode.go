package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// generations calls f for each generation of a trace.
func generations(ctx context.Context, file string, f func(*input.Generation) error) error {
	src, err := input.Open(ctx, file, input.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	for {
		g, err := src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(g); err != nil {
			return err
		}
	}
}

// decode is a child: decode FILE. It decodes one generation after the other and
// prints the CPU time of each, in ns.
func decode(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return errors.New("decode wants a file")
	}
	var all []time.Duration
	if err := generations(ctx, args[0], func(g *input.Generation) error {
		before := cpuTime()
		src, err := input.New(bytes.NewReader(g.Data), args[0])
		if err != nil {
			return err
		}
		defer src.Close()
		s := events.New(ctx, src, events.Options{Workers: 1})
		defer s.Close()
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			return err
		}
		all = append(all, cpuTime()-before)
		return nil
	}); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(all)
}

// decodes returns the CPU time of decoding each generation of a trace.
func (b *bench) decodes(ctx context.Context, file string) ([]time.Duration, error) {
	out, err := b.child(ctx, "decode", file)
	if err != nil {
		return nil, err
	}
	var all []time.Duration
	return all, json.Unmarshal(out, &all)
}

// makespan is how long pieces of work take n workers, if the next piece always
// goes to the worker that is free first, and none waits for anything else.
func makespan(work []time.Duration, n int) time.Duration {
	free := make([]time.Duration, n)
	for _, d := range work {
		i := slices.Index(free, slices.Min(free))
		free[i] += d
	}
	return slices.Max(free)
}

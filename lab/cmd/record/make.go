package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// best records a target until there are keep good recordings or there have been
// tries. It returns the good one whose threads waited least for a CPU, and how
// many recordings were bad.
func best(ctx context.Context, m *runner.Runner, t target, tries, keep int) (row, []byte, int, error) {
	program, err := m.Build(ctx, t.goVersion, "testdata/traces/programs/"+t.scenario.name)
	if err != nil {
		return row{}, nil, 0, err
	}
	type attempt struct {
		trace  []byte
		rec    *recording
		waited int64
	}
	var good []attempt
	var bad []error
	for try := 0; try < tries && len(good) < keep; try++ {
		trace, waited, err := m.Run(ctx, program, runner.Run{GOMAXPROCS: t.gomaxprocs})
		if err != nil {
			return row{}, nil, 0, err
		}
		rec, err := readRecording(bytes.NewReader(trace))
		if err != nil {
			return row{}, nil, 0, err
		}
		if err := t.scenario.facts(rec, t.gomaxprocs); err != nil {
			bad = append(bad, err)
			continue
		}
		good = append(good, attempt{trace, rec, waited})
	}
	if len(good) == 0 {
		return row{}, nil, len(bad), fmt.Errorf("no good recording in %d tries, the last ones: %w", tries, errors.Join(bad[max(0, len(bad)-3):]...))
	}
	least := slices.MinFunc(good, func(a, b attempt) int { return cmp.Compare(a.waited, b.waited) })
	zipped, err := runner.Compress(least.trace)
	if err != nil {
		return row{}, nil, 0, err
	}
	r := row{
		Name:         t.name(),
		File:         t.name() + ".trace.gz",
		Scenario:     t.scenario.name,
		Program:      "programs/" + t.scenario.name,
		Go:           t.goVersion,
		GOOS:         runtime.GOOS,
		GOARCH:       runtime.GOARCH,
		GOMAXPROCS:   strconv.Itoa(t.gomaxprocs),
		Command:      fmt.Sprintf("GOMAXPROCS=%d ./%s FILE", t.gomaxprocs, t.scenario.name),
		SHA256:       runner.Sum(least.trace),
		GzipSHA256:   runner.Sum(zipped),
		Bytes:        len(least.trace),
		GzipBytes:    len(zipped),
		CPUWaitNanos: least.waited,
		Reader:       "EOF",
		Shows:        t.scenario.shows,
	}
	r.describe(least.rec)
	return r, zipped, len(bad), nil
}

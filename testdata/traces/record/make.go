package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A maker builds and runs scenario programs.
type maker struct {
	source   string            // testdata/traces of the checkout
	temp     string            // scratch space
	programs map[string]string // built so far: Go version + scenario → path
}

// best records a target until there are keep good recordings or there have been
// tries. It returns the good one whose threads waited least for a CPU, and how
// many recordings were bad.
func (m maker) best(ctx context.Context, t target, tries, keep int) (row, []byte, int, error) {
	program, err := m.build(ctx, t)
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
		trace, waited, err := m.execute(ctx, program, t.gomaxprocs)
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
	zipped, err := compress(least.trace)
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
		SHA256:       sum(least.trace),
		GzipSHA256:   sum(zipped),
		Bytes:        len(least.trace),
		GzipBytes:    len(zipped),
		CPUWaitNanos: least.waited,
		Reader:       "EOF",
		Shows:        t.scenario.shows,
	}
	r.describe(least.rec)
	return r, zipped, len(bad), nil
}

// build builds the program of t's scenario with t's Go version, in a module of
// the same name as the repository's that asks for no more than that version.
func (m maker) build(ctx context.Context, t target) (string, error) {
	key := t.goVersion + "/" + t.scenario.name
	if program, ok := m.programs[key]; ok {
		return program, nil
	}
	module := filepath.Join(m.temp, t.goVersion)
	if _, err := os.Stat(module); errors.Is(err, fs.ErrNotExist) {
		programs := filepath.Join(module, "testdata", "traces", "programs")
		if err := os.CopyFS(programs, os.DirFS(filepath.Join(m.source, "programs"))); err != nil {
			return "", err
		}
		// The go line of its own version, not one low enough for all: it
		// decides GODEBUG defaults, such as which timer channels are used.
		language := strings.TrimPrefix(shortVersion(t.goVersion), "go")
		mod := fmt.Sprintf("module github.com/gmpscope/gmpscope\n\ngo %s\n", language)
		if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte(mod), 0o644); err != nil {
			return "", err
		}
	}
	program := filepath.Join(module, "bin", t.scenario.name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./testdata/traces/programs/"+t.scenario.name)
	cmd.Dir = module
	cmd.Env = append(os.Environ(),
		"GOTOOLCHAIN="+t.goVersion, "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with %s: %w\n%s", t.goVersion, err, output)
	}
	m.programs[key] = program
	return program, nil
}

// execute runs a program and returns its trace, and for how long its threads
// together waited for a CPU (-1 if unknown).
func (m maker) execute(ctx context.Context, program string, gomaxprocs int) ([]byte, int64, error) {
	file := filepath.Join(m.temp, "trace")
	cmd := exec.CommandContext(ctx, program, file)
	cmd.Dir = m.temp
	cmd.Env = []string{"GOMAXPROCS=" + strconv.Itoa(gomaxprocs)}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("run %s: %w\n%s", filepath.Base(program), err, stderr.Bytes())
	}
	waited, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("run %s: %w", filepath.Base(program), err)
	}
	trace, err := os.ReadFile(file)
	return trace, waited, err
}

// compress gzips data; the same data gives the same bytes (no name, no time).
func compress(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func decompress(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// Package accuracy simulates the work of traces and writes how far the model is off, for
// each: lab/docs/replay.md, of the traces in testdata/traces.
//
//	lab replay                 lab/docs/replay.md again
//	lab replay DIR…            the table, of all traces below DIR, to standard output
//	lab replay -causes DIR     and what the error in the time waited is made of
//	lab replay record DIR      record real programs with one P and with two into DIR
//	lab replay programs DIR    the page about them, to standard output
//
// Programs are recorded five times each. They take a machine with two cores to themselves.
package accuracy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/replay"
)

// Replay are the commands.
var Replay = []cli.Command{
	{Name: "replay record", Args: "DIR", What: "record real programs with one P and with two", Init: recordPrograms},
	{Name: "replay programs", Args: "DIR", What: "print the page about them", Init: printPrograms},
	{Name: "replay", Args: "[DIR…]", What: "how far is a simulation off? lab/docs/replay.md, or the traces in DIR", Init: replayed},
}

// replayed writes lab/docs/replay.md, or the table of the traces below the folders that its
// arguments name.
func replayed(flags *flag.FlagSet) cli.Do {
	apart := flags.Bool("causes", false, "take the error apart by the cause of waiting, besides")
	return func(ctx context.Context, dirs []string, stdout io.Writer) error {
		if len(dirs) == 0 {
			root, err := runner.Root()
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := all(ctx, &b, filepath.Join(root, "testdata", "traces")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, "lab", "docs", "replay.md"), b.Bytes(), 0o644)
		}
		for _, dir := range dirs {
			rows, err := replayAll(ctx, dir)
			if err != nil {
				return err
			}
			table(stdout, rows)
			if *apart {
				causes(stdout, rows)
			}
		}
		return nil
	}
}

// recordPrograms records real programs into the folder that its argument names.
func recordPrograms(flags *flag.FlagSet) cli.Do {
	only := flags.String("only", "", "only programs whose names match this `regexp`")
	times := flags.Int("times", 5, "how `many` recordings to make of each with each GOMAXPROCS")
	return func(ctx context.Context, args []string, stdout io.Writer) error {
		re, err := regexp.Compile(*only)
		if err != nil {
			return err
		}
		if len(args) != 1 {
			return errors.New("name one folder")
		}
		return record(ctx, stdout, args[0], *times, re)
	}
}

// printPrograms prints the page about what [recordPrograms] left in a folder.
func printPrograms(*flag.FlagSet) cli.Do {
	return func(ctx context.Context, args []string, stdout io.Writer) error {
		if len(args) != 1 {
			return errors.New("name one folder")
		}
		return programsPage(ctx, stdout, args[0])
	}
}

// all writes the page about the scenario traces, those of real programs, and the
// pairs for what-ifs. The others are recorded for detectors and for diff: there
// are many, and much alike.
func all(ctx context.Context, w io.Writer, traces string) error {
	rows, err := replayAll(ctx, traces, "cases", "pairs", "whatif")
	if err != nil {
		return err
	}
	ps, err := predict(ctx, filepath.Join(traces, "whatif"))
	if err != nil {
		return err
	}
	page(w, rows, ps)
	return nil
}

// row is one trace.
type row struct {
	name string
	res  *replay.Result
	// lacked is how long threads that could run had no CPU, in ns; nil if that is
	// not known.
	lacked *int64
}

// replayAll replays the traces below a folder, in the order of their names. It
// leaves out folders in it with certain names.
func replayAll(ctx context.Context, dir string, without ...string) ([]row, error) {
	lacked, err := cpuWaits(dir)
	if err != nil {
		return nil, err
	}
	var rows []row
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(without, d.Name()) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.Contains(filepath.Base(file), ".trace") {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		res, err := simulateWith(ctx, file, replay.SimulateOptions{})
		switch {
		case errors.Is(err, analyze.ErrNoEvents):
			return nil
		case err != nil:
			fmt.Fprintf(os.Stderr, "accuracy: %s: %v\n", name, err)
			return nil
		case res.Simulated == nil:
			return nil
		}
		r := row{name: strings.TrimSuffix(filepath.ToSlash(name), ".trace.gz"), res: res}
		if ns, ok := lacked[filepath.ToSlash(name)]; ok {
			r.lacked = &ns
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// cpuWaits reads from a folder's manifest, if there is one, for how long threads
// had no CPU, by file.
func cpuWaits(dir string) (map[string]int64, error) {
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m struct {
		Traces []struct {
			File   string `json:"file"`
			WaitNs *int64 `json:"cpu_wait_ns"`
		} `json:"traces"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("manifest of %s: %w", dir, err)
	}
	out := map[string]int64{}
	for _, t := range m.Traces {
		if t.WaitNs != nil && *t.WaitNs >= 0 { // -1: not measured
			out[t.File] = *t.WaitNs
		}
	}
	return out, nil
}

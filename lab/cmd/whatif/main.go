// Whatif records the programs in testdata/traces/whatif/programs, each with one P
// and with two, for the test of what-ifs: what does the trace of the one predict
// for the other? Of several recordings it keeps the one that took the median
// time.
//
//	go run ./internal/cmd/whatif
//
// Programs that share a machine disturb each other: -run-with starts them by a
// command, for instance "nice -n -20".
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/lab/runner"
)

const (
	goVersion = "go1.26.8"
	tries     = 5
	dir       = "testdata/traces/whatif"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "whatif:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	only := flag.String("only", "", "only programs whose names match this `regexp`")
	with := flag.String("run-with", "", "`command` that starts the programs, such as \"nice -n -20\"")
	flag.Parse()
	re, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	root, err := runner.Root()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-whatif-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	programs, err := os.ReadDir(filepath.Join(root, dir, "programs"))
	if err != nil {
		return err
	}
	r := runner.New(root, temp)
	for _, p := range programs {
		if !re.MatchString(p.Name()) {
			continue
		}
		program, err := r.Build(ctx, goVersion, dir+"/programs/"+p.Name())
		if err != nil {
			return err
		}
		for _, procs := range []int{1, 2} {
			o := runner.Run{GOMAXPROCS: procs, With: strings.Fields(*with)}
			name := filepath.Join(root, dir, fmt.Sprintf("%s-p%d.trace.gz", p.Name(), procs))
			if err := record(ctx, r, program, o, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// record keeps the median of some recordings.
func record(ctx context.Context, r *runner.Runner, program string, o runner.Run, name string) error {
	type recording struct {
		trace  []byte
		ns     int64
		waited int64 // for a CPU
	}
	var all []recording
	for range tries {
		trace, waited, err := r.Run(ctx, program, o)
		if err != nil {
			return err
		}
		src, err := input.New(bytes.NewReader(trace), filepath.Base(name))
		if err != nil {
			return err
		}
		res, err := analyze.Run(ctx, src, analyze.Options{})
		if err != nil {
			return err
		}
		all = append(all, recording{trace, res.Trace.DurationNs, waited})
	}
	slices.SortFunc(all, func(a, b recording) int { return cmp.Compare(a.ns, b.ns) })
	mid := all[len(all)/2]
	zipped, err := runner.Compress(mid.trace)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, %.1f ms (%.1f to %.1f), threads lacked a CPU for %.1f ms\n", filepath.Base(name), len(zipped),
		float64(mid.ns)/1e6, float64(all[0].ns)/1e6, float64(all[tries-1].ns)/1e6, float64(mid.waited)/1e6)
	return os.WriteFile(name, zipped, 0o644)
}

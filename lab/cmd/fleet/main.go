// Command fleet records the traces in fleet/testdata: two services in three versions, one
// of which has a mistake; see the program shop there. Or it measures what a fleet costs on
// one core, and simulates what that means for many traces a day: the figures of
// docs/fleet.md.
//
//	go run ./internal/cmd/fleet -record
//	go run ./internal/cmd/fleet -cost FOLDER
//
// Programs that share a machine disturb each other: -run-with starts the recorded one by a
// command, for instance "nice -n -20".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

const (
	goVersion  = "go1.26.8" // builds the program
	program    = "fleet/testdata/programs/shop"
	procs      = 1
	recordings = 5 // of each service and version
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	again := flag.Bool("record", false, "record the traces again")
	with := flag.String("run-with", "", "with -record: `command` that starts the recorded program, such as \"nice -n -20\"")
	cost := flag.String("cost", "", "measure with the traces in `FOLDER`, and simulate")
	traces := flag.Int("traces", 1_000_000, "with -cost: traces a day")
	megabytes := flag.Float64("megabytes", 5, "with -cost: their mean size, uncompressed")
	flag.Parse()
	switch {
	case *again:
		return recordAll(ctx, strings.Fields(*with))
	case *cost == "":
		return errors.New("say -record or -cost FOLDER")
	}
	r, err := measure(ctx, *cost)
	if err != nil {
		return err
	}
	fmt.Printf("| workers | CPU | busy | longest wait for a worker | levels of merges | merging | report |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, workers := range []int{1, 10, 100} {
		simulate(os.Stdout, day{*traces, *megabytes * 1e6, 64}, r, workers)
	}
	return nil
}

// recordAll records the traces.
func recordAll(ctx context.Context, with []string) error {
	root, err := runner.Root()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-fleet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := runner.New(root, temp)
	shop, err := r.Build(ctx, goVersion, program)
	if err != nil {
		return err
	}
	// Versions take turns, so that a machine that gets slower does so for all.
	for i := range recordings {
		for _, service := range []string{"checkout", "search"} {
			for _, version := range []string{"1.0", "1.1", "1.2"} {
				name := filepath.Join(root, "fleet", "testdata", fmt.Sprintf("%s-%s-%d.trace.gz", service, version, i))
				if err := record(ctx, r, shop, service, version, with, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func record(ctx context.Context, r *runner.Runner, shop, service, version string, with []string, name string) error {
	trace, waited, err := r.Run(ctx, shop, runner.Run{GOMAXPROCS: procs, Env: []string{"SERVICE=" + service, "VERSION=" + version}, With: with})
	if err != nil {
		return err
	}
	zipped, err := runner.Compress(trace)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, zipped, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, threads lacked a CPU for %.1f ms\n", name, len(zipped), float64(waited)/1e6)
	return nil
}

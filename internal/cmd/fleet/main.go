// Command fleet records the traces in fleet/testdata: two services in three versions, one
// of which has a mistake; see the program shop there.
//
//	go run ./internal/cmd/fleet
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/gmpscope/gmpscope/internal/runner"
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
	flag.Parse()
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
				if err := record(ctx, r, shop, service, version, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func record(ctx context.Context, r *runner.Runner, shop, service, version, name string) error {
	trace, waited, err := r.Run(ctx, shop, runner.Run{GOMAXPROCS: procs, Env: []string{"SERVICE=" + service, "VERSION=" + version}})
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

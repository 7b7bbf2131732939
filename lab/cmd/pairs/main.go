// Pairs judges diff by programs recorded before and after a change; package
// pairs says how.
//
//	go run ./internal/cmd/pairs                     print the page
//	go run ./internal/cmd/pairs -o docs/diff.md     and write it
//	go run ./internal/cmd/pairs -record             record all again
//
// Programs that share a machine disturb each other: -run-with starts the
// recorded ones by a command, for instance "nice -n -20".
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// goVersion builds the programs.
const goVersion = "go1.26.8"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	record := flag.Bool("record", false, "record the programs again")
	only := flag.String("only", "", "with -record: only programs whose names match this `regexp`")
	with := flag.String("run-with", "", "`command` that starts the recorded programs, such as \"nice -n -20\"")
	out := flag.String("o", "", "`file` to write the page to")
	flag.Parse()
	root, err := runner.Root()
	if err != nil {
		return err
	}
	if !*record {
		if *out == "" {
			return pairs.Page(ctx, os.Stdout, root)
		}
		return pairs.Write(ctx, root)
	}
	re, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-pairs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := runner.New(root, temp)
	// Sides take turns, so that a machine that gets slower does so for both.
	for _, p := range pairs.All {
		if !re.MatchString(p.Name) {
			continue
		}
		program, err := r.Build(ctx, goVersion, pairs.Program(&p))
		if err != nil {
			return err
		}
		for i := range pairs.Recordings {
			for k, side := range pairs.Sides {
				procs := p.Before
				if k == 1 {
					procs = p.After
				}
				trace, waited, err := r.Run(ctx, program, runner.Run{GOMAXPROCS: procs, Env: []string{"SIDE=" + side}, With: strings.Fields(*with)})
				if err != nil {
					return err
				}
				zipped, err := runner.Compress(trace)
				if err != nil {
					return err
				}
				name := pairs.File(root, &p, side, i)
				if err := os.WriteFile(name, zipped, 0o644); err != nil {
					return err
				}
				fmt.Printf("%s: %d bytes, threads lacked a CPU for %.1f ms\n", name, len(zipped), float64(waited)/1e6)
			}
		}
	}
	return nil
}

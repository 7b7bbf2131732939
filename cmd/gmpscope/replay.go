package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/replay/workload"
	"github.com/gmpscope/gmpscope/report"
)

func (a *app) replay() *cobra.Command {
	var (
		r           readFlags
		format      *choice
		divergences int
		free        simulateFlags
	)
	cmd := &cobra.Command{
		Use:   "replay TRACE",
		Short: "Hold a trace against the rules of the scheduler",
		Long: `Replay steps the run queues along the rebuilt decisions of a trace, and holds
every start against the rules of the scheduler: explained, explained up to a
race, or unexplained, with the evidence. This is the guided replay.

With --simulate it also takes the work out of the trace and has a model of the
scheduler schedule it, several times: as it was, which shows how far the model
can be trusted, and as it could be, a line for each --gomaxprocs, --policy,
--slice, --speed, --yield, --free-lock, --no-locked-threads and --no-gc, any of
which implies --simulate. Observed waiting is split into what ideal sharing would
give as well, what the rules of the scheduler add, and what neither explains.

The output is text for people, or one JSON object for programs, which
docs/json.md describes, and the JSON Schema docs/schema/replay.json.`,
		Example: `  gmpscope replay trace.out
  gmpscope replay trace.out --simulate
  gmpscope replay trace.out --gomaxprocs 2 --gomaxprocs 8 --policy fifo
  gmpscope replay trace.out --speed main.parse=2 --no-gc
  gmpscope replay trace.out --format json | jq .guided.by_rule
  gmpscope replay trace.out --format json | jq -c '.guided.divergences[]'`,
		Args:              oneTrace,
		ValidArgsFunction: traceFiles,
		RunE: a.reading(&r, func(ctx context.Context, args []string) error {
			if divergences < 1 {
				return usagef("--divergences %d: must be 1 or more", divergences)
			}
			opts, err := free.options()
			if err != nil {
				return err
			}
			var (
				g *replay.StreamAudit
				f *replay.Simulation
			)
			res, err := a.analyze(ctx, args[0], r, func(h input.Header, o *analyze.Options) {
				g = replay.NewGuiding(h, replay.Options{Divergences: divergences, Rules: o.Rules})
				o.OnDecision, o.NoDetail, o.NoFindings = g.Add, true, opts == nil
				if opts == nil {
					return
				}
				if o.Anonymize != nil { // the user knows the names, the answer has the numbers
					for i := range opts.WhatIf {
						c := &opts.WhatIf[i]
						c.Class, c.FreeLock = o.Anonymize.Function(c.Class), o.Anonymize.Function(c.FreeLock)
					}
				}
				opts.Rules, opts.MaxMemory = o.Rules, o.MaxMemory
				f = replay.NewSimulation(h, *opts)
				o.OnStacks = f.Stacks
				o.OnDecision = func(d *reference.Decision) error {
					return errors.Join(g.Add(d), f.Add(d))
				}
			})
			if err != nil {
				return err
			}
			r.name(res)
			out := g.Finish(res)
			if f != nil {
				p := a.progress(r.quiet)
				f.OnProgress(p.Simulated)
				err = f.Finish(ctx, res, out)
				if p.Done(); err != nil {
					return err
				}
			}
			to := files.Writer(ctx, a.stdout)
			if format.value == "json" {
				err = report.WriteReplayJSON(to, out, tool())
			} else {
				err = report.WriteReplayText(to, out, report.TextOptions{Color: term.Color(a.stdout, a.getenv)})
			}
			if err != nil {
				return err
			}
			a.warn(out.Trace.Warnings...)
			return nil
		}),
	}
	r.flags(cmd.Flags())
	r.fullFlag(cmd, "path")
	r.cpusFlag(cmd.Flags())
	format = addChoice(cmd, "format", "how to print it", "text", "json")
	cmd.Flags().IntVar(&divergences, "divergences", 100, "keep at most `N` divergences as evidence")
	free.flags(cmd)
	return cmd
}

type simulateFlags struct {
	simulate, noGC, unlocked bool
	procs                    []int
	policies, speeds, yields []string
	locks                    []string
	slices                   []time.Duration
	from, until              time.Duration
	seeds                    int
	set                      *pflag.FlagSet
}

func (f *simulateFlags) flags(cmd *cobra.Command) {
	s := cmd.Flags()
	f.set = s
	s.BoolVar(&f.simulate, "simulate", false, "simulate the work of the trace, too")
	s.BoolVar(&f.simulate, "free", false, "an older name of --simulate")
	s.Lookup("free").Hidden = true
	s.IntSliceVar(&f.procs, "gomaxprocs", nil, "what if GOMAXPROCS were `N`; can be repeated")
	s.StringSliceVar(&f.policies, "policy", nil, "what if the scheduler were `NAME`: "+strings.Join(sim.PolicyNames(), ", ")+"; can be repeated")
	s.DurationSliceVar(&f.slices, "slice", nil, "what if a time slice were `DURATION`, such as 1ms; can be repeated")
	s.StringArrayVar(&f.speeds, "speed", nil, "what if the goroutines of a class computed faster: `CLASS=FACTOR`, such as main.worker=2; can be repeated")
	s.StringArrayVar(&f.yields, "yield", nil, "what if the goroutines of a class called runtime.Gosched: `CLASS=DURATION`, after so much computing, such as main.worker=100us; can be repeated")
	s.StringArrayVar(&f.locks, "free-lock", nil, "what if nobody waited for the mutexes that a `FUNCTION` locks, such as main.(*cache).get; can be repeated")
	s.BoolVar(&f.noGC, "no-gc", false, "what if there were no garbage collector; its assists stay")
	s.BoolVar(&f.unlocked, "no-locked-threads", false, "what if no goroutine were locked to its thread")
	s.DurationVar(&f.from, "from", 0, "simulate only what the trace has from `DURATION` after its beginning on")
	s.DurationVar(&f.until, "until", 0, "simulate only what the trace has up to `DURATION` after its beginning")
	s.IntVar(&f.seeds, "seeds", 5, "simulate each with `N` different seeds")
	must(cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(sim.PolicyNames(), cobra.ShellCompDirectiveNoFileComp)))
}

// options returns nil if none of the flags was given.
func (f *simulateFlags) options() (*replay.SimulateOptions, error) {
	asked := f.simulate
	for _, name := range []string{"gomaxprocs", "policy", "slice", "speed", "yield", "free-lock", "no-gc", "no-locked-threads", "from", "until", "seeds"} {
		asked = asked || f.set.Changed(name)
	}
	if !asked {
		return nil, nil
	}
	switch {
	case f.seeds < 1 || f.seeds > 1000:
		return nil, usagef("--seeds %d: must be 1 to 1000", f.seeds)
	case f.from < 0:
		return nil, usagef("--from %v: must not be negative", f.from)
	case f.until < 0:
		return nil, usagef("--until %v: must not be negative", f.until)
	case f.until > 0 && f.from >= f.until:
		return nil, usagef("--from %v does not lie before --until %v", f.from, f.until)
	}
	o := &replay.SimulateOptions{Seeds: f.seeds, From: int64(f.from), Workload: workload.Options{Until: int64(f.until)}}
	add := func(c replay.Change) { o.WhatIf = append(o.WhatIf, c) }
	for _, n := range f.procs {
		if n < 1 {
			return nil, usagef("--gomaxprocs %d: must be 1 or more", n)
		}
		add(replay.Change{Procs: n})
	}
	if slices.Contains(f.policies, "") {
		return nil, usagef("--policy: the name is empty")
	}
	for _, p := range f.policies {
		add(replay.Change{Policy: p})
	}
	for _, d := range f.slices {
		if d <= 0 {
			return nil, usagef("--slice %v: must be more than 0", d)
		}
		add(replay.Change{Slice: int64(d)})
	}
	for _, s := range f.speeds {
		class, factor, ok := cutClass(s)
		x, err := strconv.ParseFloat(factor, 64)
		switch {
		case !ok:
			return nil, usagef("--speed %q: must be CLASS=FACTOR", s)
		case err != nil:
			return nil, usagef("--speed %q: the factor must be a number", s)
		}
		add(replay.Change{Class: class, Speed: x})
	}
	for _, s := range f.yields {
		class, after, ok := cutClass(s)
		d, err := time.ParseDuration(after)
		switch {
		case !ok:
			return nil, usagef("--yield %q: must be CLASS=DURATION", s)
		case err != nil || d <= 0:
			return nil, usagef("--yield %q: the duration must be one such as 100us", s)
		}
		add(replay.Change{Class: class, Yield: int64(d)})
	}
	if slices.Contains(f.locks, "") {
		return nil, usagef("--free-lock: the name is empty")
	}
	for _, l := range f.locks {
		add(replay.Change{FreeLock: l})
	}
	if f.noGC {
		add(replay.Change{NoGC: true})
	}
	if f.unlocked {
		add(replay.Change{Unlocked: true})
	}
	if err := o.Check(); err != nil {
		return nil, usagef("%s", err)
	}
	return o, nil
}

// cutClass parses CLASS=VALUE, at the last sign: names of functions may have
// one, too.
func cutClass(s string) (class, value string, ok bool) {
	i := strings.LastIndexByte(s, '=')
	if i < 1 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

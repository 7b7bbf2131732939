package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/compare/budget"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/report"
)

// errGate is returned when check found something, or diff a verdict of --fail-on;
// their output says what.
var errGate = errors.New("findings, a broken budget or a bad verdict")

// errInconclusive is returned by the same where nothing can be said.
var errInconclusive = errors.New("inconclusive")

func (a *app) checkCmd() *cobra.Command {
	var (
		r            readFlags
		format, fail *choice
		budgetFile   string
		write        string
		baseline     []string
	)
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:   "check TRACE...",
		Short: "Fail if a trace has findings or breaks a budget",
		Long: `Check is a gate for a build: it exits with 3 if a trace has findings of a
severity, or if a number of the analysis breaks a budget; with 4 if a rule about time is
broken, but threads lacked CPUs, or there are too few units for it.

A budget is a text file with a rule a line, such as

  waits.user.p99_ns      <= 2ms
  pressure.some          <= 40%
  waits.user.total_ns    <= baseline + 25%
  classes[main.serve].waits.p99_ns <= 5ms
  work.kinds[main.serve].latency.p99_ns <= 20ms
  findings[convoy]       <= note

whose left side is a path into what analyze --format json prints. Of several
traces the median is held against it, and findings count if at least half of
the traces have them. docs/check.md explains it; docs/build.md has a workflow.

Without --budget, findings of severity warning or above fail; --fail-on sets
another severity.

With --format json it prints one JSON object for programs, which docs/json.md
describes, and the JSON Schema docs/schema/check.json.`,
		Example: `  gmpscope check trace.out
  gmpscope check --budget sched.budget run1.out run2.out run3.out
  gmpscope check --write-budget sched.budget good1.out good2.out
  gmpscope check --budget sched.budget --baseline main.json trace.out --format github`,
		Args:              someTraces,
		ValidArgsFunction: anyTraces,
		RunE: a.reading(&r, func(ctx context.Context, args []string) error {
			if write != "" && budgetFile != "" {
				return usagef("--write-budget writes a budget, so --budget cannot be given with it")
			}
			var rules []budget.Rule
			if budgetFile != "" {
				err := a.read(ctx, "the budget", budgetFile, func(f io.Reader) (err error) {
					rules, err = budget.Parse(f, budgetFile)
					return err
				})
				if err != nil {
					return err
				}
				if r.anonymize { // the user knows the names, the answer has the numbers
					for i := range rules {
						rules[i].Rename(a.anonymous().Function, a.anonymous().Annotation)
					}
				}
			}
			if err := a.declareInputs("the trace", args...); err != nil {
				return err
			}
			if err := a.declareInputs("the baseline", baseline...); err != nil {
				return err
			}
			if _, err := a.configure(ctx, r); err != nil {
				return err
			}
			if write != "" {
				return a.writeBudget(ctx, write, args, r)
			}
			results, docs, err := a.documents(ctx, args, r, rules, false)
			if err != nil {
				return err
			}
			var base []budget.Document
			if len(baseline) > 0 {
				if _, base, err = a.documents(ctx, baseline, r, rules, true); err != nil {
					return err
				}
			}
			severity := findings.Severity(fail.value)
			if budgetFile != "" && !cmd.Flags().Changed("fail-on") || severity == "none" {
				severity = ""
			}
			c := report.NewCheck(results, severity, budget.Check(rules, docs, base))
			if c.Repository, err = a.repository(ctx); err != nil {
				return err
			}
			out := files.Writer(ctx, a.stdout)
			switch format.value {
			case "json":
				err = report.WriteCheckJSON(out, c, tool())
			case "junit":
				err = report.WriteCheckJUnit(out, c)
			case "sarif":
				err = report.WriteCheckSARIF(out, c, tool(), all.Docs())
			case "github":
				err = report.WriteCheckGitHub(out, c)
			default:
				err = report.WriteCheckText(out, c)
			}
			if err != nil {
				return err
			}
			a.noteUnused()
			switch {
			case c.Failed():
				return errGate
			case c.Inconclusive():
				return errInconclusive
			}
			return nil
		}),
	}
	r.flags(cmd.Flags())
	r.programFlag(cmd.Flags())
	r.fullFlag(cmd, "path")
	r.cpusFlag(cmd.Flags())
	r.configFlag(cmd)
	format = addChoice(cmd, "format", "how to print it", "text", "json", "junit", "sarif", "github")
	fail = addChoice(cmd, "fail-on", "the severity of findings from which on to fail", "warning", "note", "critical", "none")
	cmd.Flags().StringVar(&budgetFile, "budget", "", "hold the traces against the rules in `FILE`")
	cmd.Flags().StringVar(&write, "write-budget", "", "write a budget to `FILE` that these traces keep, and check nothing")
	cmd.Flags().StringArrayVar(&baseline, "baseline", nil, "a `TRACE`, or the JSON of its analysis, that \"baseline\" in a budget means; can be repeated: their median")
	return cmd
}

// repository is the one around the working directory: its files are what annotations may be about.
func (a *app) repository(ctx context.Context) (r report.Repository, err error) {
	if r.Dir, err = os.Getwd(); err != nil {
		return r, fmt.Errorf("looking for the repository: %w", err)
	}
	f, err := files.Regular(ctx, "go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("looking for the module: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 1 && f[0] == "module" {
			r.Module = strings.Trim(f[1], "\"`")
			break
		}
	}
	return r, lines.Err()
}

// documents analyses traces and makes the document of each. With saved, the JSON
// of an analysis is taken as it is; it gives no result. Of results and documents
// only what the check looks at is kept, since there can be many traces.
func (a *app) documents(ctx context.Context, names []string, r readFlags, rules []budget.Rule, saved bool) ([]*analyze.Result, []budget.Document, error) {
	var results []*analyze.Result
	var docs []budget.Document
	for _, name := range names {
		if saved {
			d, ok, err := savedDocument(ctx, name)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				docs = append(docs, d.Only(rules))
				continue
			}
		}
		res, err := a.analyze(ctx, name, r, nil)
		if err != nil {
			return nil, nil, err
		}
		a.warn(res.Trace.Warnings...)
		var buf bytes.Buffer
		if err := report.WriteJSON(&buf, report.Build(res, tool()), report.JSONOptions{}); err != nil {
			return nil, nil, err
		}
		d, err := budget.ReadDocument(&buf, name)
		if err != nil {
			return nil, nil, err
		}
		results, docs = append(results, report.CheckInput(res)), append(docs, d.Only(rules))
	}
	r.name(results...)
	return results, docs, nil
}

// savedDocument reads a file that holds the JSON of an analysis; not ok if it is
// something else.
func savedDocument(ctx context.Context, name string) (d budget.Document, ok bool, err error) {
	if head, _ := files.Peek(name, 1); string(head) != "{" {
		return nil, false, nil // what it is, is the reader's to say
	}
	f, err := files.Regular(ctx, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	d, err = budget.ReadDocument(f, name)
	return d, true, err
}

func (a *app) writeBudget(ctx context.Context, target string, traces []string, r readFlags) error {
	err := a.output(ctx, "--write-budget", target, func(out *files.Output) error {
		_, docs, err := a.documents(ctx, traces, r, nil, false)
		if err != nil {
			return err
		}
		return budget.Propose(files.Writer(ctx, out), docs)
	})
	if err != nil || target == "-" {
		return err
	}
	return a.print(target)
}

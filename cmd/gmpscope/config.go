package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/config"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

func (a *app) writeConfig(ctx context.Context, args []string) error {
	var r readFlags
	switch len(args) {
	case 0:
	case 1:
		r.config = args[0]
	default:
		return usagef("explain --config takes one file at most")
	}
	c, err := a.configure(ctx, r)
	if err != nil {
		return err
	}
	return c.Write(a.stdout)
}

func (r *readFlags) configFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.config, "config", "", "judge by the thresholds and suppressions in `FILE`; gmpscope explain --config prints them")
	must(cmd.MarkFlagFilename("config", "json"))
}

// findingsConfig is what a command judges the findings of its traces by.
type findingsConfig struct {
	thresholds all.Thresholds
	suppress   []findings.Suppression // that have not expired
	used       []bool                 // which of them covered a finding
	homes      []string
}

// configure reads the configuration that --config names, if any, declares it an
// input, and has analyze judge by it.
func (a *app) configure(ctx context.Context, r readFlags) (*config.Config, error) {
	if r.config == "" {
		return config.Default(), nil
	}
	var c *config.Config
	err := a.read(ctx, "the configuration", r.config, func(f io.Reader) (err error) {
		c, err = config.Read(f, r.config)
		return err
	})
	if bad := (*config.Error)(nil); errors.As(err, &bad) {
		return nil, &usageError{msg: bad.Error(), hint: "gmpscope explain --config"}
	}
	if err != nil {
		return nil, err
	}
	inForce, expired := c.InForce(a.now())
	a.findingsConfig = findingsConfig{thresholds: c.Thresholds, suppress: inForce, used: make([]bool, len(inForce)), homes: c.Work.Homes}
	var warnings []string
	for _, s := range expired {
		warnings = append(warnings, fmt.Sprintf("the suppression of %s expired on %s: renew or remove it", ofClass(s), s.Until))
	}
	a.warn(warnings...)
	return c, nil
}

// suppress removes from a result what is accepted.
func (a *app) suppress(res *analyze.Result, names *analyze.Pseudonyms) {
	for i, used := range res.Suppress(a.findingsConfig.suppress, names) {
		if used || res.Trace.Interrupted { // what was not read may have had one
			a.findingsConfig.used[i] = true
		}
	}
}

// noteUnused names the suppressions that covered no finding of any trace.
func (a *app) noteUnused() {
	var notes []string
	for i, s := range a.findingsConfig.suppress {
		if !a.findingsConfig.used[i] {
			notes = append(notes, fmt.Sprintf("the suppression of %s covers no finding: correct or remove it", ofClass(s)))
		}
	}
	a.say("note", notes)
}

// ofClass is what a suppression is about, and whose it is.
func ofClass(s findings.Suppression) string {
	return fmt.Sprintf("%s of %s (%s)", s.Finding, s.Class, s.Owner)
}

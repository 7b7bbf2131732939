package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/term"
)

const (
	theRecords = "the kernel's records"
	theCgroup  = "the control group's cpu.stat"
)

func (r *readFlags) kernelFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.kernel, "kernel", "", "the text of ftrace or perf script from the time of the trace is in `FILE` (- is standard input): says who had the CPUs; docs/kernel.md has how to record it")
	f.StringVar(&r.cgroup, "cgroup-stat", "", "the cpu.stat of the process's control group is in `FILE`: says whether a CPU quota held it up; needs --kernel")
}

// readsKernel declares the inputs that the flags of kernelFlags name.
func (a *app) readsKernel(r *readFlags, trace string) error {
	switch {
	case r.kernel == "" && r.cgroup == "":
		return nil
	case r.kernel == "":
		return usagef("--cgroup-stat needs --kernel")
	case r.kernel == "-" && trace == "-":
		return usagef("the trace and --kernel cannot both be standard input: save one of them to a file")
	case r.kernel == "-" && term.Is(a.stdin):
		return usagef("standard input is a terminal: pipe the kernel's records into it, or name a file")
	}
	if err := a.declareInputs(theRecords, r.kernel); err != nil {
		return err
	}
	if r.cgroup == "" {
		return nil
	}
	return a.declareInputs(theCgroup, r.cgroup)
}

// openKernel opens what the flags of kernelFlags name, for an analysis; done closes it.
func (a *app) openKernel(ctx context.Context, r *readFlags, o *analyze.Options) (done func(), err error) {
	if r.kernel == "" {
		return func() {}, nil
	}
	if o.CgroupStat, err = a.readCgroup(ctx, r.cgroup); err != nil {
		return nil, err
	}
	var in io.Reader
	name, closed := "standard input", func() {}
	if r.kernel == "-" {
		in, err = a.readStdin(ctx, theRecords)
	} else if f, failed := a.open(ctx, theRecords, r.kernel); failed != nil {
		err = failed
	} else {
		in, name, closed = f, r.kernel, func() { f.Close() }
	}
	if err != nil {
		return nil, err
	}
	if o.Kernel, err = kernel.New(in, name); err != nil {
		closed()
		return nil, err
	}
	return func() { o.Kernel.Close(); closed() }, nil
}

func (a *app) readCgroup(ctx context.Context, name string) (*kernel.CgroupStat, error) {
	if name == "" {
		return nil, nil
	}
	var s *kernel.CgroupStat
	err := a.read(ctx, theCgroup, name, func(f io.Reader) (err error) {
		if s, err = kernel.ReadCgroupStat(f); err != nil {
			err = fmt.Errorf("reading %s: %w", name, err)
		}
		return err
	})
	return s, err
}

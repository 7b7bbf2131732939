package main

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/analyze"
)

// cpuCount is a flag for a number of CPUs; 0 if it was not given.
type cpuCount float64

func (c *cpuCount) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New("must be a number such as 4 or 0.5")
	}
	*c = cpuCount(x)
	return analyze.CheckCPUs(x)
}

func (c *cpuCount) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*c), 'g', -1, 64)
}

// Type names the flag's value in a usage message.
func (c *cpuCount) Type() string { return "number" }

func (r *readFlags) cpusFlag(f *pflag.FlagSet) {
	f.Var(&r.cpus, "cpus", "the process had `N` CPUs, such as 4, or 0.5 by a quota: with more Ps than that, lack of CPUs is certain (default: not known)")
}

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
)

// focusing are the flags that say which part of a trace a command is about.
type focusing struct {
	from, to   time.Duration
	classes    []string
	goroutines []int64
	tasks      []int64
	units      []string
	traceID    string
}

func (x *focusing) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.DurationVar(&x.from, "from", 0, "measure and judge only from that `time` after the first event on, for example 1.5s")
	f.DurationVar(&x.to, "to", 0, "measure and judge only up to that `time` after the first event (default: the end)")
	f.StringArrayVar(&x.classes, "class", nil, "measure only the goroutines of the class called `NAME`: as it is shown, or without the path of its package; * stands for any text; may be given several times")
	f.Int64SliceVar(&x.goroutines, "goroutine", nil, "measure only the goroutines with those `NUMBERS`")
	f.Int64SliceVar(&x.tasks, "task", nil, "measure only from the begin to the end of the tasks (runtime/trace.NewTask) with those `NUMBERS`, and the goroutines that worked for them; reads the trace twice")
	f.StringVar(&x.traceID, "trace-id", "", "measure as --task does, the tasks that the program gave the `ID` of a distributed trace, as package capture does; reads the trace twice")
	f.StringArrayVar(&x.units, "unit", nil, "measure only from the first begin to the last end of the units of work of the kind called `NAME`, in section Work, and the goroutines that did them; * stands for any text; may be given several times; reads the trace twice")
	completeClasses(cmd)
}

// twice is the flag that has the trace read twice; "" if none does.
func (x *focusing) twice() string {
	switch {
	case len(x.tasks) > 0:
		return "--task"
	case x.traceID != "":
		return "--trace-id"
	case len(x.units) > 0:
		return "--unit"
	}
	return ""
}

func (x *focusing) focus() (focus.Focus, error) {
	f := focus.Focus{From: int64(x.from), To: int64(x.to), Classes: x.classes, Goroutines: x.goroutines}
	switch {
	case len(x.tasks) > 0 && len(x.units) > 0:
		return f, usagef("--task and --unit both say what to measure: leave one of them out")
	case x.traceID != "" && len(x.tasks)+len(x.units) > 0:
		return f, usagef("--trace-id says what to measure: leave out --task and --unit")
	case x.traceID != "" && !sidecar.IsTraceID(x.traceID):
		return f, usagef("--trace-id %s: is no trace ID: it has 32 hexadecimal digits in lower case, such as 4bf92f3577b34da6a3ce929d0e0e4736", x.traceID)
	case x.twice() != "" && (x.from != 0 || x.to != 0 || len(x.goroutines) > 0):
		return f, usagef("%s says what to measure: leave out --from, --to and --goroutine", x.twice())
	case x.from < 0 || x.to < 0:
		return f, usagef("--from and --to count from the first event: they must not be negative")
	case x.to > 0 && x.to <= x.from:
		return f, usagef("--to %s does not lie after --from %s", x.to, x.from)
	}
	if err := f.Check(); err != nil {
		return f, usagef("%v", err)
	}
	return f, nil
}

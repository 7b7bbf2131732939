package report

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
)

// The runtime preempts what runs for 10 ms and more: enough of that, with one function in enough of it,
// says where a program computes, as a profile does.
const (
	fewPreempted  = 20
	mostPreempted = 0.25
)

// preempted reports in which function that is not of the standard library goroutines were preempted most;
// "" if none stands out, or the headline names it.
func (w *wording) preempted(headline string) string {
	all, in, most := int64(0), map[string]int64{}, ""
	for i := range w.r.Stacks.Rows {
		row := &w.r.Stacks.Rows[i]
		if row.Place != stacks.Stopped || row.BlockedNs > 0 || len(row.Stack) == 0 || yields(w.r.Stacks.Frames[row.Stack[0]].Function) {
			continue
		}
		all += row.Waits
		for _, at := range row.Stack {
			function := w.r.Stacks.Frames[at].Function
			if pkg, _ := std.Split(function); std.Has(pkg) {
				continue
			}
			if in[function] += row.Waits; in[function] > in[most] || in[function] == in[most] && function < most {
				most = function
			}
			break
		}
	}
	name := w.names.Function(most)
	if all < fewPreempted || float64(in[most]) < mostPreempted*float64(all) || strings.Contains(headline, name) {
		return ""
	}
	return fmt.Sprintf("Where goroutines compute: %s of %s were in %s.", quantity.Part(in[most], all), quantity.Plural(all, "preemption", "preemptions"), name)
}

// yields reports whether a goroutine that stops at a function, and is not blocked, yields, hands its P to
// whom it has given a lock, or is in a system call: else it was preempted.
func yields(function string) bool {
	pkg, name := std.Split(function)
	return strings.HasSuffix(pkg, "syscall") || strings.HasSuffix(pkg, "sync") ||
		pkg == "runtime" && (strings.HasPrefix(strings.ToLower(name), "gosched") || name == "gopark" || name == "goyield" || name == "cgocall")
}

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
	fewPreempted  = 10
	mostPreempted = 0.25
)

// A computing is the function, not of the standard library, in which goroutines were preempted most.
type computing struct {
	function string
	n, of    int64 // preemptions there, and of all
}

// computing reports where goroutines compute; ok is false if no function stands out.
func (w *wording) computing() (c computing, ok bool) {
	in := map[string]int64{}
	for i := range w.r.Stacks.Rows {
		row := &w.r.Stacks.Rows[i]
		if row.Place != stacks.Stopped || row.BlockedNs > 0 || len(row.Stack) == 0 || yields(w.r.Stacks.Frames[row.Stack[0]].Function) {
			continue
		}
		c.of += row.Waits
		for _, at := range row.Stack {
			function := w.r.Stacks.Frames[at].Function
			if pkg, _ := std.Split(function); std.Has(pkg) {
				continue
			}
			if in[function] += row.Waits; in[function] > c.n || in[function] == c.n && function < c.function {
				c.function, c.n = function, in[function]
			}
			break
		}
	}
	return c, c.of >= fewPreempted && float64(c.n) >= mostPreempted*float64(c.of)
}

// preempted says where goroutines compute; "" if no function stands out.
func (w *wording) preempted() string {
	c, ok := w.computing()
	if !ok {
		return ""
	}
	return fmt.Sprintf("Where goroutines compute: %s of %s were in %s.", quantity.Part(c.n, c.of), quantity.Plural(c.of, "preemption", "preemptions"), w.names.Function(c.function))
}

// yields reports whether a goroutine that stops at a function, and is not blocked, yields, hands its P to
// whom it has given a lock, or is in a system call: else it was preempted.
func yields(function string) bool {
	pkg, name := std.Split(function)
	return strings.HasSuffix(pkg, "syscall") || strings.HasSuffix(pkg, "sync") ||
		pkg == "runtime" && (strings.HasPrefix(strings.ToLower(name), "gosched") || name == "gopark" || name == "goyield" || name == "cgocall")
}

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/requests"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on the text about requests.
const (
	textRequests = 12 // types of tasks, and of regions
	textLogs     = 6
	textParts    = 8
)

// requests shows the tasks and regions of the program by type, if it has any.
func (t *text) requests(r *analyze.Result) {
	q := &r.Requests
	if len(q.Tasks)+len(q.Regions) == 0 {
		return
	}
	t.head("Requests")
	t.para(2, RequestsLead(q))
	t.requestTypes("task", q.Tasks)
	t.requestTypes("region", q.Regions)
	if len(q.Tasks) > 0 && len(q.Tasks[0].Slowest) > 0 {
		t.slowest(r, &q.Tasks[0], &q.Tasks[0].Slowest[0])
	}
}

// RequestsLead reports what the shares of requests are of.
func RequestsLead(q *requests.Result) string {
	s := "The program marks its own requests (runtime/trace). Shares are of the time that goroutines worked for them"
	if len(q.Tasks) > 0 {
		s += "; for a task work those in its regions, and the one that began it while no other is in one"
	}
	s += "."
	if q.Omitted > 0 {
		s += fmt.Sprintf(" %s are in no type, because too many were open at once.", quantity.Plural(q.Omitted, "task or region", "tasks and regions"))
	}
	return s
}

func (t *text) requestTypes(what string, types []requests.Type) {
	if len(types) == 0 {
		return
	}
	tb := newTable(what, "number", "p50", "p99", "longest", "running", "runnable", "blocked", "syscall", "most blocked for").alignLeft(9)
	for i := range types[:min(len(types), textRequests)] {
		x := &types[i]
		whole := x.LifeNs()
		tb.add(words.Cut(words.Visible(cmp.Or(x.Name, words.Unknown)), 24), quantity.Count(x.Count), quantity.Duration(x.P50Ns), quantity.Duration(x.P99Ns), quantity.Duration(x.MaxNs),
			quantity.Part(x.RunningNs, whole), quantity.Part(x.RunnableNs, whole), quantity.Part(x.Blocked(), whole), quantity.Part(x.SyscallNs, whole),
			cmp.Or(BlockedInWords(&x.TimeByState, 1), "-"))
	}
	t.line("")
	t.table(2, tb)
	if n := len(types) - textRequests; n > 0 {
		t.line(fmt.Sprintf("  … and %s.", quantity.Plural(int64(n), "more type", "more types")))
	}
}

// slowest describes the longest task.
func (t *text) slowest(r *analyze.Result, of *requests.Type, x *requests.Request) {
	t.line("")
	t.para(2, SlowestInWords(t.names, r, of, x))
	for i, p := range x.Parts {
		if i == textParts {
			t.line(fmt.Sprintf("    … and %s.", quantity.Plural(int64(len(x.Parts)-i)+x.MoreParts, "more region", "more regions")))
			break
		}
		t.hang("    - ", 6, PartInWords(x, &p))
	}
	for i, l := range x.Logs {
		if i == textLogs {
			t.line(fmt.Sprintf("    … and %s.", quantity.Plural(int64(len(x.Logs)-i)+x.MoreLogs, "more log message", "more log messages")))
			break
		}
		t.hang("    - ", 6, LogInWords(x, &l))
	}
}

// SlowestInWords reports how long a request took, and what its goroutines did meanwhile.
func SlowestInWords(names *words.Names, r *analyze.Result, of *requests.Type, x *requests.Request) string {
	s := fmt.Sprintf("The longest %s", words.Cut(words.Visible(cmp.Or(of.Name, words.Unknown)), 120))
	if x.Task != 0 {
		s += fmt.Sprintf(" (task %d)", x.Task)
	}
	from, to := quantity.Window(x.FromNs, x.ToNs)
	s += fmt.Sprintf(" took %s, from %s to %s", quantity.Duration(x.ToNs-x.FromNs), from, to)
	if name := classNamed(r, x.Class); name != "" {
		s += fmt.Sprintf(", begun by goroutine %d of %s", x.G, names.Class(name))
	}
	if x.Goroutines > 1 {
		s += fmt.Sprintf("; %s worked for it", quantity.Plural(x.Goroutines, "goroutine", "goroutines"))
	}
	whole := x.LifeNs()
	if whole == 0 {
		return s + "."
	}
	parts := []string{quantity.Part(x.RunningNs, whole) + " running", quantity.Part(x.RunnableNs, whole) + " waiting for a P" + chiefCause(&x.Spent)}
	if b := BlockedInWords(&x.TimeByState, 2); b != "" {
		parts = append(parts, "blocked: "+b)
	}
	if x.SyscallNs > 0 {
		parts = append(parts, quantity.Part(x.SyscallNs, whole)+" in system calls")
	}
	return s + ": " + words.List(parts) + "."
}

// chiefCause reports why, where one cause is more than half.
func chiefCause(s *requests.Spent) string {
	for i, ns := range s.Causes {
		if ns > 0 && 2*ns > s.RunnableNs {
			return " (mostly: " + words.Cause(waits.Causes()[i]) + ")"
		}
	}
	return ""
}

// PartInWords describes a region of a task.
func PartInWords(of *requests.Request, p *requests.Part) string {
	return fmt.Sprintf("%s on, %s: %s on goroutine %d", quantity.Duration(p.FromNs-of.FromNs), quantity.Duration(p.ToNs-p.FromNs),
		words.Cut(words.Visible(cmp.Or(p.Name, words.Unknown)), 120), p.G)
}

// LogInWords describes what was logged for a task.
func LogInWords(of *requests.Request, l *requests.Log) string {
	return fmt.Sprintf("%s on, logged by goroutine %d: %s", quantity.Duration(l.AtNs-of.FromNs), l.G, words.Cut(words.Visible(cmp.Or(l.Text, "(not kept)")), 200))
}

// classNamed is the name of a class by its handle; "" if it is not known.
func classNamed(r *analyze.Result, id int32) string {
	if c := r.Breakdown.Of(id); c != nil && id != 0 {
		return c.Name
	}
	return ""
}

// requestsOf is r as the JSON has it.
func requestsOf(r *analyze.Result) jsondoc.Requests {
	types := func(in []requests.Type) []jsondoc.RequestType {
		out := []jsondoc.RequestType{}
		for i := range in {
			x := &in[i]
			t := jsondoc.RequestType{
				Name: x.Name, Count: x.Count, Open: x.Open, Before: x.Before, TotalNs: x.TotalNs, P50: x.P50Ns, P99: x.P99Ns, MaxNs: x.MaxNs,
				Life: *lifeOf(&x.TimeByState), Causes: causesOf(&x.Spent), Slowest: []jsondoc.Request{},
			}
			for j := range x.Slowest {
				t.Slowest = append(t.Slowest, requestOf(r, &x.Slowest[j]))
			}
			out = append(out, t)
		}
		return out
	}
	return jsondoc.Requests{Tasks: types(r.Requests.Tasks), Regions: types(r.Requests.Regions), Omitted: r.Requests.Omitted}
}

func requestOf(r *analyze.Result, x *requests.Request) jsondoc.Request {
	out := jsondoc.Request{
		Task: x.Task, G: x.G, Class: classNamed(r, x.Class), FromNs: x.FromNs, ToNs: x.ToNs, Life: *lifeOf(&x.TimeByState), Causes: causesOf(&x.Spent),
		Goroutines: x.Goroutines, Logs: []jsondoc.RequestLog{}, MoreLogs: x.MoreLogs, Parts: []jsondoc.RequestPart{}, MoreParts: x.MoreParts,
	}
	for _, l := range x.Logs {
		out.Logs = append(out.Logs, jsondoc.RequestLog{AtNs: l.AtNs, G: l.G, Text: l.Text})
	}
	for _, p := range x.Parts {
		out.Parts = append(out.Parts, jsondoc.RequestPart{Name: p.Name, G: p.G, FromNs: p.FromNs, ToNs: p.ToNs})
	}
	return out
}

func causesOf(s *requests.Spent) []waits.CauseTime {
	out := []waits.CauseTime{}
	for i, c := range waits.Causes() {
		if s.Causes[i] > 0 {
			out = append(out, waits.CauseTime{Cause: c, Ns: s.Causes[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b waits.CauseTime) int { return cmp.Compare(b.Ns, a.Ns) })
	return out
}

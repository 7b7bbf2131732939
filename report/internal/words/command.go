package words

import (
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Command returns the command line that has gmpscope do name, such as "report", for the trace
// and the focus of r, but without its window.
func Command(r *analyze.Result, name string) string {
	args := []string{"gmpscope", name, quoted(r.Trace.Name)}
	if f := r.Focus; f != nil {
		for _, c := range f.Classes {
			args = append(args, "--class", quoted(c))
		}
		for _, g := range f.Goroutines {
			args = append(args, "--goroutine", strconv.FormatInt(g, 10))
		}
	}
	return strings.Join(args, " ")
}

// quoted is a word for a shell.
func quoted(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-"
	if s = Visible(s); s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Export is one way to show an analysis in another tool: commands to run, and what to do next.
type Export struct {
	What     string   // what it is good for
	Commands []string // of a shell
	Then     string   // what to do with what they made; empty if they open it
}

// Exports returns the ways to show r in other tools.
func Exports(r *analyze.Result) []Export {
	export := func(format, output string) string {
		return Command(r, "export "+format) + window(r) + " -o " + output
	}
	return []Export{
		{
			What:     "Where goroutines had stopped that then waited, as a flame graph or a tree, by cause, class, queue and waker",
			Commands: []string{export("pprof", "waits.pprof"), "go tool pprof -http=: waits.pprof"},
		},
		{
			What:     "What ran where and when, with queues, wake-ups and steals, to zoom and to query",
			Commands: []string{export("perfetto", "trace.perfetto")},
			Then:     "Open the file at ui.perfetto.dev, which keeps it in the browser.",
		},
		{
			What:     "Each wait, start and run interval as a row, for a database or a data frame",
			Commands: []string{export("parquet", "tables"), `duckdb -c "select class, sum(wait_ns) from 'tables/waits.parquet' group by class order by 2 desc"`},
		},
	}
}

// window are the flags of the window that r is about.
func window(r *analyze.Result) string {
	f, out := r.Focus, ""
	if f == nil {
		return out
	}
	if f.FromNs > 0 {
		out += " --from " + time.Duration(f.FromNs).String()
	}
	if f.ToNs < r.Trace.DurationNs {
		out += " --to " + time.Duration(f.ToNs).String()
	}
	return out
}

// Focus returns, in words, which part of a trace a result is about: its window, and whose
// work, "" for all.
func Focus(f *analyze.Focused) (window, only string) {
	from, to := quantity.Window(f.FromNs, f.ToNs)
	window = from + " to " + to
	var parts []string
	if len(f.Classes) > 0 {
		parts = append(parts, "goroutines of "+firstOf(All(f.Classes, 120)))
	}
	if len(f.Goroutines) > 0 {
		numbers := make([]string, len(f.Goroutines))
		for i, g := range f.Goroutines {
			numbers[i] = strconv.FormatInt(g, 10)
		}
		what := "goroutine "
		if len(numbers) > 1 {
			what = "goroutines "
		}
		parts = append(parts, what+firstOf(numbers))
	}
	return window, strings.Join(parts, ", of them ")
}

// firstOf are the first few of a list.
func firstOf(list []string) string {
	const most = 5
	s := strings.Join(list[:min(len(list), most)], ", ")
	if n := len(list); n > most {
		s += " and " + quantity.Count(int64(n-most)) + " more"
	}
	return s
}

package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// maxBenchLabel bounds a part of a benchmark's name that comes from the trace, in runes:
// readers of the format read lines of up to 64 KiB.
const maxBenchLabel = 1024

// WriteBench writes the numbers of doc as benchmark results, for benchstat and other
// readers of the format (golang.org/design/14313-benchmark-format). The trace, each
// cause of waiting, each detector and each class has a line; a kind of units of which there are enough
// has six more, of its throughput and mean latency in parts of the trace. Times are in seconds: readers
// would turn ns into those, but leave 0 ns as it is (benchfmt.Reader).
func WriteBench(w io.Writer, doc *Document) error {
	if doc == nil || doc.Result == nil {
		return errors.New("bench: no result")
	}
	config := benchConfig(&doc.Result.Trace)
	out := benchfmt.NewWriter(term.Lines(w))
	for _, s := range subjectsOf(doc) {
		sampled := map[string]bool{}
		for _, numbers := range s.samples {
			for _, n := range numbers {
				sampled[n.name] = true
			}
		}
		whole := slices.DeleteFunc(slices.Clone(s.numbers), func(n number) bool { return sampled[n.name] })
		for _, numbers := range append([][]number{whole}, s.samples...) {
			res := &benchfmt.Result{Config: config, Name: benchfmt.Name(benchName(s)), Iters: 1}
			for _, n := range numbers {
				res.Values = append(res.Values, benchfmt.Value{Value: n.inUnit(), Unit: benchUnit(n)})
			}
			if err := out.Write(res); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
		}
	}
	return nil
}

// benchConfig reports what was measured. benchstat compares results of equal
// configuration, so the name of the trace is not part of it.
func benchConfig(t *analyze.Trace) []benchfmt.Config {
	config := func(key, value string) benchfmt.Config {
		return benchfmt.Config{Key: key, Value: []byte(words.Visible(value)), File: true}
	}
	out := []benchfmt.Config{
		config("go", t.GoVersion),
		config("gomaxprocs", strconv.Itoa(t.GOMAXPROCS)),
	}
	if t.Incomplete || t.LostBytes > 0 || t.LostNs > 0 {
		out = append(out, config("incomplete", "true"))
	}
	return out
}

// benchName is the name of a line without its Benchmark: Sched, Cause/cause=gc.
func benchName(s measured) string {
	name := "Sched"
	if s.kind != "" {
		name = strings.ToUpper(s.kind[:1]) + s.kind[1:]
	}
	for _, l := range s.tags {
		name += "/" + l.key + "=" + benchLabel(l.value)
	}
	return withoutProcs(name)
}

// benchLabel makes a string part of a benchmark's name, in which spaces end the name
// and slashes separate parts.
func benchLabel(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '_'
		case r == '/':
			return ':'
		}
		return r
	}, words.Cut(s, maxBenchLabel))
}

// withoutProcs keeps the end of a name from being read as GOMAXPROCS, which follows a dash.
func withoutProcs(name string) string {
	digits := strings.TrimRight(name, "0123456789")
	if len(digits) < len(name) && strings.HasSuffix(digits, "-") {
		return digits[:len(digits)-1] + "_" + name[len(digits):]
	}
	return name
}

// benchUnit is what a number is called: units name the metric in this format.
func benchUnit(n number) string {
	name := strings.ReplaceAll(n.name, "_", "-")
	switch n.unit {
	case seconds:
		return name + "-sec"
	case ratio:
		return name + "-ratio"
	}
	return name
}

package analyze

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/reference"
)

// nothing reports why there is nothing that could be analysed.
func nothing(src *input.Source, st *events.Stats) error {
	if why := src.Stats().OverLimit; why != "" {
		return fmt.Errorf("reading %s: %s", src.Name(), why)
	}
	if len(st.Failures) > 0 {
		f := st.Failures[0]
		if src.Header().V1 {
			return fmt.Errorf("reading %s: at byte %d: %v: a trace of Go 1.21 or older can only be read as a whole, and this one stops short or is damaged: record it again", src.Name(), f.Offset, f.Err)
		}
		return fmt.Errorf("reading %s: at byte %d: %v, and nothing before it could be read: record the trace again", src.Name(), f.Offset, f.Err)
	}
	if in := src.Stats(); len(in.Losses) > 0 {
		l := in.Losses[0]
		return fmt.Errorf("reading %s: %w: at byte %d of %d: %s: the program or the download ended too early, or the file is damaged: call trace.Stop before the program exits, and record again", src.Name(), ErrNoEvents, l.Offset, in.Bytes, l.Why)
	}
	return fmt.Errorf("reading %s: %w: it holds a header only; the program ended before the tracer wrote anything: call trace.Stop, or record for longer", src.Name(), ErrNoEvents)
}

// salvaged reports in one line what is missing of a generation.
func salvaged(s *events.Salvage) string {
	var parts []string
	table := func(e *wire.Entries, one, many, effect string) {
		if !e.Whole() {
			parts = append(parts, damage(e, one, many)+": "+effect)
		}
	}
	table(&s.Stacks, "stack", "stacks", "what refers to such a stack has none")
	table(&s.Strings, "string", "strings", "what refers to such a string has no name")
	table(&s.Samples, "CPU sample", "CPU samples", "they are left out")
	if s.Lost > 0 && len(parts) == 0 {
		parts = append(parts, quantity.Plural(s.Lost, "byte", "bytes")+" of it could not be read")
	}
	if s.Partial {
		parts = append(parts, fmt.Sprintf("events of threads are missing: between %s and %s they may have done more than is told, and the times of Ps are guesses",
			quantity.Duration(s.From), quantity.Duration(s.To)))
	}
	if len(parts) == 0 {
		parts = append(parts, "it is damaged, but nothing of it is missing")
	}
	return fmt.Sprintf("generation %d at byte %d: %s", s.Generation, s.Offset, strings.Join(parts, "; "))
}

// damage reports what is wrong with a table, with the words for an entry and for several.
func damage(e *wire.Entries, one, many string) string {
	missing := e.Missing - e.Damaged // those of the damaged ones are among them
	found := quantity.Count(int64(e.Found))
	switch {
	case e.Found == 0:
		return "its " + many + " are missing"
	case e.Damaged == 0:
		return fmt.Sprintf("%s missing beside %s that are there", quantity.Plural(int64(missing), one+" is", many+" are"), found)
	}
	is := "are"
	if e.Damaged == 1 {
		is = "is"
	}
	s := fmt.Sprintf("%s of %s %s %s damaged", quantity.Count(int64(e.Damaged)), found, many, is)
	if missing > 0 {
		s += fmt.Sprintf(" and %s missing", quantity.Count(int64(missing)))
	}
	return s
}

// during reports when a gap is.
func during(g events.Gap) string {
	from, to, length := quantity.Duration(g.From), quantity.Duration(g.To), quantity.Duration(g.To-g.From)
	if from == to {
		return fmt.Sprintf("for %s at %s", length, from)
	}
	return fmt.Sprintf("between %s and %s (%s)", from, to, length)
}

// writers names the Go releases that write a format.
func writers(minor int) string {
	var names []string
	for _, r := range reference.Writers(minor) {
		names = append(names, r.Release)
	}
	switch n := len(names) - 1; {
	case n > 0:
		return strings.Join(names[:n], ", ") + " or " + names[n]
	case n == 0:
		return names[0]
	}
	return cmp.Or(oldWriters[minor], fmt.Sprintf("1.%d", minor))
}

// oldWriters are those without rules of their own.
var oldWriters = map[int]string{11: "1.11 to 1.18", 19: "1.19 or 1.20"}

// lostBytes is how much of the trace was not used. Damage in what was left out at its
// end is lost once.
func lostBytes(in *input.Stats, st *events.Stats) int64 {
	n := in.LostBytes + st.LostBytes
	if st.LeftAt > 0 {
		n += in.Bytes - st.LeftAt
	}
	return min(n, in.Bytes)
}

// describe reports what the trace is, how much of it was read, and what is missing.
func describe(src *input.Source, tables *events.Tables, st *events.Stats, sum *reconstruct.Summary, words *Pseudonyms, interrupted bool, full string) Trace {
	h := src.Header()
	in := src.Stats()
	t := Trace{
		Name:        words.trace(src.Name()),
		Format:      fmt.Sprintf("go 1.%d", h.Minor),
		GoVersion:   writers(h.Minor),
		Program:     words.program(program(tables.AllFrames(), sum.MainFunc)),
		DurationNs:  st.End,
		GOMAXPROCS:  sum.Procs,
		Events:      st.Events,
		Generations: st.Generations,
		Goroutines:  sum.Goroutines,
		Threads:     sum.Threads,
		Samples:     st.ByKind[events.Sample],
		Tasks:       st.ByKind[events.TaskBegin],
		Regions:     st.ByKind[events.Region],
		Logs:        st.ByKind[events.Log],
		Bytes:       in.Bytes,
		Stored:      in.Stored,
		LostBytes:   lostBytes(&in, st),
		LostNs:      st.LostNs,
		Incomplete:  interrupted || in.LossCount > 0 || st.FailCount > 0 || st.SalvageCount > 0,
		Interrupted: interrupted,
		Compression: h.Compression,
		Reduced:     h.V1,
		TracerNs:    sum.TracerNs,
		Warnings:    []string{},
	}
	if !st.Wall.IsZero() {
		t.Began, t.Wall = st.Wall, st.Wall.UTC().Format(time.RFC3339)
	}
	warn := func(format string, args ...any) { t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...)) }
	if interrupted {
		why := fmt.Sprintf("%s of it could be read", quantity.Plural(in.Bytes, "byte", "bytes"))
		if full != "" {
			why = full
		}
		warn("interrupted: this is about the first %s of the trace; %s, and what followed in it is left out", quantity.Duration(st.End), why)
	}
	if n := sum.Violations; n > 0 {
		warn("the reconstruction contradicted itself %s and began anew there: sources of starts just after are in doubt. That is a mistake of gmpscope: please report it, with the trace if you can", quantity.Plural(n, "time", "times"))
	}
	if h.V1 {
		warn("written by Go 1.21 or older: the format has no threads and no causes, so run queues, steals and retakes are not rebuilt")
	}
	long := in.CutNames
	for i := range st.Salvages {
		long += st.Salvages[i].CutNames
	}
	if long > 0 {
		warn("%s longer than 1 KiB, and cut", quantity.Plural(int64(long), "name is", "names are"))
	}
	for _, l := range in.Losses {
		if l.Bytes > 0 {
			warn("%s lost at byte %d: %s", quantity.Plural(l.Bytes, "byte", "bytes"), l.Offset, words.loss(l.Why))
		} else {
			warn("at byte %d: %s", l.Offset, words.loss(l.Why))
		}
	}
	if n := in.LossCount - len(in.Losses); n > 0 {
		warn("%s", quantity.Plural(int64(n), "more loss", "more losses"))
	}
	for _, f := range st.Failures {
		warn("%s", words.failure(f))
	}
	if n := st.FailCount - len(st.Failures); n > 0 {
		warn("%s could not be read to the end", quantity.Plural(int64(n), "more generation", "more generations"))
	}
	for i := range st.Salvages {
		if i == 10 {
			warn("%s", quantity.Plural(int64(st.SalvageCount-i), "more damaged generation", "more damaged generations"))
			break
		}
		warn("%s", salvaged(&st.Salvages[i]))
	}
	for i, g := range st.Gaps {
		if i == 10 {
			warn("%s; %s in all", quantity.Plural(int64(st.GapCount-i), "more gap", "more gaps"), quantity.Duration(st.LostNs))
			break
		}
		warn("what happened %s is lost, in whole or in part: waits that reach into it are not known, and what the Ps did there counts as not recorded", during(g))
	}
	return t
}

// program guesses what the program is called: by the folder of main.main, by the package
// that is tested, or by the package of the function that goroutine 1 began with.
func program(stacks iter.Seq[[]*events.Frame], first string) string {
	tested := ""
	for frames := range stacks {
		if len(frames) < 2 {
			continue
		}
		switch in, out := frames[len(frames)-2], frames[len(frames)-1]; {
		case out.Func == "runtime.main" && in.Func == "main.main":
			if name := folder(in.File); name != "" {
				return name
			}
		case strings.HasPrefix(out.Func, "testing.") && tested == "":
			tested = testOf(frames)
		case out.Func == "main.main":
			if name := folder(out.File); name != "" {
				return name
			}
		}
	}
	if tested != "" {
		return path.Base(tested) + ".test"
	}
	return strings.TrimSuffix(first, ".main")
}

// testsOf reports which package is under test, "" for none, and what stacks show of its tests.
func testsOf(stacks iter.Seq[[]*events.Frame], words *Pseudonyms) (tested string, t findings.Tests) {
	t.Functions = map[string]bool{}
	tests := false
	for frames := range stacks {
		for i, f := range frames {
			switch {
			case strings.HasSuffix(f.File, "_test.go"):
				pkg, _ := std.Split(f.Func)
				tested = cmp.Or(tested, strings.TrimSuffix(pkg, "_test"))
				function, _, _ := strings.Cut(words.Function(f.Func), " ") // without what is said about wrappers
				t.Functions[function] = true
			case f.Func == "testing.(*B).runN":
				t.Benchmarks = true
			case f.Func == "testing.tRunner" && i > 0:
				tests = tests || !strings.HasPrefix(frames[i-1].Func, "testing.")
			}
		}
		if len(frames) > 0 && strings.HasPrefix(frames[len(frames)-1].Func, "testing.") {
			tested = cmp.Or(tested, testOf(frames))
		}
	}
	t.Benchmarks = t.Benchmarks && !tests
	if !std.Has(tested) {
		tested = words.program(tested)
	}
	return tested, t
}

// testOf is the package of a test or benchmark, by its stack; "" if that goes through none.
func testOf(frames []*events.Frame) string {
	for i := len(frames) - 1; i >= 0; i-- {
		pkg, name := std.Split(frames[i].Func)
		if pkg == "testing" {
			continue
		}
		for _, kind := range [...]string{"Test", "Benchmark", "Fuzz", "Example"} {
			if strings.HasPrefix(name, kind) {
				return strings.TrimSuffix(pkg, "_test")
			}
		}
		return ""
	}
	return ""
}

// folder is the last element of the path of a file's folder, without a module's version; ""
// for the file that go test makes.
func folder(file string) string {
	dir, name := path.Split(file)
	if name == "_testmain.go" || name == "_main_.go" || dir == "" {
		return ""
	}
	base, _, _ := strings.Cut(path.Base(dir), "@")
	return strings.Trim(base, "/.")
}

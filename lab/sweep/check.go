package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/lab/usage"
)

// The bounds.
const (
	analyzeCPU   = 3 * time.Microsecond   // an event
	analyzeStart = 50 * time.Millisecond  // besides, of a trace
	otherCPU     = 20 * time.Microsecond  // an event, of any other command
	otherStart   = 200 * time.Millisecond // besides, of a trace
	maxMemory    = 1 << 30                // bytes resident
	maxUnknown   = 0.01                   // of the starts

	// hang, in seconds of CPU time, ends a command.
	hang = 120
)

// A command is one of gmpscope's. FILE stands for the trace, and OUT for a file that is written.
type command struct {
	name   string
	args   string
	exit   []int // exit codes besides 0
	traces int64 // how many it reads
}

var commands = []command{
	{"analyze", "analyze --format json FILE", nil, 1},
	{"analyze text", "analyze FILE", nil, 1},
	{"report", "report --no-fetch -o OUT FILE", nil, 1},
	{"report --reference", "report --no-fetch --reference -o OUT FILE", nil, 1},
	{"check", "check FILE", []int{3}, 1},
	{"dump", "dump FILE", nil, 1},
	{"dump --units", "dump --units --anonymize FILE", nil, 1},
	{"replay", "replay FILE", nil, 1},
	{"replay --simulate", "replay --simulate FILE", nil, 1},
	{"diff", "diff FILE FILE", nil, 2},
	{"export pprof", "export pprof --all -o OUT FILE", nil, 1},
	{"export pprof --work", "export pprof --work -o OUT FILE", nil, 1},
	{"export perfetto", "export perfetto -o OUT FILE", nil, 1},
	{"export parquet", "export parquet -o OUT FILE", nil, 1},
	{"fleet -o FILE.sum", "fleet --format sum -o OUT FILE", nil, 1},
	{"fleet", "fleet FILE", nil, 1},
}

// A result is what was found in one trace, and what it took.
type result struct {
	Name, Kind, What string
	Events           int64
	Nanos            map[string]int64 // CPU time an event, by command
	Memory           int64            // the most of any command
	Starts           int64
	Unknown          int64 // starts that no rule explains
	Label, Headline  string
	Failed           []string
}

// checkAll runs the commands on the traces in dir, and keeps the results beside them.
func checkAll(ctx context.Context, program, dir string, match *regexp.Regexp) error {
	temp, err := os.MkdirTemp("", "sweep")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	c := checker{program: program, temp: temp}
	if program == "" {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		c.program = filepath.Join(temp, "gmpscope")
		if _, err := goTool.Run(ctx, root, "build", "-o", c.program, "./cmd/gmpscope"); err != nil {
			return err
		}
	}
	if c.self, err = os.Executable(); err != nil {
		return err
	}
	failed := 0
	for _, l := range loads() {
		file := traceFile(dir, l.name)
		if _, err := os.Stat(file); err != nil || !match.MatchString(l.name) {
			continue
		}
		r := c.check(ctx, l, file)
		fmt.Printf("%-22s %9d events %6d ns %5d MiB %6.2f %%  %s\n", r.Name, r.Events, r.Nanos["analyze"], r.Memory>>20, 100*r.unexplained(), r.Label)
		for _, f := range r.Failed {
			fmt.Printf("    FAILS: %s\n", f)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed += len(r.Failed)
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(resultFile(dir, l.name), text, 0o644); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d bounds or invariants do not hold", failed)
	}
	return nil
}

func traceFile(dir, name string) string  { return filepath.Join(dir, name+".trace.gz") }
func resultFile(dir, name string) string { return filepath.Join(dir, name+".json") }

// results reads what checkAll found.
func results(dir string) ([]result, error) {
	var all []result
	for _, l := range loads() {
		text, err := os.ReadFile(resultFile(dir, l.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var r result
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (r *result) unexplained() float64 { return float64(r.Unknown) / float64(max(1, r.Starts)) }

type checker struct {
	program, self, temp string
}

// check runs all commands on a trace.
func (c *checker) check(ctx context.Context, l load, file string) result {
	r := result{Name: l.name, Kind: l.kind, What: l.what(), Nanos: map[string]int64{}}
	fail := func(format string, args ...any) { r.Failed = append(r.Failed, fmt.Sprintf(format, args...)) }
	for _, cmd := range commands {
		if ctx.Err() != nil {
			return r
		}
		u, out := c.run(ctx, cmd.argv(c.program, file, filepath.Join(c.temp, "out")))
		if u.Exit != 0 && !slices.Contains(cmd.exit, u.Exit) {
			fail("%s: exit code %d after %.1f s of CPU: %s", cmd.name, u.Exit, u.CPU.Seconds(), u.Said)
			continue
		}
		if cmd.name == "analyze" {
			if err := r.read(out); err != nil {
				fail("%s: %v", cmd.name, err)
			}
		}
		each, start := otherCPU, otherStart
		if cmd.name == "analyze" {
			each, start = analyzeCPU, analyzeStart
		}
		events := max(1, r.Events*cmd.traces)
		if bound := start + time.Duration(events)*each; u.CPU > bound {
			// Other programs can be in the way.
			again, _ := c.run(ctx, cmd.argv(c.program, file, filepath.Join(c.temp, "out")))
			u.CPU = min(u.CPU, again.CPU)
			if u.CPU > bound {
				fail("%s: %.2f s of CPU, not %.2f s", cmd.name, u.CPU.Seconds(), bound.Seconds())
			}
		}
		r.Nanos[cmd.name] = int64(u.CPU) / events
		r.Memory = max(r.Memory, u.Memory)
		if u.Memory > maxMemory {
			fail("%s: %d MiB of memory", cmd.name, u.Memory>>20)
		}
	}
	if r.unexplained() > maxUnknown {
		fail("%.2f %% of %d starts are unexplained", 100*r.unexplained(), r.Starts)
	}
	// Another process, so that this one stays small.
	if u, out := c.run(ctx, []string{c.self, "sweep", "contradictions", file}); u.Exit != 0 {
		fail("contradictions: exit code %d after %.1f s of CPU: %s", u.Exit, u.CPU.Seconds(), u.Said)
	} else if len(out) > 0 {
		r.Failed = append(r.Failed, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	return r
}

// read extracts from the JSON of an analysis what the page shows.
func (r *result) read(text []byte) error {
	var doc struct {
		Verdict struct{ Label, Headline string }
		Trace   struct{ Events int64 }
		Recon   struct{ Starts, Unexplained int64 } `json:"reconstruction"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	r.Label, r.Headline, r.Events = doc.Verdict.Label, doc.Verdict.Headline, doc.Trace.Events
	r.Starts, r.Unknown = doc.Recon.Starts, doc.Recon.Unexplained
	return nil
}

func (c command) argv(program, file, out string) []string {
	argv := []string{program}
	for _, a := range strings.Fields(c.args) {
		switch a {
		case "FILE":
			a = file
		case "OUT":
			a = out
		}
		argv = append(argv, a)
	}
	return argv
}

// run runs a program, which the kernel kills if it takes too much CPU time.
func (c *checker) run(ctx context.Context, argv []string) (u usage.Usage, stdout []byte) {
	out := filepath.Join(c.temp, "out")
	defer os.RemoveAll(out)
	limited := append([]string{"-c", "ulimit -t " + strconv.Itoa(hang) + ` && exec "$0" "$@"`}, argv...)
	cmd := exec.CommandContext(ctx, "sh", limited...)
	var text bytes.Buffer
	if !slices.Contains(argv, "dump") { // its output is many times the trace
		cmd.Stdout = &text
	}
	return usage.Run(cmd), text.Bytes()
}

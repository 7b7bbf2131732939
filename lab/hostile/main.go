// Package hostile makes hostile traces, runs gmpscope on each, and holds what that
// takes against bounds: memory, CPU time and output. It prints a table and fails if
// a bound does not hold. scripts/hostile calls it.
package hostile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	inputs "github.com/gmpscope/gmpscope/internal/testkit/hostile"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/usage"
)

// The bounds, for inputs of up to 1 MiB as stored.
const (
	maxMemory = 1 << 30 // bytes resident, without --max-memory
	maxCPU    = 20 * time.Second
	maxOutput = 64 << 20 // bytes; of dump, which prints each decision, any number

	checkedBefore = 50        // traces that check is given, for its memory to get as large as it does anyway
	checked       = 200       // and so many more
	maxCheckTrace = 100 << 10 // bytes that each of them may take

	patience = 10 * time.Minute // of a run: for a busy machine, where CPU time is what counts
)

// limited bounds the memory under --max-memory.
func limited(limit int64) int64 { return limit + limit/4 + 32<<20 }

// Command makes hostile traces and runs gmpscope on them.
func Command(flags *flag.FlagSet) cli.Do {
	var o options
	flags.StringVar(&o.program, "gmpscope", "", "the `PROGRAM` to run")
	flags.StringVar(&o.folder, "dir", "", "run it on the files in `DIR`, too")
	flags.StringVar(&o.only, "only", "", "only inputs whose names match `REGEXP`")
	flags.StringVar(&o.which, "commands", "", "only commands whose names match `REGEXP`")
	flags.BoolVar(&o.short, "short", false, "smaller inputs, and fewer runs: within a minute of CPU time")
	flags.StringVar(&o.write, "make", "", "only make the inputs, in `DIR`")
	return func(context.Context, []string, io.Writer) error { return o.run() }
}

// options are what the flags say.
type options struct {
	program, folder, only, which, write string
	short                               bool
}

func (o *options) run() error {
	if o.write == "" && o.program == "" {
		return errors.New("-gmpscope or -make is missing")
	}
	match, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	matchCommand, err := regexp.Compile(o.which)
	if err != nil {
		return fmt.Errorf("-commands: %w", err)
	}
	if o.write != "" {
		return makeInputs(o.write, match, o.short)
	}
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Another process makes them: on Linux the peak of a child counts from what its parent has.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "hostile", "-make", dir, "-only", o.only, fmt.Sprintf("-short=%t", o.short))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("making the inputs: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil {
		return err
	}
	if o.folder != "" {
		entries, err := os.ReadDir(o.folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.IsDir() && match.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".md") {
				files = append(files, filepath.Join(o.folder, e.Name()))
			}
		}
	}
	b := bench{program: o.program, dir: dir}
	b.line("input", "command", "limit", "exit", "CPU s", "s", "MiB", "of", "out KiB", "")
	for _, file := range files {
		for _, c := range commands(dir) {
			if !matchCommand.MatchString(c.name) || !c.takes.MatchString(file) && filepath.Dir(file) == dir || o.short && c.worst != nil && !c.worst.MatchString(file) {
				continue
			}
			for _, limit := range c.limits(o.short) {
				b.try(file, c, limit)
			}
		}
	}
	if err := b.check(); err != nil {
		return err
	}
	fmt.Printf("%d runs, %.0f s of CPU time\n", b.runs, b.cpu.Seconds())
	if b.failed > 0 {
		return fmt.Errorf("%d bounds do not hold", b.failed)
	}
	return nil
}

// makeInputs writes the inputs into a folder.
func makeInputs(dir string, match *regexp.Regexp, short bool) error {
	size := inputs.Full
	if short {
		size = inputs.Size{Stored: size.Stored / 8, Unpacked: size.Unpacked / 8}
	}
	write := func(name string, write func(io.Writer, inputs.Size) error) error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := errors.Join(write(f, size), f.Close()); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name(), err)
		}
		return nil
	}
	for _, in := range append(inputs.Inputs(), inputs.Small()) {
		if !match.MatchString(in.Name) && in.Name != small {
			continue
		}
		if err := write(in.Name+".trace", in.Write); err != nil {
			return err
		}
	}
	sound, damaged, err := inputs.Captured()
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	for name, data := range map[string][]byte{"captured": sound, "captured-damaged": damaged} {
		if !match.MatchString(name) {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name+".trace"), data, 0o666); err != nil {
			return err
		}
	}
	for _, in := range inputs.Besides() {
		if !match.MatchString(in.Name) {
			continue
		}
		if err := write(in.Name, in.Write); err != nil {
			return err
		}
	}
	return nil
}

// small is the name of a sound trace, for what is read beside one.
const small = "small"

// planted is the name of the command that finds the input where its cache has an entry.
const planted = "planted"

// command is a command of gmpscope.
type command struct {
	name  string
	args  []string       // the input follows, but for planted
	twice bool           // with a limit also in a short run
	takes *regexp.Regexp // inputs that it reads
	worst *regexp.Regexp // those that a short run has; nil: all
}

var (
	traces    = regexp.MustCompile(`\.trace$`)
	summaries = regexp.MustCompile(`\.sum$`)
	entries   = regexp.MustCompile(`/(summaries\.sum|kernel-none\.zst)$`)
	kernel    = regexp.MustCompile(`\.zst$`)
	simulated = regexp.MustCompile(`/(wakes|captured-damaged|small)\.`)
	written   = regexp.MustCompile(`/(captured-damaged|classes|deep-stacks|goroutines|leaps|long-strings|regions|tasks|v1-regions|v1-stacks)\.`)
)

func commands(dir string) []command {
	return []command{
		{"analyze", []string{"analyze", "--format", "json", "--quiet"}, true, traces, nil},
		{"report", []string{"report", "--no-fetch", "--quiet", "-o", "-"}, false, traces, written},
		{"check", []string{"check", "--quiet"}, false, traces, written},
		{"dump", []string{"dump", "--quiet"}, false, traces, written},
		{"replay", []string{"replay", "--quiet"}, false, traces, written},
		{"units", []string{"dump", "--units", "--anonymize", "--quiet"}, false, traces, written},
		{"latency", []string{"export", "pprof", "--work", "--quiet", "-o", "-"}, false, traces, written},
		{"pprof", []string{"export", "pprof", "--all", "--quiet", "-o", "-"}, false, traces, written},
		{"perfetto", []string{"export", "perfetto", "--quiet", "-o", "-"}, false, traces, written},
		{"reference", []string{"analyze", "--reference", "--format", "json", "--quiet"}, true, traces, simulated},
		{"simulate", []string{"replay", "--simulate", "--format", "json", "--quiet"}, false, traces, simulated},
		{"cached", []string{"fleet", "--format", "sum", "--cache", filepath.Join(dir, "cache"), "--quiet", "-o", "-"}, false, traces, simulated},
		{planted, []string{"fleet", "--format", "sum", filepath.Join(dir, small+".trace"), "--quiet", "-o", "-", "--cache", filepath.Join(dir, planted)}, false, entries, nil},
		{"fleet", []string{"fleet", "--format", "json", "--quiet"}, false, summaries, nil},
		{"merge", []string{"fleet", "--format", "sum", "--quiet", "-o", "-"}, false, summaries, nil},
		{"kernel", []string{"analyze", filepath.Join(dir, small+".trace"), "--format", "json", "--quiet", "--kernel"}, false, kernel, nil},
	}
}

// limits are the values of --max-memory that a command is tried with, in MiB; 0 is
// none.
func (c command) limits(short bool) []int64 {
	switch {
	case !short:
		return []int64{0, 96, 256}
	case c.twice:
		return []int64{0, 96}
	}
	return []int64{0}
}

// bench runs the program and prints what it took.
type bench struct {
	program, dir string
	runs, failed int
	cpu          time.Duration
	free         int // exit code of the command without a limit
}

// line prints a line of the table, at once: a run can take its time.
func (b *bench) line(input, command, limit, exit, cpu, wall, memory, bound, output, why any) {
	fmt.Printf("%-24v %-9v %6v %4v %6v %6v %8v %8v %8v  %v\n", input, command, limit, exit, cpu, wall, memory, bound, output, why)
}

// try runs a command on a file. What takes too much is tried again, since other
// programs can be in the way.
func (b *bench) try(file string, c command, limit int64) {
	args := append(slices.Clip(c.args), file)
	bound := int64(maxMemory)
	if limit > 0 {
		args = append(args, fmt.Sprintf("--max-memory=%dMiB", limit))
		bound = limited(limit << 20)
	}
	run := func() taken { return b.run(args) }
	if c.name == planted {
		args = slices.Delete(args, len(c.args), len(c.args)+1)
		run = func() taken {
			u := b.run(args)
			if err := b.plant(file); u.Exit != 0 || err != nil {
				return taken{Usage: usage.Usage{Exit: -1, Said: fmt.Sprintf("planting an entry: %v; %s", err, u.Said)}}
			}
			return b.run(args)
		}
	}
	u := run()
	why := b.exceeded(c.name, u, limit, bound)
	if why != "" {
		again := run()
		again.CPU, again.Memory = min(u.CPU, again.CPU), min(u.Memory, again.Memory)
		u, why = again, b.exceeded(c.name, again, limit, bound)
	}
	if why != "" {
		b.failed++
	}
	if limit == 0 {
		b.free = u.Exit
	}
	b.line(strings.TrimSuffix(filepath.Base(file), ".trace"), c.name, limit, u.Exit,
		fmt.Sprintf("%.1f", u.CPU.Seconds()), fmt.Sprintf("%.1f", u.Wall.Seconds()), u.Memory>>20, bound>>20, u.output>>10, why)
}

// plant replaces each entry of the cache by a file.
func (b *bench) plant(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n := 0
	err = filepath.WalkDir(filepath.Join(b.dir, planted), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		return os.WriteFile(path, data, 0o666)
	})
	if err == nil && n == 0 {
		return errors.New("there is none")
	}
	return err
}

// exceeded returns which bound a run exceeds; "" if none.
func (b *bench) exceeded(command string, u taken, limit, memory int64) string {
	switch {
	case u.Exit != 0 && u.Exit != 1 && u.Exit != 3:
		return fmt.Sprintf("FAILS: exit code %d: %s", u.Exit, u.Said)
	case u.Memory > memory:
		return "FAILS: memory"
	case u.CPU > maxCPU:
		return "FAILS: CPU time"
	case u.output > maxOutput && command != "dump" && command != "units" && command != "perfetto":
		return "FAILS: output"
	case limit > 0 && u.Exit == 1 && b.free != 1 && !strings.Contains(u.Said, "--max-memory"):
		return "FAILS: does not name the limit: " + u.Said
	}
	return ""
}

// check holds what a trace more takes in a check of many against its bound.
func (b *bench) check() error {
	file := filepath.Join(b.dir, "small.trace")
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := errors.Join(inputs.Small().Write(f, inputs.Full), f.Close()); err != nil {
		return err
	}
	each := int64(0)
	for range 3 { // when the collector runs decides a part of it
		var took [2]taken
		for i, n := range []int{checkedBefore, checkedBefore + checked} {
			took[i] = b.run(append([]string{"check", "--quiet"}, slices.Repeat([]string{file}, n)...))
		}
		each = (took[1].Memory - took[0].Memory) / checked
		why := ""
		if each > maxCheckTrace {
			why = "FAILS: memory of a trace"
		}
		b.line(fmt.Sprintf("%d small ones", checked), "check", 0, took[1].Exit, fmt.Sprintf("%.1f", took[1].CPU.Seconds()), fmt.Sprintf("%.1f", took[1].Wall.Seconds()),
			fmt.Sprintf("%d K/tr.", each>>10), fmt.Sprintf("%d K/tr.", maxCheckTrace>>10), took[1].output>>10, why)
		if each <= maxCheckTrace {
			return nil
		}
	}
	b.failed++
	return nil
}

// run runs the program, and returns how many bytes it printed, too.
func (b *bench) run(args []string) taken {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.program, args...)
	var out counter
	cmd.Stdout = &out
	u := usage.Run(cmd)
	b.runs++
	b.cpu += u.CPU
	return taken{u, int64(out)}
}

// taken is what a run took.
type taken struct {
	usage.Usage
	output int64 // bytes
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

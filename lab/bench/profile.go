package bench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// profiled is for how long at least a trace is analysed under the CPU profiler, which
// looks a hundred times a second: once would be a few dozen samples.
const profiled = 3 * time.Second

// profileRun is a child: profile COMMAND FILE PROFILE. It analyses a trace under the CPU
// profiler, again and again, as analyze does, or as report does, which shows the trace over
// time.
func profileRun(ctx context.Context, args []string, _ io.Writer) error {
	if len(args) != 3 {
		return errors.New("profile wants a command and two files")
	}
	o := analyze.Options{NoTimeline: args[0] == "analyze"}
	out, err := os.Create(args[2])
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	for begin := time.Now(); err == nil && time.Since(begin) < profiled; {
		err = analyzeOnce(ctx, args[1], o)
	}
	pprof.StopCPUProfile()
	return errors.Join(err, out.Close())
}

func analyzeOnce(ctx context.Context, file string, o analyze.Options) error {
	src, err := input.Open(ctx, file, input.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = analyze.Run(ctx, src, o)
	return err
}

// pgo writes the profile of analyses of the traces where "go build" looks for it.
func (b *bench) pgo(ctx context.Context, traces []spec) error {
	args := []string{"tool", "pprof", "-proto", "-output=" + filepath.Join(b.root, "cmd", "gmpscope", "default.pgo")}
	for _, t := range traces {
		file, _, err := b.made(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
		prof := filepath.Join(b.dir, t.name+".prof")
		if _, err := b.child(ctx, "profile", "report", file, prof); err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
		args = append(args, prof)
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go tool pprof: %w\n%s", err, out)
	}
	return nil
}

// share is the part of the CPU time that one owner has, 0 to 1.
type share struct {
	Owner string
	All   float64
	Lib   float64 // of it in the standard library and the runtime, on the owner's behalf
}

// profile returns where the CPU time of an analysis with so many Ps goes, by package and by step,
// the largest share first.
func (b *bench) profile(ctx context.Context, file string, procs int) (packages, steps []share, err error) {
	prof := filepath.Join(b.dir, "cpu.prof")
	run := exec.CommandContext(ctx, b.self, "bench", "profile", "analyze", file, prof)
	run.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	if err := quiet(run); err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "pprof", "-traces", prof)
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go tool pprof: %w", err)
	}
	if packages, err = shares(string(out), owner); err != nil {
		return nil, nil, err
	}
	steps, err = shares(string(out), step)
	return packages, steps, err
}

// shares reads what "go tool pprof -traces" prints: stacks between lines of
// dashes, each with its time before the innermost function. The function by says
// whose a stack is.
func shares(text string, by func(stack []string) (owner string, lib bool)) ([]share, error) {
	var (
		found = make(map[string]share) // their Owner is the key
		total time.Duration
		took  time.Duration
		stack []string
	)
	end := func() {
		if took > 0 {
			owner, lib := by(stack)
			s := found[owner]
			s.All += float64(took)
			if lib {
				s.Lib += float64(took)
			}
			found[owner] = s
			total += took
		}
		took, stack = 0, nil
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	begun := false
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "-----------+") {
			end()
			begun = true
			continue
		}
		if !begun {
			continue // what the profile is of
		}
		fields := strings.Fields(line)
		if len(stack) == 0 && len(fields) > 1 {
			var err error
			if took, err = time.ParseDuration(fields[0]); err != nil {
				return nil, fmt.Errorf("pprof printed %q: %w", line, err)
			}
			fields = fields[1:]
		}
		if len(fields) > 0 {
			stack = append(stack, fields[0])
		}
	}
	end()
	if total == 0 {
		return nil, errors.New("the profile is empty")
	}
	var out []share
	for owner, s := range found {
		out = append(out, share{owner, s.All / float64(total), s.Lib / float64(total)})
	}
	slices.SortFunc(out, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.All, a.All), cmp.Compare(a.Owner, b.Owner))
	})
	return out, nil
}

// The owners of stacks that are no package's.
const (
	collector = "Go's garbage collector"
	elsewhere = "Go's scheduler, and what else the runtime does"
)

// owner returns the package on whose behalf a stack, innermost function first,
// runs: the innermost of ours or of golang.org/x/exp. Lib says that the time is
// spent in what that package calls.
func owner(stack []string) (pkg string, lib bool) {
	for i, f := range stack {
		for _, module := range []string{"github.com/gmpscope/gmpscope/", "golang.org/x/exp/"} {
			if rest, ok := strings.CutPrefix(f, module); ok {
				dir, name := path.Split(rest)
				name, _, _ = strings.Cut(name, ".")
				pkg := dir + name
				if module != "github.com/gmpscope/gmpscope/" {
					pkg = module + pkg
				}
				return pkg, i > 0
			}
		}
	}
	if slices.ContainsFunc(stack, func(f string) bool {
		return strings.HasPrefix(f, "runtime.gc") || strings.HasPrefix(f, "runtime.bgsweep") || strings.HasPrefix(f, "runtime.bgscavenge")
	}) {
		return collector, false
	}
	return elsewhere, false
}

// steps are the parts of the pipeline that run beside one another, in their order, and what tells
// their stacks. Decoding has as many workers as there are cores.
var steps = []struct{ name, of string }{
	{decoding, "analyze/events.(*Stream).dispatch"},
	{"reconstruction", "analyze/reconstruct.(*Reconstructor)."},
	{"ledger, waits", "analyze.(*analysis).measure.func1"},
	{"Ps, fairness, stacks", "analyze.(*analysis).measure.func2"},
	{"detectors", "analyze/findings.(*Set).Add"},
	{"units of work", "analyze.(*analysis).addWork"},
	{result, "analyze.(*analysis).result"},
}

const (
	decoding = "decoding"
	result   = "result"
)

// step returns the step of the pipeline that a stack belongs to.
func step(stack []string) (name string, lib bool) {
	for _, s := range steps {
		if slices.ContainsFunc(stack, func(f string) bool { return strings.HasPrefix(f, "github.com/gmpscope/gmpscope/"+s.of) }) {
			return s.name, false
		}
	}
	return "else", false
}

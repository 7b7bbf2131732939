package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/lab/truth"
)

// realPrograms are programs that other people wrote, as they are recorded by what
// they come with.
func realPrograms() []spec {
	var all []spec
	add := func(name, title string, from source) {
		all = append(all, spec{name: name, title: title, source: from})
	}
	add("compile", "the Go compiler", compiler{"cmd/compile/internal/ssa"})
	add("nethttp", "tests of net/http, 64 Ps", tests{"net/http", 64})
	for _, name := range []string{"bbolt", "raft", "ristretto"} {
		add(name, "tests of "+name, realProgram{name, 4})
	}
	return all
}

// compiler is the Go compiler while it compiles a package.
type compiler struct{ pkg string }

func (c compiler) key() string { return "compile-" + filepath.Base(c.pkg) }

func (c compiler) record(ctx context.Context, _, file string) error {
	// For flags that it has seen before, the go command would take what it compiled
	// then: they must name a new file.
	temp, err := os.CreateTemp("", "compile-*.trace")
	if err != nil {
		return err
	}
	temp.Close()
	defer os.Remove(temp.Name())
	cmd := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, "-gcflags="+c.pkg+"=-c=4 -traceprofile="+temp.Name(), c.pkg)
	if err := quiet(cmd); err != nil {
		return err
	}
	data, err := os.ReadFile(temp.Name())
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// tests are those of a package of the standard library that are not long.
type tests struct {
	pkg   string
	procs int
}

func (t tests) key() string {
	return fmt.Sprintf("test-%s-%d", strings.ReplaceAll(t.pkg, "/", "-"), t.procs)
}

func (t tests) record(ctx context.Context, _, file string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-short", "-vet=off", "-o", os.DevNull, "-trace", file, t.pkg)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(t.procs))
	return quiet(cmd)
}

// realProgram is one of those that package truth knows, with its recorder in the
// runtime.
type realProgram struct {
	workload string
	procs    int
}

func (p realProgram) key() string { return fmt.Sprintf("%s-%d", p.workload, p.procs) }

func (p realProgram) record(ctx context.Context, _, file string) error {
	cache, err := truth.DefaultCache()
	if err != nil {
		return err
	}
	recipe := truth.Recipe{Go: strings.TrimPrefix(runtime.Version(), "go"), Workload: p.workload, Procs: p.procs, Scale: 1}
	builder := &truth.Builder{Cache: cache}
	program, err := builder.Program(ctx, recipe)
	if err != nil {
		return err
	}
	records := file + ".records"
	defer os.Remove(records)
	return truth.Run(ctx, program, recipe, file, records)
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/lab/gotool"
)

// realPrograms are programs that other people wrote, as they are recorded by what
// they come with.
func realPrograms() []spec {
	return []spec{
		{name: "compile", title: "the Go compiler", source: compiler{"cmd/compile/internal/ssa"}},
		{name: "nethttp", title: "tests of net/http, 64 Ps", source: tests{"net/http", 64}},
		{name: "grpc", title: "tests of grpc", source: moduleTests{"google.golang.org/grpc@v1.85.0", "internal/transport", "."}},
		{name: "pebble", title: "tests of pebble", source: moduleTests{"github.com/cockroachdb/pebble@v1.1.5", ".", "TestCommitPipeline|TestFlush|TestCompaction|TestIterator"}},
	}
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

// moduleTests are those of a package of another module whose names match.
type moduleTests struct{ module, pkg, match string }

func (t moduleTests) key() string { return strings.NewReplacer("/", "-", "@", "-").Replace(t.module) }

func (t moduleTests) record(ctx context.Context, dir, file string) error {
	source := filepath.Join(dir, t.key())
	var tool gotool.Tool
	if err := tool.CopyModule(ctx, t.module, source); err != nil {
		return err
	}
	defer os.RemoveAll(source)
	_, failed := tool.Run(ctx, source, "test", "-short", "-vet=off", "-mod=mod", "-o", os.DevNull, "-run", t.match, "-trace", file, "./"+t.pkg)
	if _, err := os.Stat(file); err != nil {
		return errors.Join(failed, err)
	}
	return nil // a test that failed is in the trace, too
}

package sweep

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/lab/gotool"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// A recording ends when the program ends, or is ended once its trace is as long as it should be: after longest, or after
// least if it is large. What is kept is whole generations.
const (
	least, longest = 2 * time.Second, 4 * time.Second

	largeTrace = 2 << 20   // bytes
	smallTrace = 512 << 10 // of one for testdata

	// The tracer begins a generation that often, and not each second, so that little is cut off.
	generation      = 250 * time.Millisecond
	smallGeneration = 20 * time.Millisecond

	// patience ends a program that writes no trace.
	patience = 5 * time.Minute
)

// A program is ready to be run.
type program struct {
	argv []string
	dir  string
	env  []string
	exit int // the exit code if all goes well
}

// A recorder builds programs below temp and writes their traces to dir.
type recorder struct {
	root, dir, temp string
	small           bool // traces for testdata
}

// record records l. If that fails there is no trace.
func (r *recorder) record(ctx context.Context, l load) error {
	raw := filepath.Join(r.temp, "trace")
	defer os.Remove(raw)
	p, err := l.build(ctx, r, raw)
	if err != nil {
		return fmt.Errorf("building %s: %w", l.name, err)
	}
	limit, period := largeTrace, generation
	if r.small {
		limit, period = smallTrace, smallGeneration
	}
	p.env = append(p.env, "GOMAXPROCS=4", fmt.Sprintf("GODEBUG=traceadvanceperiod=%d", period))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done, enough := context.WithCancel(ctx)
	defer enough()
	go func() {
		defer enough()
		var began time.Time
		for done.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			info, err := os.Stat(raw)
			if err != nil || info.Size() == 0 {
				continue
			}
			if began.IsZero() {
				began = time.Now()
			}
			took := time.Since(began)
			if took > longest || info.Size() > int64(limit) && (took > least || r.small) {
				return
			}
		}
	}()
	if err := p.run(done); err != nil && (done.Err() == nil || ctx.Err() != nil) {
		return fmt.Errorf("recording %s: %w", l.name, err)
	}
	trace, err := whole(ctx, raw, limit)
	if err != nil {
		return fmt.Errorf("reading the trace of %s: %w", l.name, err)
	}
	if trace, err = runner.Compress(trace); err != nil {
		return err
	}
	return os.WriteFile(traceFile(r.dir, l.name), trace, 0o644)
}

// whole returns the complete generations of a trace, as many as fit, but at least one.
func whole(ctx context.Context, file string, limit int) ([]byte, error) {
	src, err := input.Open(ctx, file, input.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var all []byte
	for {
		g, err := src.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err == nil && g.Complete && len(all) == 0 {
			all = append(all, g.Data...)
			continue
		}
		if err == nil && g.Complete && len(all)+len(g.Data) <= limit {
			all = append(all, g.Data[headerBytes:]...)
			continue
		}
		if len(all) == 0 {
			return nil, errors.New("it has no complete generation")
		}
		return all, nil
	}
}

// headerBytes is how long the header is that the data of each generation begins with.
const headerBytes = 16

// run runs p to its end.
func (p *program) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	cmd.WaitDelay = time.Second // what p has started may outlive it
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != p.exit {
		text := out.Bytes()
		return fmt.Errorf("%s: %w\n%s", strings.Join(p.argv, " "), err, text[max(0, len(text)-4000):])
	}
	return nil
}

// goTool has one compiler at a time: other programs may be at work.
var goTool = gotool.Tool{Env: []string{"GOFLAGS=-p=1 -buildvcs=false"}}

// source returns a folder with a copy of a module, MODULE@VERSION.
func (r *recorder) source(ctx context.Context, module string) (string, error) {
	to := filepath.Join(r.temp, strings.NewReplacer("/", "-", "@", "-").Replace(module))
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	return to, goTool.CopyModule(ctx, module, to)
}

// build builds the tests of a package.
func (m module) build(ctx context.Context, r *recorder, trace string) (program, error) {
	dir, err := r.source(ctx, m.version)
	if err != nil {
		return program{}, err
	}
	bin := filepath.Join(r.temp, m.name+".test")
	if _, err := goTool.Run(ctx, dir, "test", "-c", "-vet=off", "-trimpath", "-mod=mod", "-o", bin, "./"+m.pkg); err != nil {
		return program{}, err
	}
	args := []string{bin, "-test.trace=" + trace, "-test.short", "-test.cpu=2,4", "-test.benchtime=10ms",
		"-test.run=" + orNone(m.run), "-test.bench=" + orNone(m.bench)}
	if m.skip != "" {
		args = append(args, "-test.skip="+m.skip)
	}
	return program{argv: args, dir: filepath.Join(dir, m.pkg)}, nil
}

// orNone returns an expression that matches no test in place of an empty one.
func orNone(expr string) string {
	if expr == "" {
		return "^$"
	}
	return expr
}

// build builds the program with the servers.
func (s server) build(ctx context.Context, r *recorder, trace string) (program, error) {
	bin := filepath.Join(r.temp, "servers")
	_, err := goTool.Run(ctx, filepath.Join(r.root, "lab", "sweep", "servers"), "build", "-trimpath", "-o", bin, ".")
	return program{argv: []string{bin, s.name, trace}, dir: r.temp}, err
}

//go:embed trace.go.txt
var traceSource []byte

// build builds a tool that records itself: a file of ours is added to its package main.
func (t tool) build(ctx context.Context, r *recorder, trace string) (program, error) {
	if t.version == "" {
		const pkg = "cmd/compile/internal/ssa"
		return program{argv: []string{"go", "build", "-o", os.DevNull, "-gcflags=" + pkg + "=-c=4 -traceprofile=" + trace, pkg}, dir: r.temp}, nil
	}
	dir, err := r.source(ctx, t.version)
	if err != nil {
		return program{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, t.pkg, "gmpscope_trace.go"), traceSource, 0o644); err != nil {
		return program{}, err
	}
	bin := filepath.Join(r.temp, t.name)
	if _, err := goTool.Run(ctx, dir, "build", "-trimpath", "-mod=mod", "-ldflags=-checklinkname=0", "-o", bin, "./"+t.pkg); err != nil {
		return program{}, err
	}
	if t.on != "" {
		dir, err = r.source(ctx, t.on)
	}
	return program{argv: append([]string{bin}, t.args...), dir: dir, env: []string{"GMPSCOPE_TRACE=" + trace, "GOFLAGS=-mod=mod"}, exit: t.exit}, err
}

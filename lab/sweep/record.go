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

// A size is when a recording ends, if the program does not end before: after longest, or once its trace has more than bytes,
// but not before least. What is kept is whole generations.
type size struct {
	bytes          int
	least, longest time.Duration
	// The tracer begins a generation that often, and not each second, so that little is cut off.
	generation time.Duration
}

var (
	largeTrace = size{2 << 20, 2 * time.Second, 4 * time.Second, 250 * time.Millisecond}
	smallTrace = size{512 << 10, 0, 4 * time.Second, 20 * time.Millisecond} // for testdata
)

// patience ends a program that writes no trace.
const patience = 5 * time.Minute

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
	size            size
	procs           int
	tests, servers  []string // flags of tests, and of the program with the servers
	fault           *fault   // planted into what is built; nil for none
}

// record records l. If that fails there is no trace.
func (r *recorder) record(ctx context.Context, l load) error {
	trace, _, err := r.run(ctx, l)
	if err != nil {
		return err
	}
	if trace, err = runner.Compress(trace); err != nil {
		return err
	}
	return os.WriteFile(traceFile(r.dir, l.name), trace, 0o644)
}

// run returns a trace of l, and what it prints.
func (r *recorder) run(ctx context.Context, l load) (trace, out []byte, err error) {
	raw := filepath.Join(r.temp, "trace")
	defer os.Remove(raw)
	p, err := l.build(ctx, r, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("building %s: %w", l.name, err)
	}
	p.env = append(p.env, fmt.Sprintf("GOMAXPROCS=%d", r.procs), fmt.Sprintf("GODEBUG=traceadvanceperiod=%d", r.size.generation))
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
			if took > r.size.longest || info.Size() > int64(r.size.bytes) && took > r.size.least {
				return
			}
		}
	}()
	if out, err = p.run(done); err != nil && (done.Err() == nil || ctx.Err() != nil) {
		return nil, nil, fmt.Errorf("recording %s: %w", l.name, err)
	}
	if trace, err = whole(ctx, raw, r.size.bytes); err != nil {
		return nil, nil, fmt.Errorf("reading the trace of %s: %w", l.name, err)
	}
	return trace, out, nil
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

// run runs p to its end, and returns what it prints.
func (p *program) run(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	cmd.WaitDelay = time.Second // what p has started may outlive it
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.Bytes()
	if err != nil && cmd.ProcessState.ExitCode() != p.exit {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(p.argv, " "), err, text[max(0, len(text)-4000):])
	} else {
		err = nil
	}
	return text, err
}

// goTool has one compiler at a time: other programs may be at work.
var goTool = gotool.Tool{Env: []string{"GOFLAGS=-p=1 -buildvcs=false"}}

// source returns a folder with a copy of a module, MODULE@VERSION.
func (r *recorder) source(ctx context.Context, module string) (string, error) {
	to := filepath.Join(r.temp, strings.NewReplacer("/", "-", "@", "-").Replace(module))
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	if err := goTool.CopyModule(ctx, module, to); err != nil {
		return "", err
	}
	if r.fault != nil && r.fault.module == module {
		return to, r.fault.plant(to)
	}
	return to, nil
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
	args := append([]string{bin, "-test.trace=" + trace, "-test.short", "-test.run=" + orNone(m.run), "-test.bench=" + orNone(m.bench)}, r.tests...)
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
	dir, bin := filepath.Join(r.root, "lab", "sweep", "servers"), filepath.Join(r.temp, "servers")
	args := []string{"build", "-trimpath", "-o", bin}
	if r.fault != nil {
		source, err := r.source(ctx, r.fault.module)
		if err != nil {
			return program{}, err
		}
		mod := filepath.Join(r.temp, "go.mod")
		for _, name := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(r.temp, name), text, 0o644)
			}
			if err != nil {
				return program{}, err
			}
		}
		path, _, _ := strings.Cut(r.fault.module, "@")
		if _, err := goTool.Run(ctx, r.temp, "mod", "edit", "-replace="+path+"="+source, mod); err != nil {
			return program{}, err
		}
		args = append(args, "-modfile="+mod)
	}
	_, err := goTool.Run(ctx, dir, append(args, ".")...)
	return program{argv: append(append([]string{bin}, r.servers...), s.name, trace), dir: r.temp}, err
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

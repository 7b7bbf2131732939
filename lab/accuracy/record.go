package accuracy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/lab/gotool"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// A program is one that other people wrote. It does the same work each time, whatever
// GOMAXPROCS is, in about a second, and uses no network but loopback.
type program struct {
	name string
	from source
	args []string // of the test program
}

// A source reports where a program comes from.
type source struct {
	std      string // package of the standard library, for its tests
	module   string // MODULE@VERSION, for the tests of
	pkg      string // a package in it, as the go command takes it
	compiles string // package of the standard library that the Go compiler compiles
}

// programs are those to record: a database in a file and one of logs, consensus, gossip, a
// cache, a compiler and a type checker, servers and clients of HTTP and TLS, codecs.
var programs = []program{
	{"bbolt", source{module: "go.etcd.io/bbolt@v1.3.11", pkg: "."}, []string{"-test.run", "TestDB_Batch|TestDB_Concurrent_WriteTo|TestOpen_MultipleGoroutines|TestSimulate_(100op_10p|1000op_10p)$"}},
	{"compile", source{compiles: "go/types"}, nil},
	{"fasthttp", source{module: "github.com/valyala/fasthttp@v1.57.0", pkg: "."}, []string{"-test.run", "NONE", "-test.bench", "ClientGetEndToEnd(1|10|100)Inmemory|ServerGet(1|10)ReqPerConn$", "-test.benchtime", "3000x"}},
	{"json", source{std: "encoding/json"}, []string{"-test.run", "NONE", "-test.bench", "Code(Encoder|Marshal|Decoder|Unmarshal)$", "-test.benchtime", "10x"}},
	{"memberlist", source{module: "github.com/hashicorp/memberlist@v0.5.1", pkg: "."}, []string{"-test.count", "10", "-test.run", "TestMemberlist_(Join|Leave|ResolveAddr|AdvertiseAddr|PushPull|SendTo)$"}},
	{"nethttp", source{std: "net/http"}, []string{"-test.short", "-test.run", "NONE", "-test.bench", "ClientServerParallel4$|ServerHandlerNoLen|ClientServer$", "-test.benchtime", "1000x"}},
	{"raft", source{module: "github.com/hashicorp/raft@v1.7.1", pkg: "."}, []string{"-test.run", "TestRaft_(SingleNode|TripleNode|ApplyConcurrent)$"}},
	{"ristretto", source{module: "github.com/dgraph-io/ristretto/v2@v2.1.0", pkg: "."}, []string{"-test.run", "TestCache(ProcessItems|Set|Get|Del|Clear|Metrics)$|TestDropUpdates|TestUpdateMaxCost", "-test.bench", "Store|Sketch", "-test.benchtime", "30000x"}},
	{"rpc", source{std: "net/rpc"}, []string{"-test.run", "NONE", "-test.bench", ".", "-test.benchtime", "3000x"}},
	{"sql", source{std: "database/sql"}, []string{"-test.short", "-test.bench", "Concurrent", "-test.benchtime", "5x"}},
	{"tls", source{std: "crypto/tls"}, []string{"-test.short", "-test.run", "TestHandshake|TestResumption|TestVerifyConnection"}},
	{"types", source{std: "go/types"}, []string{"-test.short", "-test.run", "TestCheck|TestFixedbugs|TestExamples|TestSpec"}},
	{"zstd", source{module: "github.com/klauspost/compress@v1.17.11", pkg: "./zstd"}, []string{"-test.run", "NONE", "-test.bench", "Encoder_EncodeAllPi|Decoder_DecoderReset|ParallelDecode", "-test.benchtime", "20x"}},
}

var goTool gotool.Tool

// ready is a program that can be run.
type ready struct {
	name string
	argv func(trace string) []string
	dir  string
}

// build makes a program in a folder of its own.
func (p program) build(ctx context.Context, dir string) (ready, error) {
	bin := filepath.Join(dir, p.name)
	out := ready{name: p.name, argv: func(trace string) []string {
		return append([]string{bin, "-test.trace", trace, "-test.timeout", "100s"}, p.args...)
	}}
	var err error
	switch f := p.from; {
	case f.std != "":
		var found struct{ Dir string }
		if err = list(ctx, &found, f.std); err == nil {
			out.dir = found.Dir
			_, err = goTool.Run(ctx, out.dir, "test", "-c", "-vet=off", "-o", bin, ".")
		}
	case f.module != "":
		out.dir, err = f.test(ctx, filepath.Join(dir, p.name+"-src"), bin)
	default:
		out.dir, out.argv, err = f.compiler(ctx, dir)
	}
	if err != nil {
		return ready{}, fmt.Errorf("build %s: %w", p.name, err)
	}
	return out, nil
}

// test builds the tests of a module in a copy, where they may write.
func (f source) test(ctx context.Context, src, bin string) (dir string, err error) {
	if err := goTool.CopyModule(ctx, f.module, src); err != nil {
		return "", err
	}
	_, err = goTool.Run(ctx, src, "test", "-c", "-vet=off", "-mod=mod", "-o", bin, f.pkg)
	return filepath.Join(src, f.pkg), err
}

// compiler returns how to have the compiler compile a package, as the go command would,
// by four of its workers.
func (f source) compiler(ctx context.Context, dir string) (string, func(string) []string, error) {
	var found struct {
		Dir     string
		GoFiles []string
	}
	if err := list(ctx, &found, f.compiles); err != nil {
		return "", nil, err
	}
	exports, err := goTool.Run(ctx, found.Dir, "list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", f.compiles)
	if err != nil {
		return "", nil, err
	}
	config := filepath.Join(dir, "importcfg")
	if err := os.WriteFile(config, exports, 0o644); err != nil {
		return "", nil, err
	}
	compile, err := goTool.Run(ctx, found.Dir, "tool", "-n", "compile")
	if err != nil {
		return "", nil, err
	}
	path := strings.TrimSpace(string(compile))
	return found.Dir, func(trace string) []string {
		return append([]string{path, "-traceprofile", trace, "-c=4", "-std", "-complete", "-p", f.compiles, "-importcfg", config, "-o", os.DevNull}, found.GoFiles...)
	}, nil
}

func list(ctx context.Context, to any, pkg string) error {
	text, err := goTool.Run(ctx, "", "list", "-json=Dir,GoFiles", pkg)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// recording is an entry of a manifest, which cpuWaits reads.
type recording struct {
	File   string `json:"file"`
	WaitNs int64  `json:"cpu_wait_ns"` // -1: not known
}

// retries is how often a program that fails is run again.
const retries = 3

// record records each of the programs that match a number of times with one P, and
// with two, and leaves the traces in a folder: NAME-pPROCS-RUN.trace.gz, with a manifest.
// What is there already is kept.
func record(ctx context.Context, w io.Writer, dir string, times int, only *regexp.Regexp) error {
	temp, err := os.MkdirTemp("", "gmpscope-accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all, err := manifest(dir)
	if err != nil {
		return err
	}
	var built []ready
	for _, p := range programs {
		if only.MatchString(p.name) {
			r, err := p.build(ctx, temp)
			if err != nil {
				return err
			}
			built = append(built, r)
		}
	}
	for run := range times {
		for _, r := range built {
			for _, procs := range []int{1, 2} {
				name := fmt.Sprintf("%s-p%d-%d.trace.gz", r.name, procs, run+1)
				if slices.ContainsFunc(all, func(x recording) bool { return x.File == name }) {
					continue
				}
				var start time.Time
				var waited int64
				for range 1 + retries { // there are tests that fail now and then
					start = time.Now()
					if waited, err = r.record(ctx, procs, filepath.Join(temp, "trace")); err == nil {
						break
					}
				}
				if err != nil {
					return err
				}
				took := time.Since(start)
				trace, err := os.ReadFile(filepath.Join(temp, "trace"))
				if err != nil {
					return err
				}
				zipped, err := runner.Compress(trace)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(dir, name), zipped, 0o644); err != nil {
					return err
				}
				fmt.Fprintf(w, "%s: %.1f s, %d bytes, threads lacked a CPU for %.1f ms\n", name, took.Seconds(), len(zipped), float64(waited)/1e6)
				all = append(all, recording{name, waited})
				if err := writeManifest(dir, all); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func manifest(dir string) ([]recording, error) {
	waits, err := cpuWaits(dir)
	var out []recording
	for file, ns := range waits {
		out = append(out, recording{file, ns})
	}
	return out, err
}

func writeManifest(dir string, all []recording) error {
	slices.SortFunc(all, func(a, b recording) int { return strings.Compare(a.File, b.File) })
	text, err := json.MarshalIndent(map[string]any{"traces": all}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), append(text, '\n'), 0o644)
}

// pollEvery is how often the kernel is asked for how long threads lacked a CPU. That takes some
// 100 µs of one.
const pollEvery = 20 * time.Millisecond

// record runs a program and returns for how many ns its threads could run and had no
// CPU, up to the last time that the kernel was asked; -1 if it does not tell.
func (r ready) record(ctx context.Context, procs int, trace string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	argv := r.argv(trace)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	waited := map[string]int64{}
	for {
		select {
		case err := <-done:
			if err != nil {
				text := out.Bytes()
				return 0, fmt.Errorf("run %s: %w\n%s", r.name, err, text[max(0, len(text)-2000):])
			}
			if len(waited) == 0 {
				return -1, nil
			}
			sum := int64(0)
			for _, ns := range waited {
				sum += ns
			}
			return sum, nil
		case <-tick.C:
			threadWaits(cmd.Process.Pid, waited)
		}
	}
}

// threadWaits notes for how many ns each thread of a process has lacked a CPU.
func threadWaits(pid int, to map[string]int64) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range files {
		text, err := os.ReadFile(file)
		var ran, waited int64
		if err != nil {
			continue // the thread has ended
		}
		if _, err := fmt.Sscan(string(text), &ran, &waited); err == nil {
			to[file] = waited
		}
	}
}

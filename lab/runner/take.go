package runner

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// Take is a recording to make of a program.
type Take struct {
	Name       string
	Program    string // folder in the checkout, with slashes
	Go         string // version that builds it, as "go1.26.8"
	GOMAXPROCS int
	Env        []string // variables besides
	Cut        float64  // share of the bytes to keep, as after a crash; 0: all
}

// File is the name of the recording's file.
func (t *Take) File() string { return t.Name + ".trace.gz" }

// Command is how the program is run.
func (t *Take) Command() string {
	words := append([]string{fmt.Sprintf("GOMAXPROCS=%d", t.GOMAXPROCS)}, t.Env...)
	return strings.Join(append(words, "./"+path.Base(t.Program), "FILE"), " ")
}

// Recording is what a Take gave.
type Recording struct {
	*Take
	Trace  []byte
	Waited int64  // ns that the threads together lacked a CPU; -1 if unknown
	Units  []byte // what the program wrote down of its units of work; most write nothing
}

// Analyze returns the result of the trace.
func (r *Recording) Analyze(ctx context.Context) (*analyze.Result, error) {
	src, err := input.New(bytes.NewReader(r.Trace), r.Name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	result, err := analyze.Run(ctx, src, analyze.Options{})
	if err != nil {
		return nil, fmt.Errorf("analyze %s: %w", r.Name, err)
	}
	return result, nil
}

// Row describes the file of a recording in a manifest.
type Row struct {
	File         string `json:"file"`
	Go           string `json:"go"`
	GOOS         string `json:"goos"`
	GOARCH       string `json:"goarch"`
	Command      string `json:"command"`
	SHA256       string `json:"sha256"`      // of the trace
	GzipSHA256   string `json:"sha256_gzip"` // of the file
	Bytes        int    `json:"bytes"`
	GzipBytes    int    `json:"bytes_gzip"`
	CPUWaitNanos int64  `json:"cpu_wait_ns"` // that the threads, summed, lacked a CPU; -1 if unknown
}

// Pack returns the content of the recording's file, and its row.
func (r *Recording) Pack() ([]byte, Row, error) {
	zipped, err := Compress(r.Trace)
	return zipped, Row{
		File: r.File(), Go: r.Go, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Command: r.Command(),
		SHA256: Sum(r.Trace), GzipSHA256: Sum(zipped), Bytes: len(r.Trace), GzipBytes: len(zipped), CPUWaitNanos: r.Waited,
	}, err
}

// Source gives a recording of a Take.
type Source func(context.Context, *Take) (*Recording, error)

// Analyze returns the result of the recording's trace.
func (from Source) Analyze(ctx context.Context, t *Take) (*analyze.Result, error) {
	x, err := from(ctx, t)
	if err != nil {
		return nil, err
	}
	return x.Analyze(ctx)
}

// Stored gives those in a folder, compressed or, as NAME.trace, not.
func Stored(dir string) Source {
	return func(_ context.Context, t *Take) (*Recording, error) {
		file := filepath.Join(dir, t.File())
		data, err := os.ReadFile(file)
		if err != nil {
			if plain, failed := os.ReadFile(strings.TrimSuffix(file, ".gz")); failed == nil {
				data, err = plain, nil
			}
		}
		if err != nil {
			return nil, err
		}
		trace, err := Decompress(data)
		return &Recording{Take: t, Trace: trace, Waited: -1}, err
	}
}

// Check returns what a recording does not show that it must; nil if it shows all of it.
type Check func(context.Context, *Recording) (wrong, err error)

// Best makes up to tries recordings of t, until keep of them are right, and returns the one
// whose threads lacked a CPU for the least time, of those that are right if there are any, and
// what is wrong with it.
func (r *Runner) Best(ctx context.Context, t *Take, tries, keep int, check Check) (best *Recording, wrong, err error) {
	type attempt struct {
		*Recording
		wrong error
	}
	var made []attempt
	for right := 0; len(made) < tries && right < keep; {
		x, err := r.Record(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		a := attempt{Recording: x}
		if check != nil {
			if a.wrong, err = check(ctx, x); err != nil {
				return nil, nil, err
			}
		}
		if a.wrong == nil {
			right++
		}
		made = append(made, a)
	}
	least := slices.MinFunc(made, func(a, b attempt) int {
		if (a.wrong == nil) != (b.wrong == nil) {
			if a.wrong == nil {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Waited, b.Waited)
	})
	return least.Recording, least.wrong, nil
}

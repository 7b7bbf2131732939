package cases

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// MaxBytes is how large the file of a recording may be.
const MaxBytes = 150_000

// Row describes the file of a recording. Each room has a manifest of its own,
// ROOM.json beside the files.
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

// Dir is the folder of the recordings in the checkout root.
func Dir(root string) string { return filepath.Join(root, "testdata", "traces", "cases") }

// File is the name of the recording's file.
func (r *Recording) File() string { return r.Name() + ".trace.gz" }

// Load reads a recording's file and returns the trace.
func Load(dir string, r *Recording) ([]byte, error) {
	zipped, err := os.ReadFile(filepath.Join(dir, r.File()))
	if err != nil {
		return nil, err
	}
	return runner.Decompress(zipped)
}

// ReadManifest reads the manifest of a room; empty if there is none.
func ReadManifest(dir, room string) ([]Row, error) {
	data, err := os.ReadFile(filepath.Join(dir, room+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []Row
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("%s.json: %w", room, err)
	}
	return rows, nil
}

// Put writes a recording's file and its row in the manifest.
func Put(dir string, r *Recording, row Row, zipped []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, r.File()), zipped, 0o644); err != nil {
		return err
	}
	rows, err := ReadManifest(dir, r.Case.Room)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearchFunc(rows, row.File, func(x Row, file string) int { return strings.Compare(x.File, file) })
	if found {
		rows[i] = row
	} else {
		rows = slices.Insert(rows, i, row)
	}
	return writeManifest(dir, r.Case.Room, rows)
}

func writeManifest(dir, room string, rows []Row) error {
	data, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, room+".json"), append(data, '\n'), 0o644)
}

// Prune removes what belongs to none of the recordings, and returns the files'
// names.
func Prune(dir string, recordings []*Recording) ([]string, error) {
	keep := make(map[string]bool)
	for _, r := range recordings {
		keep[r.File()] = true
		keep[r.Case.Room+".json"] = true
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, file := range files {
		name := filepath.Base(file)
		if !keep[name] {
			if err := os.Remove(file); err != nil {
				return nil, err
			}
			gone = append(gone, name)
			continue
		}
		room, ok := strings.CutSuffix(name, ".json")
		if !ok {
			continue
		}
		rows, err := ReadManifest(dir, room)
		if err != nil {
			return nil, err
		}
		if kept := slices.DeleteFunc(slices.Clone(rows), func(x Row) bool { return !keep[x.File] }); len(kept) < len(rows) {
			if err := writeManifest(dir, room, kept); err != nil {
				return nil, err
			}
		}
	}
	return gone, nil
}

// Recorder makes recordings.
type Recorder struct {
	Runner *runner.Runner
	With   []string // command and arguments to start the programs by; none: directly
	Tries  int      // recordings to make at most
	Keep   int      // right ones to choose from
}

// Take makes one recording and returns the trace, and for how many ns threads
// lacked a CPU (-1 if unknown).
func (m *Recorder) Take(ctx context.Context, r *Recording) (trace []byte, waited int64, err error) {
	program, err := m.Runner.Build(ctx, r.Go, r.Case.Dir())
	if err != nil {
		return nil, 0, err
	}
	trace, waited, err = m.Runner.Run(ctx, program, runner.Run{GOMAXPROCS: r.GOMAXPROCS, Env: r.Env, With: m.With})
	return trace[:int(r.Cut*float64(len(trace)))], waited, err
}

// Best makes recordings of r and returns the best: the least disturbed of the
// right ones. If none is right it is the least disturbed of all, and the
// verdict says what is wrong with it.
func (m *Recorder) Best(ctx context.Context, r *Recording) (Row, []byte, *Verdict, error) {
	type attempt struct {
		trace   []byte
		waited  int64
		verdict *Verdict
	}
	var made []attempt
	for right := 0; len(made) < m.Tries && right < m.Keep; {
		trace, waited, err := m.Take(ctx, r)
		if err != nil {
			return Row{}, nil, nil, err
		}
		v, err := Analyze(ctx, r, trace)
		if err != nil {
			return Row{}, nil, nil, err
		}
		if v.Right() {
			right++
		}
		made = append(made, attempt{trace, waited, v})
	}
	best := slices.MinFunc(made, func(x, y attempt) int {
		switch {
		case x.verdict.Right() == y.verdict.Right():
			return cmp.Compare(x.waited, y.waited)
		case x.verdict.Right():
			return -1
		}
		return 1
	})
	zipped, err := runner.Compress(best.trace)
	if err != nil {
		return Row{}, nil, nil, err
	}
	if len(zipped) > MaxBytes {
		return Row{}, nil, nil, fmt.Errorf("%s: %d bytes compressed, more than %d: let the program do less", r.Name(), len(zipped), MaxBytes)
	}
	return Row{
		File: r.File(), Go: r.Go, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Command: r.Command(),
		SHA256: runner.Sum(best.trace), GzipSHA256: runner.Sum(zipped),
		Bytes: len(best.trace), GzipBytes: len(zipped), CPUWaitNanos: best.waited,
	}, zipped, best.verdict, nil
}

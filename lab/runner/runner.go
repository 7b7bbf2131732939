// Package runner answers: what trace does this program of ours give with that
// Go version? It builds programs that record themselves with package rec, runs
// them, chooses among recordings, and packs what they wrote.
package runner

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/lab/gotool"
)

// Runner builds and runs programs of a checkout.
type Runner struct {
	With []string // command and arguments that programs are started by; none: directly

	root  string // of the checkout
	temp  string // scratch space
	built map[string]string
}

// New returns a Runner for the checkout root. It leaves its files in temp.
func New(root, temp string) *Runner {
	return &Runner{root: root, temp: temp, built: make(map[string]string)}
}

// Root finds the checkout that the working directory lies in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "traces", "programs")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("testdata/traces/programs not found: run inside the checkout of gmpscope")
		}
		dir = parent
	}
}

// UnitsSuffix ends the name of the file in which a program writes down its units of work, beside
// its trace.
const UnitsSuffix = ".jsonl"

const recDir = "internal/testkit/rec"

// build builds the program in folder dir of the checkout, with slashes, for a Go
// version such as "go1.26.8", and returns its path. The module of the checkout
// asks for a newer Go than some versions, so that the program and package rec
// are copied into one of the same name that asks for no more than that version. One
// in a module of its own is built there.
func (r *Runner) build(ctx context.Context, goVersion, dir string) (string, error) {
	key := goVersion + "/" + dir
	if program, ok := r.built[key]; ok {
		return program, nil
	}
	tool := gotool.Tool{Env: []string{"GOTOOLCHAIN=" + goVersion, "GOEXPERIMENT="}}
	module := filepath.Join(r.temp, goVersion)
	program := filepath.Join(module, "bin", filepath.FromSlash(dir), path.Base(dir))
	if own := filepath.Join(r.root, filepath.FromSlash(path.Dir(dir))); exists(filepath.Join(own, "go.mod")) {
		args := []string{"build"}
		if exists(filepath.Join(own, path.Base(dir), "main_test.go")) {
			args = []string{"test", "-c"}
		}
		_, err := tool.Run(ctx, own, append(args, "-trimpath", "-o", program, "./"+path.Base(dir))...)
		r.built[key] = program
		return program, err
	}
	if _, err := os.Stat(module); errors.Is(err, fs.ErrNotExist) {
		if err := r.copy(module, recDir); err != nil {
			return "", err
		}
		// The go line of its own version, not one low enough for all: it
		// decides GODEBUG defaults, such as which timer channels are used.
		language := strings.TrimPrefix(ShortVersion(goVersion), "go")
		mod := fmt.Sprintf("module github.com/gmpscope/gmpscope\n\ngo %s\n", language)
		if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte(mod), 0o644); err != nil {
			return "", err
		}
	}
	if err := r.copy(module, dir); err != nil {
		return "", err
	}
	if _, err := tool.Run(ctx, module, "build", "-trimpath", "-o", program, "./"+dir); err != nil {
		return "", fmt.Errorf("%s: %w", goVersion, err)
	}
	r.built[key] = program
	return program, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (r *Runner) copy(module, dir string) error {
	dir = filepath.FromSlash(dir)
	return os.CopyFS(filepath.Join(module, dir), os.DirFS(filepath.Join(r.root, dir)))
}

// Record makes a recording of t.
func (r *Runner) Record(ctx context.Context, t *Take) (*Recording, error) {
	program, err := r.build(ctx, t.Go, t.Program)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.temp, "trace")
	argv := append(append([]string{}, r.With...), program, file)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = r.temp
	cmd.Env = append([]string{"GOMAXPROCS=" + strconv.Itoa(t.GOMAXPROCS), "PATH=" + os.Getenv("PATH")}, t.Env...) // some start others
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w\n%s", t.Name, err, stderr.Bytes())
	}
	words := append([]string{""}, strings.Fields(string(output))...) // tests print something before
	waited, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		waited = -1
	}
	trace, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if t.Cut > 0 {
		trace = trace[:int(t.Cut*float64(len(trace)))]
	}
	defer os.Remove(file + UnitsSuffix)
	units, err := os.ReadFile(file + UnitsSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return &Recording{t, trace, waited, units}, err
}

// ShortVersion returns go1.26 for go1.26.8.
func ShortVersion(version string) string {
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		return parts[0] + "." + parts[1]
	}
	return version
}

// Compress gzips data; the same data gives the same bytes (no name, no time).
func Compress(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Decompress undoes Compress; what is not compressed stays as it is.
func Decompress(data []byte) ([]byte, error) {
	if files.Compression(data) != "gzip" {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Sum returns the SHA-256 of data, in hexadecimal digits.
func Sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

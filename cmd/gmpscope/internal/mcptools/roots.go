package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// root is a folder below which files are read. [os.Root] sees to it that no link leads out of it.
type root struct {
	path string // absolute
	dir  *os.Root
}

func openRoot(name string) (*root, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &root{abs, dir}, nil
}

// opened is a regular file below a root.
type opened struct {
	*os.File
	root *root
	rel  string // its path below the root
	stat fs.FileInfo
}

// openFile opens the trace with a name: a path below a root, or an absolute one that is.
func (s *Server) openFile(name string) (*opened, error) {
	if name == "" {
		return nil, errors.New("the name of the trace is empty: traces lists them")
	}
	var first error
	for _, r := range s.roots {
		rel := filepath.FromSlash(name)
		if filepath.IsAbs(rel) {
			var err error
			if rel, err = filepath.Rel(r.path, rel); err != nil || !filepath.IsLocal(rel) {
				continue
			}
		}
		f, err := r.open(rel)
		if err == nil {
			st, err := f.Stat()
			if err != nil {
				f.Close()
				return nil, err
			}
			return &opened{f, r, rel, st}, nil
		}
		if first == nil || errors.Is(first, fs.ErrNotExist) {
			first = err
		}
	}
	switch {
	case first == nil:
		return nil, fmt.Errorf("%s is below no root: traces lists what there is", name)
	case errors.Is(first, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no trace %s: traces lists them", name)
	}
	if pe, ok := errors.AsType[*fs.PathError](first); ok {
		first = pe.Err // the path is the caller's, or that of a root
	}
	return nil, fmt.Errorf("opening %s: %w", name, first)
}

// errSpecial means that a file is no regular one.
var errSpecial = errors.New("is no regular file")

func (r *root) open(rel string) (*os.File, error) {
	st, err := r.dir.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errSpecial
	}
	f, err := r.dir.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may have taken its place
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close()
		return nil, errSpecial
	}
	return f, nil
}

// source opens the trace for an analysis. The caller closes both.
func (f *opened) source(ctx context.Context, memory int64) (*input.Source, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	o := input.Options{Stdin: f.File, StdinName: filepath.ToSlash(f.rel), MaxMemory: memory}
	if beside, err := f.root.open(f.rel + sidecar.Suffix); err == nil {
		o.Sidecar, _ = sidecar.Decode(beside) // the trace is worth more
		beside.Close()
	}
	return input.Open(ctx, "-", o)
}

type tracesIn struct {
	Offset int `json:"offset,omitempty" jsonschema:"the next of an answer"`
}

type tracesOut struct {
	Traces []traceFile `json:"traces"`
	page
	More string `json:"more,omitempty" jsonschema:"that there are more files than were looked at"`
}

type traceFile struct {
	Trace    string `json:"trace" jsonschema:"its name for the other tools"`
	Size     string `json:"size"`
	Modified string `json:"modified"`

	time time.Time
}

// maxFiles is how many entries of folders are looked at.
const maxFiles = 10_000

func (s *Server) traces(ctx context.Context, in tracesIn) (out tracesOut, err error) {
	var list []traceFile
	seen := 0
	for _, r := range s.roots {
		err := fs.WalkDir(r.dir.FS(), ".", func(path string, d fs.DirEntry, err error) error {
			if seen++; seen > maxFiles {
				out.More = fmt.Sprintf("the first %d files and folders were looked at: name a root with fewer", maxFiles)
				return fs.SkipAll
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || !d.Type().IsRegular() || !r.isTrace(path) {
				return nil // of a folder that cannot be read the others can
			}
			st, err := d.Info()
			if err != nil {
				return nil
			}
			if len(s.roots) > 1 {
				path = filepath.ToSlash(filepath.Join(r.path, path))
			}
			list = append(list, traceFile{path, quantity.Size(st.Size()), st.ModTime().UTC().Format(time.DateTime + "Z"), st.ModTime()})
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	slices.SortStableFunc(list, func(x, y traceFile) int {
		return cmp.Or(y.time.Compare(x.time), strings.Compare(x.Trace, y.Trace))
	})
	out.Traces, out.page, err = paged(list, in.Offset, maxAnswer/4)
	return out, err
}

// isTrace reports whether a file begins like a trace, compressed or not.
func (r *root) isTrace(path string) bool {
	f, err := r.open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 16)
	n, _ := io.ReadFull(f, b)
	begin := string(b[:n])
	return strings.HasPrefix(begin, "go 1.") && strings.Contains(begin, " trace") || strings.HasPrefix(begin, "\x1f\x8b") || strings.HasPrefix(begin, "\x28\xb5\x2f\xfd")
}

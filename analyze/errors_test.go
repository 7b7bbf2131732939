package analyze

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gmpscope/gmpscope/reference"
)

const errorTrace = "../testdata/traces/steal-small-go1.26-p2.trace.gz"

// Callers tell errors apart as the package's documentation says.
func TestErrorsCanBeToldApart(t *testing.T) {
	var empty bytes.Buffer
	z := gzip.NewWriter(&empty)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		input string
		want  error
	}{
		"no byte":          {"", ErrEmpty},
		"gzip of no byte":  {empty.String(), ErrEmpty},
		"text":             {"goroutine profile: total 1\n", ErrNotTrace},
		"a profile's name": {"hello", ErrNotTrace},
		"a newer format":   {"go 1.99 trace\x00\x00\x00", ErrUnsupported},
		"an older format":  {"go 1.5 trace\x00\x00\x00\x00", ErrUnsupported},
		"header alone":     {"go 1.26 trace\x00\x00\x00", ErrNoEvents},
	} {
		_, err := Reader(context.Background(), strings.NewReader(c.input), "x", Options{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := File(context.Background(), t.TempDir(), Options{}); !errors.Is(err, ErrNotTrace) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := File(context.Background(), filepath.Join(t.TempDir(), "x"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// What a caller's reader broke off with is an error, unless a part will do; that data
// ends early is none.
func TestReaderReturnsTheReadersError(t *testing.T) {
	data, err := os.ReadFile(errorTrace)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the line went dead")
	for _, n := range []int{0, 10, len(data) / 2, len(data)} {
		r := func(err error) io.Reader { return io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(err)) }
		if res, err := Reader(context.Background(), r(broken), "x", Options{}); !errors.Is(err, broken) || res != nil || !strings.Contains(err.Error(), "x") {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if n < len(data)/2 {
			continue
		}
		for what, o := range map[error]Options{broken: {Partial: true}, io.ErrUnexpectedEOF: {}} {
			if res, err := Reader(context.Background(), r(what), "x", o); err != nil || res.Trace.Events == 0 {
				t.Errorf("after %d bytes, %v with %+v: %v", n, what, o, err)
			}
		}
	}
}

func TestMaxMemoryIsChecked(t *testing.T) {
	for _, n := range []int64{-1, 1, MinMemory - 1} {
		if _, err := File(context.Background(), errorTrace, Options{MaxMemory: n}); err == nil || !strings.Contains(err.Error(), "MaxMemory") {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// A panic in a caller's function is the caller's.
func TestPanicsOfCallbacksAreBlamed(t *testing.T) {
	for name, o := range map[string]Options{
		"OnDecision": {OnDecision: func(*reference.Decision) error { panic("boom") }},
		"OnEvents":   {OnEvents: func(int) { panic("boom") }},
	} {
		for _, only := range []bool{false, true} {
			o.DecisionsOnly = only
			_, err := File(context.Background(), errorTrace, o)
			var bug *Bug
			if !errors.As(err, &bug) || bug.Callback != name || !strings.Contains(err.Error(), name+" panicked: boom") || strings.Contains(err.Error(), "report") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

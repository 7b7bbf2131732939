package analyze_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
)

// readFunc is a reader in the form of a function, after a few reads of a trace.
type readFunc struct {
	r    io.Reader
	left int
	read func(p []byte) (int, error)
}

func (f *readFunc) Read(p []byte) (int, error) {
	if f.left--; f.left >= 0 {
		return f.r.Read(p[:min(len(p), 300)])
	}
	return f.read(p)
}

// TestBadReader: a reader that panics, or breaks the rules of io.Reader, is an error, with and
// without a context that can end.
func TestBadReader(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name, want string
		read       func(p []byte) (int, error)
	}{
		{"panics", "its reader panicked: a mistake", func([]byte) (int, error) { panic("a mistake") }},
		{"negative", "its reader says that it read -1 bytes", func([]byte) (int, error) { return -1, nil }},
		{"too many", "its reader says that it read ", func(p []byte) (int, error) { return len(p) + 1, nil }},
		{"nothing", io.ErrNoProgress.Error(), func([]byte) (int, error) { return 0, nil }},
		{"fails", "mine", func([]byte) (int, error) { return 0, mine }},
	} {
		for _, left := range []int{0, 1, 20} {
			for _, ctx := range []context.Context{context.Background(), t.Context()} {
				f, err := os.Open("../testdata/traces/uneven-go1.26-p4.trace.gz")
				if err != nil {
					t.Fatal(err)
				}
				_, err = analyze.Reader(ctx, &readFunc{f, left, c.read}, "flight recorder", analyze.Options{})
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s after %d reads: %v", c.name, left, err)
				}
				f.Close()
			}
		}
	}
}

package input

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestLossNamesNoPath reads a file that breaks off with an error of the system: the
// loss, which stands in every document, says why, and not which file it was.
func TestLossNamesNoPath(t *testing.T) {
	for _, name := range []string{"single-go1.26-p1", "real/v1-context-go1.21"} {
		data := tracetest.Recorded(t, name)
		broken := &fs.PathError{Op: "read", Path: "/home/me/secret.out", Err: errors.New("the disk is ill")}
		s, err := New(io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken)), "t")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for err == nil {
			_, err = s.Next()
		}
		var why []string
		for _, l := range s.Stats().Losses {
			why = append(why, l.Why)
		}
		all := strings.Join(why, "; ")
		if !strings.Contains(all, "the disk is ill") || strings.Contains(all, "secret") {
			t.Errorf("%s: %q", name, all)
		}
	}
}

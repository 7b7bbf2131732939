package input

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestCopy expects all bytes of a trace in the copy, whatever is around them and however much of
// them could be used.
func TestCopy(t *testing.T) {
	sound := tracetest.Recorded(t, "gc-go1.26-p4")
	damaged := append(bytes.Clone(sound[:len(sound)/2]), bytes.Repeat([]byte{0xff}, 5*windowSize)...)
	old := tracetest.Recorded(t, "real/v1-context-go1.21")
	for name, plain := range map[string][]byte{"sound": sound, "damaged": damaged, "old": old} {
		for form, stored := range map[string][]byte{"plain": plain, "gzip": gzipped(t, plain), "zstd": zstded(t, plain)} {
			for _, read := range []int{0, 1, 1 << 20} { // generations before the rest
				h := sha256.New()
				src, err := Open(t.Context(), "-", Options{Stdin: bytes.NewReader(stored), Copy: h})
				if err != nil {
					t.Fatal(err)
				}
				for range read {
					if _, err = src.Next(); err != nil {
						break
					}
				}
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				if err := src.Rest(); err != nil {
					t.Fatal(err)
				}
				if want := sha256.Sum256(plain); !bytes.Equal(h.Sum(nil), want[:]) {
					t.Errorf("%s, %s, after %d generations: the copy is not the trace", name, form, read)
				}
				if _, err := src.Next(); err == nil {
					t.Error("there is a generation behind the rest")
				}
				src.Close()
			}
		}
	}
}

// TestRestOfLimit expects the rest behind a limit in the copy, too.
func TestRestOfLimit(t *testing.T) {
	plain := tracetest.Recorded(t, "gc-go1.26-p4")
	h := sha256.New()
	src, err := Open(t.Context(), "-", Options{Stdin: bytes.NewReader(gzipped(t, plain)), Copy: h})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	src.index = 1
	if err := src.enough(errors.New("test")); err != nil {
		t.Fatal(err)
	}
	if err := src.Rest(); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256(plain); !bytes.Equal(h.Sum(nil), want[:]) {
		t.Error("the copy is not the trace")
	}
}

package input

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"testing"

	"golang.org/x/exp/trace"
)

// A v1 trace without ties has the same events at the same times.
func TestWithoutTies(t *testing.T) {
	s, err := Open(t.Context(), "../../testdata/traces/real/v1-context-go1.21.trace.gz", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	whole := all(t, s)[0].Data
	apart, err := WithoutTies(whole)
	if err != nil {
		t.Fatal(err)
	}
	a, err := trace.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	b, err := trace.NewReader(bytes.NewReader(apart))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		x, errX := a.ReadEvent()
		y, errY := b.ReadEvent()
		if errX != errY {
			t.Fatalf("event %d: %v, %v", n, errX, errY)
		}
		if errX == io.EOF {
			return
		}
		// A P's share of a tick makes less than a ns, and moves a time by one at most.
		if d := y.Time() - x.Time(); x.Kind() != y.Kind() || d < -1 || d > 1 {
			t.Fatalf("event %d is %v, was %v", n, y, x)
		}
	}
}

// What makes no sense, or has no room for finer ticks, is left alone.
func TestWithoutTiesRefuses(t *testing.T) {
	head := "go 1.21 trace\x00\x00\x00"
	batch := func(p, at uint64) string {
		return string(binary.AppendUvarint(binary.AppendUvarint([]byte{0x40 | evBatchV1}, p), at))
	}
	var many bytes.Buffer
	for p := range uint64(finer/2 + 1) {
		many.WriteString(batch(p, 1000))
	}
	for name, in := range map[string]string{
		"too short":                            head[:10],
		"a cut number":                         head + batch(0, 1)[:1] + "\xff",
		"a text longer than the file":          head + batch(0, 1) + "\x25\x01\x7fabc",
		"arguments that do not end":            head + batch(0, 1) + "\xdd\x01\xff",
		"a time without room":                  head + batch(0, 1) + batch(1, math.MaxUint64/2),
		"an interval without room":             head + batch(0, 1) + string(binary.AppendUvarint([]byte{0x06}, math.MaxUint64)),
		"a system call's end without its time": head + batch(0, 1) + "\x5d\x01\x02",
		"too many Ps":                          head + many.String(),
	} {
		if out, err := WithoutTies([]byte(in)); out != nil || err != nil {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	if out, err := WithoutTies([]byte(head + batch(0, 1) + "\x02\x07\x02\x09")); err == nil {
		t.Errorf("two frequencies: %q", out)
	}
	if out, _ := WithoutTies([]byte(head + batch(3, 50) + batch(2, 40))); string(out) != head+batch(3, 11*finer+1)+batch(2, finer) {
		t.Errorf("%q", out)
	}
	// No prefix of a trace makes it fail.
	b, err := os.ReadFile("../../testdata/traces/real/v1-context-go1.21.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(bytes.NewReader(b), "test")
	if err != nil {
		t.Fatal(err)
	}
	whole := all(t, s)[0].Data
	for n := 0; n < len(whole); n += 97 {
		_, _ = WithoutTies(whole[:n])
	}
}

package legaltest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"golang.org/x/exp/trace"
)

// TestReadable has the public reader read what is made up, to its end.
func TestReadable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kinds := map[trace.EventKind]int{}
	starts, most := 0, 0
	for i := range 60 {
		choices := make([]byte, r.IntN(200))
		for k := range choices {
			choices[k] = byte(r.Uint32())
		}
		run := MakeUp(choices, 1<<13)
		if again := MakeUp(choices, 1<<13); !bytes.Equal(run.Trace, again.Trace) {
			t.Fatalf("run %d differs from itself", i)
		}
		starts += len(run.Starts)
		most = max(most, len(run.Trace))
		tr, err := trace.NewReader(bytes.NewReader(run.Trace))
		for err == nil {
			var e trace.Event
			if e, err = tr.ReadEvent(); err == nil {
				kinds[e.Kind()]++
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("run %d, format %d: %v", i, run.Format, err)
		}
	}
	t.Logf("%d starts, at most %d bytes, %v", starts, most, kinds)
}

package input

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// counted counts how often, and how much, is read at once.
type counted struct {
	r     io.Reader
	reads int
}

func (c *counted) Read(p []byte) (int, error) {
	c.reads++
	return c.r.Read(p)
}

// Batches so odd that each is looked at with all that may follow it: the window
// is not moved for each of them, which would cost a MiB for a few bytes.
func TestOddBatches(t *testing.T) {
	b := []byte("go 1.25 trace\x00\x00\x00")
	for i := range 200_000 {
		at := uint64(1_000)
		if i > 100 && i%2 == 1 {
			at = 1 << 60
		}
		b = append(b, wire.EventBatch)
		for _, x := range []uint64{1, 7, at, 1} {
			b = binary.AppendUvarint(b, x)
		}
		b = append(b, wire.Strings)
	}
	in := &counted{r: bytes.NewReader(b)}
	s, err := New(in, "odd")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for err == nil {
		_, err = s.Next()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	if most := len(b)/windowSize + 10; in.reads > most {
		t.Errorf("%d bytes took %d reads, more than %d", len(b), in.reads, most)
	}
}

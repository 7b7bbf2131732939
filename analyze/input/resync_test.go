package input

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// headers returns the offsets of all header bytes of the batches of a sound trace.
func headers(b []byte) []int {
	var at []int
	for i := headerSize; i < len(b); {
		h, v, _ := parseHeader(b[i:])
		if v != good {
			i++ // an end marker
			continue
		}
		for k := range h.len {
			at = append(at, i+k)
		}
		i += h.total()
	}
	return at
}

// unpad writes the sizes of a sound trace as short as possible, as the flight recorder of
// x/exp/trace does.
func unpad(b []byte) []byte {
	out := bytes.Clone(b[:headerSize])
	for i := headerSize; i < len(b); {
		h, v, _ := parseHeader(b[i:])
		if v != good {
			out = append(out, b[i])
			i++
			continue
		}
		out = append(out, b[i:i+h.len-wire.MaxVarint]...)
		n := h.size
		for ; n >= 0x80; n >>= 7 {
			out = append(out, byte(n)|0x80)
		}
		out = append(out, byte(n))
		out = append(out, b[i+h.len:i+h.total()]...)
		i += h.total()
	}
	return out
}

// One flipped bit in one batch header of a recorded trace costs that batch and, at a border, the
// two generations beside it; all others come out as they were.
func TestFlippedHeaders(t *testing.T) {
	tried := 0
	for _, file := range traceFiles(t) {
		whole := tracetest.Unpacked(t, file)
		s, err := New(bytes.NewReader(whole), "test")
		if err != nil || s.Header().V1 {
			continue
		}
		sound := all(t, s)
		if len(sound) < 4 || len(whole) > 4<<20 || tried >= 4 {
			continue
		}
		tried++
		for _, short := range []bool{false, true} {
			b := whole
			if short {
				b = unpad(whole)
			}
			s, err := New(bytes.NewReader(b), "test")
			if err != nil {
				t.Fatal(err)
			}
			sound := all(t, s)
			at := headers(b)
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 60 {
				i, bit := at[rnd.IntN(len(at))], byte(1)<<rnd.IntN(8)
				b[i] ^= bit
				intact, lost := 0, int64(0)
				s, err := New(bytes.NewReader(b), "test")
				if err != nil {
					t.Fatal(err)
				}
				var gens []*Generation
				for {
					g, err := s.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					gens = append(gens, g)
					for _, w := range sound {
						if w.Number == g.Number && w.Complete == g.Complete && bytes.Equal(w.Data, g.Data) {
							intact++
						}
					}
				}
				checkBytes(t, s, gens, len(b))
				lost = s.Stats().LostBytes
				if intact < len(sound)-2 || lost > 3*maxBatch {
					t.Errorf("%s, sizes short %v, bit %#x at %d: %d of %d generations are intact; %+v", filepath.Base(file), short, bit, i, intact, len(sound), s.Stats())
				}
				b[i] ^= bit
			}
		}
	}
	if tried == 0 {
		t.Skip("no recorded traces here")
	}
}

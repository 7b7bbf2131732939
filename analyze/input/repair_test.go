package input

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// searched returns how many bytes and numbers are looked at, for each byte of a
// trace, to find its events.
func searched(data []byte) float64 {
	r := &repairer{data: data, minor: 21}
	r.each(r.learn)
	return float64(resumeFactor*len(data)-r.left) / float64(len(data))
}

// In real traces that are damaged, the search stays far below its bound; in one that
// is made to cost much, it ends there.
func TestResumeIsBounded(t *testing.T) {
	whole := tracetest.Recorded(t, "real/v1-context-go1.21")
	rnd := rand.New(rand.NewPCG(1, 2))
	most := 0.0
	for range 300 {
		data := bytes.Clone(whole)
		for range 1 + rnd.IntN(8) {
			data[headerSize+rnd.IntN(len(data)-headerSize)] ^= 1 << rnd.IntN(8)
		}
		most = max(most, searched(data))
	}
	t.Logf("%.2f for each byte of a damaged trace at most", most)
	if most > resumeFactor/4 {
		t.Errorf("%.2f for each byte of a damaged trace, the bound is %d", most, resumeFactor)
	}
	// Behind what is no event, stacks of which each begins within the one before, and none is sound.
	made := append(bytes.Clone(whole[:headerSize+1]), bytes.Repeat([]byte{evStackV1 | 3<<6, 0xff, 0x0f, 1, 2, 3, 4, 5}, 100_000)...)
	made[headerSize] = 0
	if n := searched(made); n < resumeFactor || n > 2*resumeFactor {
		t.Errorf("%.2f for each byte of a trace that was made up, the bound is %d", n, resumeFactor)
	}
}

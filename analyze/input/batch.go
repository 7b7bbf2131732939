package input

import "github.com/gmpscope/gmpscope/analyze/wire"

const (
	maxBatchHeader = 2 + 4*wire.MaxVarint // kind, experiment, and four numbers
	maxBatch       = maxBatchHeader + wire.MaxBatchSize
)

// batchHeader is what stands before the data of a batch.
type batchHeader struct {
	gen     uint64
	time    uint64 // ticks
	size    int    // bytes of data, at most wire.MaxBatchSize
	len     int    // bytes of the header itself
	exp     bool   // an experimental batch: its data has a format of its own
	padded  bool   // its size is written in ten bytes, as the runtime does
	sizeLen int    // bytes of the size
}

// total is the number of bytes of header and data.
func (h batchHeader) total() int { return h.len + h.size }

type verdict uint8

const (
	bad   verdict = iota // not a batch header
	good                 // a batch header within the limits of the format
	short                // the bytes end within what may be a batch header
)

// parseHeader reads the batch header at the start of p. Why says what is wrong with a bad one.
func parseHeader(p []byte) (h batchHeader, v verdict, why string) {
	if len(p) == 0 {
		return h, short, ""
	}
	n := 1
	switch p[0] {
	case wire.EventBatch:
	case wire.ExperimentalBatch:
		h.exp = true
		n = 2 // the experiment's number
		if len(p) < n {
			return h, short, ""
		}
	default:
		return h, bad, "no batch starts here"
	}
	var f [4]uint64 // generation, thread, time, size
	for i := range f {
		x, k := wire.Uvarint(p[n:])
		if k == 0 {
			return h, short, ""
		}
		if k < 0 {
			return h, bad, "a number in the batch header is too long"
		}
		f[i] = x
		h.padded, h.sizeLen = k == wire.MaxVarint, k // the last one counts
		n += k
	}
	if f[0] == 0 {
		return h, bad, "generation number 0"
	}
	if f[3] > wire.MaxBatchSize {
		return h, bad, "batch size beyond the limit of 65536"
	}
	h.gen, h.time, h.size, h.len = f[0], f[2], int(f[3]), n
	return h, good, ""
}

// syncKind is the first event of the batch without which x/exp/trace refuses a generation.
func syncKind(minor int) byte {
	if minor >= 25 {
		return wire.Sync
	}
	return wire.Frequency
}

// startsBatch reports whether an event of this number can be the first of an ordinary batch.
func startsBatch(b byte) bool {
	switch {
	case b == 3 || b == 5 || b == 7 || b == wire.ExperimentalBatch:
		return false // only inside other batches
	case b >= 2 && b <= 51:
		return true
	}
	return b >= 128 && b < 160 // experimental events, with room for new ones
}

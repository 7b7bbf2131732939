package input

import "github.com/gmpscope/gmpscope/analyze/wire"

// After a damaged batch header there is nothing that says where the next batch begins. But batches
// follow each other without a gap, so a right guess proves itself: behind the batch stands another
// plausible header of the same or the next generation, and so on. Event data is full of small
// numbers and can look like a few tiny batches in a row; so two habits of real traces are asked for
// as well: the runtime writes sizes in ten bytes, and times do not leap.

const (
	// So many headers in a row are enough ...
	paddedChain = 3 // ... if their sizes are padded
	nearChain   = 5 // ... if not, but the first is of the same or one of the next two generations
	farChain    = 8 // ... otherwise: a hole over many generations

	nearGens = 2

	looseSpan = 512 // ... and without padding they must make up so many bytes: false ones are tiny

	windowSize = 1 << 20
	chainSpan  = farChain*maxBatch + looseSpan // look-ahead that decides about any position

	// scanLimit ends the search for the next batch: an endless stream of something else is no trace.
	scanLimit = 1 << 30
)

// A chainCheck decides whether batches begin at a position.
type chainCheck struct {
	marked bool   // the format has end-of-generation markers (1.26 and later)
	padded bool   // all batches before had padded sizes
	cur    uint64 // generation before the damage; 0 if unknown
	time   uint64 // of the last good batch; 0 if unknown
}

// plausible reports whether a header can be one of this trace, by itself.
func (c chainCheck) plausible(h batchHeader) bool {
	return h.size > 0 && (h.padded || h.exp || !c.padded) && (c.time == 0 || near(c.time, h.time))
}

// near reports whether two times can be of one trace, whatever a tick is: 64 ns on most systems, a
// fraction of one on some. Batches that are opened early can go back a little.
func near(a, b uint64) bool {
	a, b = min(a, b), max(a, b)
	return b-a <= 1<<30 || b/2 <= a
}

// at reports whether a chain of batches begins at win[i]. Atend tells that the input ends with win.
func (c chainCheck) at(win []byte, i int, atEnd bool) bool {
	start, need, n := i, paddedChain, 0
	gen := uint64(0)
	ended := false // an end-of-generation marker stands before this position
	for {
		if i >= len(win) {
			// Ending exactly with the input is as good as another header.
			return atEnd && n > 0 && (i == len(win) || n >= paddedChain)
		}
		if c.marked && n > 0 && !ended && win[i] == wire.EndOfGeneration {
			ended = true
			i++
			continue
		}
		h, v, _ := parseHeader(win[i:])
		if v == short {
			return atEnd && n >= paddedChain
		}
		if v == bad || !c.plausible(h) {
			return false
		}
		switch {
		case n == 0:
			if h.gen < c.cur {
				return false
			}
		case h.gen == gen && !ended:
		case h.gen == gen+1 && (ended || !c.marked):
		default:
			return false
		}
		if d := i + h.len; !h.exp && d < len(win) && !startsBatch(win[d]) {
			return false
		}
		if !h.padded {
			need = max(need, nearChain)
			if c.cur == 0 || h.gen > c.cur+nearGens {
				need = farChain
			}
		}
		gen, ended = h.gen, false
		i += h.total()
		if n++; n >= need && (need == paddedChain || i-start >= looseSpan) {
			return true
		}
	}
}

// find returns the first position in win[from:to] where a chain begins, or -1.
func (c chainCheck) find(win []byte, from, to int, atEnd bool) int {
	for i := from; i < to; i++ {
		if b := win[i]; (b == wire.EventBatch || b == wire.ExperimentalBatch) && c.at(win, i, atEnd) {
			return i
		}
	}
	return -1
}

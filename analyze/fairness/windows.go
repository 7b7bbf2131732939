package fairness

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// windowLengths are those in which pressure is looked at one by one, ns: a time
// slice, ten of them, and what a person perceives.
var windowLengths = [...]int64{10_000_000, 100_000_000, 1_000_000_000}

// window adds up pressure in windows of one length, which follow each other
// from time 0. Shares are kept in 1/10,000.
type window struct {
	length     int64
	begin      int64 // of the present one
	some, full int64 // ns of either before that, from time 0
	n          int64 // whole ones that are over
	partial    bool  // not all of the present one is recorded
	shares     [2]*hdrhistogram.Histogram
	worst      [2]Worst
}

const shareScale = 10_000

func newWindow(length int64) *window {
	return &window{length: length, shares: [2]*hdrhistogram.Histogram{
		hdrhistogram.New(1, shareScale, 3), hdrhistogram.New(1, shareScale, 3),
	}}
}

// closeWindows ends the windows that end until to. The pressure is the same from
// now to then.
func (a *Accumulator) closeWindows(to int64) {
	until := func(t int64) (some, full int64) {
		some, full = a.some, a.full
		if a.runnable > 0 {
			some += t - a.settled
			if a.running == 0 {
				full += t - a.settled
			}
		}
		return some, full
	}
	a.windowEnd = math.MaxInt64
	for _, w := range a.windows {
		w.advance(to, until)
		a.windowEnd = min(a.windowEnd, w.begin+w.length)
	}
}

// advance ends the windows that end until to. until sums up the pressure, ns,
// from time 0 to t, and the pressure does not change in the time that passes.
func (w *window) advance(to int64, until func(t int64) (some, full int64)) {
	end := w.begin + w.length
	if end > to {
		return
	}
	some, full := until(end)
	w.close(1, some, full)
	// Those that lie wholly between are all alike.
	if k := (to - end) / w.length; k > 0 {
		some, full = until(end + w.length)
		w.close(k, some, full)
		w.some, w.full = until(w.begin)
	}
}

// skip passes a gap in the trace until to: the windows that it touches are not judged.
func (w *window) skip(to, some, full int64) {
	w.begin = to - to%w.length
	w.some, w.full = some, full
	w.partial = w.begin < to
}

// close ends the present window, at whose end some and full, summed up from time
// 0, are as given, and k-1 more that are like it.
func (w *window) close(k, some, full int64) {
	if w.partial {
		w.partial = false
		w.begin += w.length
		w.some, w.full = some, full
		return // advance ends the windows behind it
	}
	for i, ns := range [...]int64{some - w.some, full - w.full} {
		share := float64(ns) / float64(w.length)
		// Cannot fail: the value is within the histogram's range.
		_ = w.shares[i].RecordValues(int64(share*shareScale+0.5), k)
		if share > w.worst[i].Max {
			w.worst[i] = Worst{Max: share, AtNs: w.begin}
		}
	}
	w.n += k
	w.begin += k * w.length
	w.some, w.full = some, full
}

func (w *window) result() PressureWindow {
	out := PressureWindow{LengthNs: w.length, N: w.n, Some: w.worst[0], Full: w.worst[1]}
	for i, s := range [...]*Worst{&out.Some, &out.Full} {
		s.P50 = min(s.Max, float64(w.shares[i].ValueAtQuantile(50))/shareScale)
		s.P99 = min(s.Max, float64(w.shares[i].ValueAtQuantile(99))/shareScale)
	}
	return out
}

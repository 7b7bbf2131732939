package fairness

import "github.com/HdrHistogram/hdrhistogram-go"

// windowLengths are those in which pressure is looked at one by one, ns: a time
// slice, ten of them, and what a person perceives.
var windowLengths = [...]int64{10_000_000, 100_000_000, 1_000_000_000}

// window adds up pressure in windows of one length, which follow each other
// from time 0. Shares are kept in 1/10,000.
type window struct {
	length     int64
	begin      int64 // of the present one
	some, full int64 // ns of it
	n          int64 // whole ones that are over
	shares     [2]*hdrhistogram.Histogram
	worst      [2]Worst
}

const shareScale = 10_000

func newWindow(length int64) *window {
	return &window{length: length, shares: [2]*hdrhistogram.Histogram{
		hdrhistogram.New(1, shareScale, 3), hdrhistogram.New(1, shareScale, 3),
	}}
}

// advance lets time pass from a to b, all of it with the same pressure.
func (w *window) advance(a, b int64, some, full bool) {
	for {
		end := w.begin + w.length
		if b < end {
			w.add(b-a, some, full)
			return
		}
		w.add(end-a, some, full)
		w.close(1)
		a = end
		// Windows that lie wholly in [a, b) are all alike.
		if k := (b - a) / w.length; k > 1 {
			w.add(w.length, some, full)
			w.close(k)
			a += k * w.length
		}
	}
}

func (w *window) add(ns int64, some, full bool) {
	if some {
		w.some += ns
	}
	if full {
		w.full += ns
	}
}

// close ends the present window, and k-1 more that are like it.
func (w *window) close(k int64) {
	for i, ns := range [...]int64{w.some, w.full} {
		share := float64(ns) / float64(w.length)
		// Cannot fail: the value is within the histogram's range.
		_ = w.shares[i].RecordValues(int64(share*shareScale+0.5), k)
		if share > w.worst[i].Max {
			w.worst[i] = Worst{Max: share, AtNs: w.begin}
		}
	}
	w.n += k
	w.begin += k * w.length
	w.some, w.full = 0, 0
}

func (w *window) result() PressureWindow {
	out := PressureWindow{LengthNs: w.length, N: w.n, Some: w.worst[0], Full: w.worst[1]}
	for i, s := range [...]*Worst{&out.Some, &out.Full} {
		s.P50 = min(s.Max, float64(w.shares[i].ValueAtQuantile(50))/shareScale)
		s.P99 = min(s.Max, float64(w.shares[i].ValueAtQuantile(99))/shareScale)
	}
	return out
}

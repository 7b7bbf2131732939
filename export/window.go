package export

// Window is the part of a trace that an export is about: [From, To), ns. To of 0 is the
// end.
type Window struct{ From, To int64 }

// Has reports whether an instant lies in the window.
func (w Window) Has(t int64) bool { return t >= w.From && (w.To <= 0 || t < w.To) }

// Cut returns the part of an interval in the window, and whether there is one. An empty
// interval is in the window if its instant is.
func (w Window) Cut(from, to int64) (int64, int64, bool) {
	if from == to {
		return from, to, w.Has(from)
	}
	from = max(from, w.From)
	if w.To > 0 {
		to = min(to, w.To)
	}
	return from, to, from < to
}

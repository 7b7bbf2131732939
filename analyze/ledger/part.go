package ledger

// Part is the part of a stream that is counted: a window of time, and goroutines. Of what reaches out
// of it, the part inside counts, so that neighbouring windows add up. The zero value is all of the
// stream.
type Part struct {
	From, To int64 // the window [From, To), ns since the first event of the trace; To of 0 is the end of the stream
	// Only, if set, reports whether the goroutine with ID g, of the class with a handle, counts.
	Only func(g int64, class int32) bool
}

// Has reports whether the goroutine with ID g, of the class with a handle, counts.
func (p *Part) Has(g int64, class int32) bool { return p.Only == nil || p.Only(g, class) }

// Within returns for how long the interval [from, to), in ns, lies in the window, in ns.
func (p *Part) Within(from, to int64) int64 {
	if p.To > 0 {
		to = min(to, p.To)
	}
	return max(0, to-max(from, p.From))
}

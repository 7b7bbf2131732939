package report

import (
	"cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what the text says of wakers.
const (
	textWakerClasses = 8
	textWakers       = 3 // of a class
)

// wakers writes who made the goroutines runnable that waited most, and what they were
// blocked on before.
func (t *text) wakers(r *analyze.Result) {
	n := 0
	for i := range r.Waits.Classes {
		c := &r.Waits.Classes[i]
		by := t.names.WokenBy(c, textWakers)
		if c.System || by == "" || n == textWakerClasses {
			continue
		}
		if n++; n == 1 {
			t.head("By whom they were made runnable")
		}
		if before := words.BlockedBefore(c, 2); before != "" {
			by += "; " + before
		}
		t.hang("  ", 4, t.names.Shortened(cmp.Or(c.Name, words.Unknown), 120)+": "+by+".")
	}
}

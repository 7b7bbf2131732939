package analyze

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/waits"
)

// TestLongWaitIsNamed rounds how long a wait is in the title of what is kept for it.
func TestLongWaitIsNamed(t *testing.T) {
	a, b := &analysis{waits: waits.New(waits.Options{})}, &block{}
	a.draw()
	a.waits.Longest = []waits.LongWait{{G: 240, From: 5, To: 5 + 11_105_728}}
	a.mark(b)
	if got, want := b.marked[0].Title, "goroutine 240 waits 11.1 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

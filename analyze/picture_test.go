package analyze

import "testing"

// TestLongWaitIsNamed rounds how long a wait is in the title of what is kept for it.
func TestLongWaitIsNamed(t *testing.T) {
	a := &analysis{waitsBlock: &block{}}
	a.draw()
	a.limits.waits.OnWorst(0, 5, 5+11_105_728, 240)
	if got, want := a.waitsBlock.marked[0].Title, "goroutine 240 waits 11.1 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

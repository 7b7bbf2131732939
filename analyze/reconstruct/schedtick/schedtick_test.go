package schedtick

import (
	"math"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
)

const (
	poll = 61

	shown    evidence.Nats = 6.9  // what a tick that shows itself says
	notShown evidence.Nats = -3.9 // what a start says that shows that it is none
)

// TestNoTick checks that nothing is evidence for a tick where there is none.
func TestNoTick(t *testing.T) {
	for _, f := range []Posterior{{}, Unknown(0), Young(0, Distant)} {
		f.Next()
		f.Learn(shown)
		f.Shift(1, 0.1)
		if c := f.Now(); c != 0 || f.Is() || f.May() {
			t.Errorf("the tick has the probability %v", c)
		}
	}
}

func TestLearn(t *testing.T) {
	f := Unknown(poll)
	check := func(what string) {
		t.Helper()
		sum := 0.0
		for i := range f.weight {
			c := f.Of(uint16(i))
			if !(c > 0 && c <= 1) {
				t.Fatalf("%s: candidate %d has the probability %v", what, i, c)
			}
			sum += c
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("%s: the probabilities sum up to %v", what, sum)
		}
	}
	check("at first")
	for range 7 {
		f.Next()
	}
	f.Learn(shown)
	check("after one tick")
	if !f.Is() || f.Now() > Certain {
		t.Errorf("one tick that shows itself gives %v: likely, but not certain", f.Now())
	}
	f.Learn(shown)
	if f.Now() < Certain || f.Of(f.now+1) > Never {
		t.Errorf("two give %v, and %v to another candidate", f.Now(), f.Of(f.now+1))
	}
	f.Shift(1, 0.1)
	check("after a shift")
	if c := f.Of(f.now + 1); c < 0.05 {
		t.Errorf("after a start that may have been counted wrongly the neighbour has %v", c)
	}

	// What excludes all others is as good as seeing the tick, and as often as one
	// likes.
	f = Unknown(poll)
	for range 1000 {
		for i := range poll {
			if i != 5 {
				f.Learn(notShown)
			}
			f.Next()
		}
	}
	check("after much evidence")
	if c := f.Of(5); c < Certain {
		t.Errorf("the only one that is left has %v", c)
	}
	// None is ruled out.
	for range 3 {
		for range poll {
			if f.now == 9 {
				f.Learn(shown)
			} else if f.now == 5 {
				f.Learn(notShown)
			}
			f.Next()
		}
	}
	if c := f.Of(9); c < Certain {
		t.Errorf("a tick that comes at another time three times has %v", c)
	}
}

func TestYoung(t *testing.T) {
	far := Young(poll, Distant)
	if c := far.Of(0); c < Likely || c > Certain {
		t.Errorf("a P has run nothing with a probability of %v; a prior is no evidence", c)
	}
	if far.Of(0) < far.Of(60) || far.Of(60) < far.Of(30) {
		t.Errorf("0, 1 and 31 starts behind: %v, %v, %v", far.Of(0), far.Of(60), far.Of(30))
	}
	first := Young(poll, 0)
	if c := first.Of(0); c > 0.5 {
		t.Errorf("the P that the program runs on has run nothing with a probability of %v", c)
	}
	if beyond := Young(poll, 5); !slices.Equal(beyond.weight, far.weight) {
		t.Error("farther than the farthest is not the same")
	}
}

// TestCopyTo changes a copy: the original stays as it was.
func TestCopyTo(t *testing.T) {
	room := make([]float64, 0, 2*poll)
	a, b := Unknown(poll), Young(poll, 0)
	c, d := a, b
	room = c.CopyTo(room)
	room = d.CopyTo(room)
	if len(room) != 2*poll {
		t.Errorf("%d weights", len(room))
	}
	c.Learn(shown)
	if a.Is() || !c.Is() {
		t.Errorf("the tick has the probability %v, %v in the copy", a.Now(), c.Now())
	}
	if d.Now() != b.Now() {
		t.Errorf("the other copy has %v, not %v", d.Now(), b.Now())
	}
}

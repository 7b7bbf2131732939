package findings

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/reference"
)

// interruptions counts where goroutines of the program were stopped that had run for long and
// did not stop by themselves. That happens at any point of a run, so it tells what they do in
// it; where a run ends by itself is only where its work is done.
type interruptions map[interruption]int64

type interruption struct{ class, stack int32 }

const (
	// longRunNs is how long a run is at least that is looked at.
	longRunNs = 1_000_000
	// maxInterruptions bounds memory; what comes later is not counted.
	maxInterruptions = 4096
	// fewInterruptions tell nothing.
	fewInterruptions = 5
)

// interrupted reports whether a goroutine that stops so did not do it by itself.
func interrupted(why reference.Why) bool {
	switch why {
	case reference.WhySlice, reference.WhySTW, reference.WhyGC, reference.WhyGeneration, reference.WhySuspend:
		return true
	}
	return false
}

// Signalled reports whether a goroutine that stopped at a stack, given as lines like those of
// [Facts.Frames], was preempted by a signal (asyncPreempt in runtime/preempt.go).
func Signalled(frames []string) bool {
	return slices.ContainsFunc(frames, func(s string) bool { return strings.HasPrefix(s, "runtime.asyncPreempt") })
}

// note processes a run interval of a goroutine of the program that is over.
func (i interruptions) note(r *Run) {
	if r.Stack != 0 && r.Ns() >= longRunNs && interrupted(r.Why) {
		CountIn(i, interruption{r.Class, r.Stack}, maxInterruptions)
	}
}

// Doing returns what the goroutines of a class, given by its handle, do in long run intervals: the
// stack of the function of the program in which at least two thirds of these were interrupted, that
// function first, in lines like those of [Facts.Frames]. Long are those of at least 1 ms. It is nil
// if fewer than 5 were interrupted, or there is no such function.
func (w *View) Doing(f *Facts, class int32) []string {
	type sample struct {
		frames []string
		n      int64
		stack  int32
	}
	var samples []sample
	var all int64
	in := map[Name]int64{}
	for k, n := range w.interruptions {
		if k.class != class {
			continue
		}
		frames := f.Frames(k.stack)
		samples = append(samples, sample{frames, n, k.stack})
		all += n
		var seen []Name
		for _, s := range frames {
			if function, place := frame(s); !OfLibrary(function) && !ofModule(place) && !slices.Contains(seen, function) {
				seen = append(seen, function)
				in[function] += n
			}
		}
	}
	if all < fewInterruptions {
		return nil
	}
	slices.SortFunc(samples, func(x, y sample) int { return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(x.stack, y.stack)) })
	var best []string
	for _, s := range samples {
		for i, fr := range s.frames {
			if function, _ := frame(fr); 3*in[function] >= 2*all {
				if rest := s.frames[i:]; len(rest) > len(best) {
					best = rest
				}
				break
			}
		}
	}
	return best
}

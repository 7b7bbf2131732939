package findings

import (
	"math"
	"math/bits"

	"github.com/gmpscope/gmpscope/reference"
)

// maxClasses is how many classes have an account; further ones share an account.
const maxClasses = 4096

// Class sums up the run intervals, wake-ups and waits of the goroutines of one class up to
// [View.Now]. Times are sums in ns, all other numbers are counts.
type Class struct {
	ID    int32 // handle of the class; 0 for goroutines without one, and for further classes
	Runs  int64 // run intervals that have ended
	RunNs int64 // their lengths, without system calls and known time on no CPU
	Local int64 // starts out of local run queues, stolen goroutines included
	// Creates is the number of goroutines that its goroutines created.
	Creates int64
	// Calls is the number of its system calls, as in View.Syscalls, and CallNs their total
	// length.
	Calls, CallNs int64
	// Woken is how often its goroutines were woken after they had blocked, and Outside how often
	// that was by the network, a timer and the like rather than by a goroutine. Waker is the
	// handle of the class whose goroutines did most of the rest.
	Woken, Outside int64
	Waker          Majority[int32]
	BlockedNs      int64 // time blocked before the wake-ups in Woken
	// WaitedNs is how long its goroutines waited for a P, waits after runtime.Gosched left out.
	// AwaitedNs is the part of it in which another goroutine waited for the one that waited.
	WaitedNs, AwaitedNs int64
	Ended               int64 // goroutines that have ended, of those whose creation was seen
	// Again is the number of run intervals on the same P as the goroutine's one before, and
	// AgainNs their sum; goroutines known to be locked to a thread are left out.
	Again, AgainNs int64
	bars           [bars]int64 // but those in kept
	kept           [bars]int64 // of Again, those that the goroutine ended itself
}

// Two bars for each power of two.
const bars = 96

func (c *Class) add(ns int64, again bool, why reference.Why) {
	bar := bar(max(1, ns))
	c.Runs++
	c.RunNs += max(1, ns)
	if again {
		c.Again++
		c.AgainNs += ns
		if why == reference.WhyBlock || why == reference.WhyExit || why == reference.WhyGosched {
			c.kept[bar]++
			return
		}
	}
	c.bars[bar]++
}

// Busy reports whether the goroutines of the class ran more than four times as long as they were
// blocked, both in sum.
func (c *Class) Busy() bool { return c.RunNs > 4*c.BlockedNs }

// maxStructuralEnds is how many goroutines of a class end at most where each is a part of the program's
// structure, and not there for one thing.
const maxStructuralEnds = 20

// Serves reports whether the goroutines of a class are long-lived and woken almost only by
// goroutines, mostly of one other class: a stage of the same work. If the other class is
// [Class.Busy], their waits behind it delay nobody.
func (c *Class) Serves(class int32) bool {
	return c.Ended < maxStructuralEnds && c.Woken > 0 && c.Waker.For == class && 2*c.Waker.Votes >= c.Woken && 50*c.Outside <= c.Woken
}

// Kept returns the distribution of the lengths of those run intervals in Again that the goroutine
// ended itself: it blocked, ended, or called runtime.Gosched. Their sum, Lengths.Ns, is not set.
func (c *Class) Kept() Lengths {
	l := Lengths{bars: c.kept}
	for _, n := range c.kept {
		l.N += n
	}
	return l
}

func bar(ns int64) int {
	e := bits.Len64(uint64(ns)) - 1
	b := 2 * e
	if e > 0 && ns>>uint(e-1)&1 == 1 {
		b++
	}
	return min(b, bars-1)
}

// Mean returns the mean length of the run intervals of the class, in ns; 0 if there is none.
func (c *Class) Mean() int64 {
	if c.Runs == 0 {
		return 0
	}
	return c.RunNs / c.Runs
}

// Median returns the median length of the run intervals of the class, in ns, within a quarter; 0
// if there is none.
func (c *Class) Median() int64 {
	if c.Runs == 0 {
		return 0
	}
	need, seen := (c.Runs+1)/2, int64(0)
	for i, n := range c.bars {
		if seen += n + c.kept[i]; seen >= need {
			low := math.Ldexp(1+float64(i%2)/2, i/2)
			return int64(low * 1.25)
		}
	}
	return c.Mean()
}

// Over returns the number of run intervals of the class of at least ns nanoseconds. Its buckets are
// half an octave wide: all of the one in which ns lies are counted.
func (c *Class) Over(ns int64) int64 {
	var n int64
	for i := bar(ns); i < bars; i++ {
		n += c.bars[i] + c.kept[i]
	}
	return n
}

// accounts are those of all classes, by index; the first is for goroutines without a
// class, and for the classes beyond maxClasses.
type accounts struct {
	classes []Class
	classOf map[int32]int32
	recent  [64]struct{ class, i int32 } // of those that were asked for
	all     struct{ Runs, RunNs int64 }  // of all classes
}

func newAccounts() accounts { return accounts{classes: make([]Class, 1), classOf: map[int32]int32{}} }

// know makes accounts for classes, of which all that were seen are given.
func (a *accounts) know(handles []int32) {
	for i := len(a.classes); i < min(len(handles), maxClasses); i++ {
		a.classes = append(a.classes, Class{ID: handles[i]})
		a.classOf[handles[i]] = int32(i)
	}
}

// ClassStat returns what is known of the class with a handle. All classes beyond the first 4,095
// share one Class. The result is valid until the next decision.
func (a *accounts) ClassStat(class int32) *Class {
	r := &a.recent[uint32(class)%uint32(len(a.recent))]
	if r.class != class || r.i == 0 {
		r.class, r.i = class, a.classOf[class]
	}
	return &a.classes[r.i]
}

// AllRunNs returns how long the goroutines of the program ran, summed, in ns: all run intervals
// that have ended.
func (a *accounts) AllRunNs() int64 { return a.all.RunNs }

// MeanRun returns the mean length of the run intervals of the program's goroutines, in ns; 0 if
// none has ended.
func (a *accounts) MeanRun() int64 { return a.all.RunNs / max(1, a.all.Runs) }

// Classes calls f for each class of which a run interval has ended, in order of appearance. The
// argument is valid during the call.
func (a *accounts) Classes(f func(*Class)) {
	for i := range a.classes {
		if c := &a.classes[i]; c.Runs > 0 {
			f(c)
		}
	}
}

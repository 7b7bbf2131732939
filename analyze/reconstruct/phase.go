package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// phase is what is known of a P's schedtick modulo 61, which decides when it
// looks at the global queue first (proc.go: findRunnable): bit i is set if the
// remainder may be i. The tick's value at the start of a trace is not recorded.
type phase uint64

const (
	anyPhase   = phase(1<<61 - 1)
	youngPhase = phase(1<<12 - 1) // at most 11 so far
	poll       = 61
)

// next counts a start that does not inherit the time slice.
func (f *phase) next() {
	*f = (*f<<1 | *f>>(poll-1)) & anyPhase
}

func (f phase) maybeTick() bool { return f&1 != 0 }
func (f phase) isTick() bool    { return f == 1 }

// is and isNot note that this is, or is not, the 61st tick. A contradiction
// forgets what was known.
func (f *phase) is() { *f = 1 }

func (f *phase) isNot() {
	if *f &^= 1; *f == 0 {
		*f = anyPhase &^ 1
	}
}

// learnPhase draws the tick's phase from a start on p: a P that takes from its
// own queue although the global one holds something is not at the 61st tick.
func (r *Reconstructor) learnPhase(p int32, t taken) {
	if p < 0 {
		return
	}
	f := &r.ps[p].phase
	switch t.src {
	case reference.SrcGlobalTick:
		if t.basis == byRule && t.batch == 1 {
			f.is()
		}
	case reference.SrcRunnext, reference.SrcLocal:
		if t.basis == byRule && r.q.GlobalLen() > 2 {
			f.isNot()
		}
	}
}

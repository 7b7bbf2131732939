package replay

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// changeFor returns what a finding's remedy changes in a simulation with procs
// Ps. It returns false where there is no change, or the finding does not name what
// the change needs. Class stays empty: it is the finding's first cause.
func changeFor(f *findings.Finding, procs int) (Change, bool) {
	r := &f.Remedy
	if !r.Changes() {
		return Change{}, false
	}
	c := Change{Policy: r.Policy, NoGC: r.NoGC, Unlocked: r.Unlocked, Speed: r.Speed, Yield: r.YieldNs}
	switch {
	case r.ProcsTimes > 0:
		c.Procs = r.ProcsTimes * procs
	case r.ProcsPlus > 0:
		c.Procs = procs + r.ProcsPlus
	}
	if r.FreeLock {
		for _, a := range f.Actors {
			if by := locker(a.Stack); a.Role == findings.Victim && by != "" {
				c.FreeLock = by
				return c, true
			}
		}
		return Change{}, false
	}
	return c, true
}

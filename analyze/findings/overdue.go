package findings

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Overdue estimates how long a timer that fires has been due: while no P is idle, only the P that
// has the timer runs it, and only when a goroutine leaves that P.
type Overdue struct {
	view      *View
	busySince int64 // since when no P is idle; -1: one is, or may be
}

// NewOverdue returns an Overdue that follows view. It must be called before the stream begins.
func NewOverdue(view *View) *Overdue {
	o := &Overdue{view: view, busySince: -1}
	view.Decisions(DecisionFilter{Kinds: []reference.Kind{reference.KindPStart, reference.KindPStop, reference.KindRetake, reference.KindProcs, reference.KindSTWEnd, reference.KindLost}}, o.proc)
	return o
}

func (o *Overdue) proc(d *reference.Decision) {
	if o.view.CountPs(ledger.Idle)+o.view.CountPs(ledger.NotRecorded) > 0 {
		o.busySince = -1
	} else if o.busySince < 0 {
		o.busySince = d.Time
	}
}

// TimerDelay returns the longest time, in ns, for which the timer that woke g by decision d may have
// been due, and the run interval that kept its P busy meanwhile; 0 and nil if there was none. It is
// to be called as View.Decisions reports d; kept is valid until the next decision.
func (o *Overdue) TimerDelay(g *Goroutine, d *reference.Decision) (ns int64, kept *Run) {
	if o.busySince < 0 || o.view.Running(d.P) != nil {
		return 0, nil
	}
	l := o.view.LastRun(d.P)
	if l == nil || l.To <= g.BlockedAt {
		return 0, nil
	}
	// When that interval began its P had looked at the timers.
	return d.Time - max(l.From, o.busySince, g.BlockedAt), l
}

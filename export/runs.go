package export

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Run is an interval in which a goroutine ran on a P. A system call ends one; when the
// goroutine goes on, another begins.
type Run struct {
	G        int64
	FromNs   int64
	ToNs     int64
	M        int64 // thread; reference.NoM if unknown
	Class    int32 // handle, as known at the end
	P        int32
	Slot     int32            // of the goroutine: see package ledger
	Started  bool             // it began with a start: not with the return from a system call
	Source   reference.Source // of the start
	WaitNs   int64            // of the start; -1 if unknown
	StopWhy  reference.Why    // why it ended; reference.WhyUnknown at the end of the trace, too
	OfSystem bool             // the goroutine belongs to the runtime or the tracer
}

// Runs finds the run intervals in the blocks of an analysis. Its memory depends on the
// number of goroutines alive at one time.
type Runs struct {
	emit func(*Run) error
	now  int64
	of   []running // by slot
}

// running is the run interval in which a goroutine is.
type running struct {
	Run
	active bool
}

// NewRuns returns Runs that call emit with each run interval when it ends. The Run is valid
// during the call only.
func NewRuns(emit func(*Run) error) *Runs { return &Runs{emit: emit} }

// Add processes decision number i of a block, which follows the last one.
func (r *Runs) Add(b *ledger.Block, i int) error {
	d, n := &b.Decisions[i], &b.Notes[i]
	r.now = max(r.now, d.Time)
	if n.G == 0 {
		return nil
	}
	switch d.Kind {
	case reference.KindStart:
		err := r.end(b, n, reference.WhyUnknown) // its stop was not seen
		r.begin(b, d, n)
		return err
	case reference.KindSyscallExit:
		err := r.end(b, n, reference.WhyUnknown)
		if d.P >= 0 {
			r.begin(b, d, n)
		}
		return err
	case reference.KindStop:
		return r.end(b, n, d.Why)
	case reference.KindSyscall:
		return r.end(b, n, reference.WhySyscall)
	case reference.KindReady:
		return r.end(b, n, reference.WhyUnknown)
	}
	return nil
}

// begin begins the run interval of a goroutine.
func (r *Runs) begin(b *ledger.Block, d *reference.Decision, n *ledger.Note) {
	if int(b.Slots) > len(r.of) {
		r.of = append(r.of, make([]running, int(b.Slots)-len(r.of))...)
	}
	run := Run{G: d.G, FromNs: r.now, M: d.M, P: d.P, Slot: n.G, Class: b.Classes[n.Class], WaitNs: -1, OfSystem: !n.OfProgram()}
	if d.Kind == reference.KindStart {
		run.Started, run.Source, run.WaitNs = true, d.Src, d.Wait
	}
	r.of[n.G] = running{Run: run, active: true}
}

// end ends the run interval of a goroutine, if there is one.
func (r *Runs) end(b *ledger.Block, n *ledger.Note, why reference.Why) error {
	if int(n.G) >= len(r.of) || !r.of[n.G].active {
		return nil
	}
	x := &r.of[n.G]
	x.active = false
	x.ToNs, x.StopWhy, x.Class, x.OfSystem = r.now, why, b.Classes[n.Class], !n.OfProgram()
	return r.emit(&x.Run)
}

// On returns the P on which the goroutine at a slot runs, or reference.NoP.
func (r *Runs) On(slot int32) int32 {
	if int(slot) >= len(r.of) || !r.of[slot].active {
		return reference.NoP
	}
	return r.of[slot].P
}

// Finish ends what runs at the end of the trace.
func (r *Runs) Finish(end int64) error {
	for i := range r.of {
		if x := &r.of[i]; x.active {
			x.active = false
			x.ToNs = max(end, x.FromNs)
			if err := r.emit(&x.Run); err != nil {
				return err
			}
		}
	}
	return nil
}

// Window is the part of a trace that an export is about: [From, To), ns. To of 0 is the
// end.
type Window struct{ From, To int64 }

// Has reports whether an instant lies in the window.
func (w Window) Has(t int64) bool { return t >= w.From && (w.To <= 0 || t < w.To) }

// Cut returns the part of an interval that lies in the window, and whether there is one.
// An interval without a duration is there if its instant is.
func (w Window) Cut(from, to int64) (int64, int64, bool) {
	if from == to {
		return from, to, w.Has(from)
	}
	from = max(from, w.From)
	if w.To > 0 {
		to = min(to, w.To)
	}
	return from, to, from < to
}

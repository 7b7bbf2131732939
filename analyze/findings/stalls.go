package findings

// Stalls sum up intervals of at least 1 ms in which a P had a thread that ran no goroutine, and
// nothing happened on it: no start, no wake-up, no release of the P. What the
// scheduler does on a thread (findRunnable, checkTimers, stealWork, startm in
// runtime/proc.go) takes microseconds, so that thread had no CPU meanwhile.
type Stalls struct {
	N, Ns   int64 // number of stalls, and their lengths, summed, in ns
	Longest int64 // length of the longest, ns
	From    int64 // time at which the longest began, ns
	P       int32 // P of the longest
	// WaitedNs is how long goroutines of the program waited for a P meanwhile, summed, in ns.
	WaitedNs int64
}

// explains reports whether stalls may have made a good part of a cost: what is seen of a lack
// of CPUs is but what falls between two runs.
func (s *Stalls) explains(cost int64) bool { return s.N >= fewStalls && 4*s.Ns >= cost }

// StoodStill reports whether there were at least 5 stalls of threads with a P, or 10 ms of them: more
// than happens on any machine, so that a lack of CPUs is more than a suspicion.
func (f *Facts) StoodStill() bool { return f.Stalls.N >= fewStalls || f.Stalls.Ns >= longStallsNs }

// fewStalls, of less than longStallsNs in sum, happen on any machine.
const (
	fewStalls    = 5
	longStallsNs = 10_000_000
)

// stallNs is far beyond what the scheduler needs for anything.
const stallNs = 1_000_000

// Stalls returns the sum of the stalls that have ended. The result is updated as the View goes on.
func (w *View) Stalls() *Stalls { return &w.stalls }

// still notes that thread m of p, which runs no goroutine, did something: a stall begins
// now at the earliest. Of a thread that is not known nothing is.
func (w *follower) still(p *proc, m int64) {
	if p.m, p.stillAt = m, -1; m > 0 {
		p.stillAt, p.waitedAt = w.now, w.waitedNs
	}
}

// stirs is for the end of a time in which p's thread ran no goroutine, when thread m does
// something.
func (w *follower) stirs(p *proc, m int64) {
	if ns := w.now - p.stillAt; p.stillAt >= 0 && ns >= stallNs && m == p.m && !w.stw {
		w.stalled(p, ns)
	}
	p.stillAt = -1
}

func (w *follower) stalled(p *proc, ns int64) {
	s := &w.stalls
	s.N++
	s.Ns += ns
	s.WaitedNs += w.waitedNs - p.waitedAt
	if ns > s.Longest {
		s.Longest, s.From, s.P = ns, p.stillAt, p.slice.P
	}
}

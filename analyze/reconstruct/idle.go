package reconstruct

// A P leaves the list of idle ones when somebody wakes a thread for it (pidleget in
// startm's callers), but the trace shows it only when that thread has got a CPU: with
// more Ps than CPUs, milliseconds later. injectglist goes by the list (sched.npidle).

// lookAgain bounds the time from a P's release to the end of its thread's second look
// at all queues (findRunnable), in ns.
const lookAgain = 3_000

// claims counts the Ps that have no thread, but are not in the list any more.
type claims struct {
	all      int
	unnamed  int   // of them, Ps that no event has named
	searcher int32 // index of the P that was found to look for work last
}

// npidle is how many Ps are in the list of idle ones.
func (r *Reconstructor) npidle() int { return max(0, r.procs-r.busy-r.claims.all) }

// claim takes a P out of the list of idle ones for a thread that is woken, nil if there
// is none that an event has named. The list is a stack (pidleput, pidleget).
func (r *Reconstructor) claim() *proc {
	if r.npidle() == 0 {
		return nil
	}
	var top *proc
	for i := range r.ps {
		p := &r.ps[i]
		if p.known && !p.running && !p.claimed && int(p.id) < r.procs && (top == nil || p.since > top.since) {
			top = p
		}
	}
	if top == nil {
		r.claims.all++
		r.claims.unnamed++
		return nil
	}
	r.claimP(top)
	return top
}

// claimP takes p out of the list of idle Ps.
func (r *Reconstructor) claimP(p *proc) {
	if !p.claimed && int(p.id) < r.procs {
		p.claimed = true
		r.claims.all++
	}
}

// unclaim ends the claim of a P whose thread has come, or that is idle anew.
func (r *Reconstructor) unclaim(p *proc) {
	switch {
	case p.claimed:
		p.claimed, p.waking = false, false
		r.claims.all--
	case !p.known && r.claims.unnamed > 0:
		r.claims.unnamed--
		r.claims.all--
	}
}

// wakep wakes a thread that will look for work, for an idle P, unless another one looks
// for some. own is the P of the caller.
func (r *Reconstructor) wakep(own int32) {
	if r.npidle() == 0 || r.stw.open || r.looks(r.claims.searcher, own) {
		return
	}
	for i := range int32(len(r.ps)) {
		if r.looks(i, own) {
			r.claims.searcher = i
			return
		}
	}
	if p := r.claim(); p != nil {
		p.waking = true
	}
}

// looks says that the thread of a P other than own looks for work, or will when it
// comes (sched.nmspinning).
func (r *Reconstructor) looks(ix, own int32) bool {
	if ix == own || int(ix) >= len(r.ps) {
		return false
	}
	p := &r.ps[ix]
	return p.waking || p.known && p.running && p.g == nobody && int(p.id) < r.procs
}

// looksAgain says that the thread that gives a P up finds work for it at once, when it
// looks at all queues once more.
func (r *Reconstructor) looksAgain(it *item) bool {
	back := r.win.at(it.nextM)
	return back != nil && it.nextM == it.link && back.ev.Time-it.ev.Time < lookAgain
}

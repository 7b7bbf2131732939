package reconstruct

// A P leaves the list of idle ones when a thread is woken for it (pidleget in startm's callers), but
// the trace shows it only when that thread has got a CPU: with more Ps than CPUs, milliseconds later.
// injectglist goes by the list (sched.npidle).

// lookAgain bounds the time from a P's release to the end of its thread's second look at all queues
// (findRunnable), in ns. Half or twice: nothing.
const lookAgain = 3_000

// idlers is the list of idle Ps, of those that events have named, and who is on the way to others.
type idlers struct {
	last      int32 // that went idle: the list is a stack (pidleput, pidleget); nobody if it is empty
	claimed   int   // Ps that have no thread, but are not in the list any more
	unnamed   int   // of them, Ps that no event has named
	searching int   // Ps whose thread looks for work, or will when it comes (sched.nmspinning)
}

// idler is what the list needs of a P.
type idler struct {
	listed        bool
	before, after int32 // in the list, that went idle before and after
	claimed       bool  // no thread, but one is on its way
	waking        bool  // likewise, and that will look for work
	searching     bool  // counted as such
}

// npidle is how many Ps are in the list of idle ones.
func (r *processors) npidle() int { return max(0, r.gomaxprocs-r.busy-r.idle.claimed) }

// claim removes the P that went idle last from the list, for a thread that is woken. It returns its
// index, nobody if there is none that an event has named.
func (r *processors) claim() int32 {
	if r.npidle() == 0 {
		return nobody
	}
	p := r.idle.last
	if p == nobody {
		r.idle.claimed++
		r.idle.unnamed++
	} else {
		r.claimP(p)
	}
	return p
}

// claimP removes a P from the list.
func (r *processors) claimP(p int32) {
	if pp := &r.pStates[p]; pp.listed {
		r.unlist(p)
		pp.claimed = true
		r.idle.claimed++
	}
}

// unclaim ends the claim of a P whose thread has come, or that is idle anew.
func (r *processors) unclaim(pp *proc) {
	switch {
	case pp.claimed:
		pp.claimed, pp.waking = false, false
		r.idle.claimed--
	case !pp.known && r.idle.unnamed > 0:
		r.idle.unnamed--
		r.idle.claimed--
	}
}

// list puts a P into the list.
func (r *processors) list(p int32) {
	pp := &r.pStates[p]
	pp.listed, pp.before, pp.after = true, r.idle.last, nobody
	if pp.before != nobody {
		r.pStates[pp.before].after = p
	}
	r.idle.last = p
}

// unlist removes a P from the list if it is there.
func (r *processors) unlist(p int32) {
	pp := &r.pStates[p]
	if !pp.listed {
		return
	}
	pp.listed = false
	if pp.before != nobody {
		r.pStates[pp.before].after = pp.after
	}
	if pp.after != nobody {
		r.pStates[pp.after].before = pp.before
	} else {
		r.idle.last = pp.before
	}
}

// wakep wakes a thread that will look for work, for an idle P, unless another one looks for some. own
// is the P of the caller.
func (r *processors) wakep(own int32) {
	n := r.idle.searching
	if r.pStates[own].searching {
		n--
	}
	if n > 0 || r.npidle() == 0 || r.stw.open {
		return
	}
	if p := r.claim(); p != nobody {
		pp := &r.pStates[p]
		pp.waking = true
		r.countSearching(pp)
	}
}

// setRunning notes which goroutine a P runs, or nobody.
func (r *processors) setRunning(pp *proc, g int32) {
	pp.g, pp.syscall = g, false
	if g == nobody || pp.searching || pp.waking {
		r.countSearching(pp)
	}
}

// countSearching counts a P as one whose thread looks for work, or does so no more.
func (r *processors) countSearching(pp *proc) {
	is := pp.waking || pp.busy && pp.g == nobody
	if is != pp.searching {
		pp.searching = is
		if is {
			r.idle.searching++
		} else {
			r.idle.searching--
		}
	}
}

// listIdle makes the list anew, after GOMAXPROCS has changed.
func (r *processors) listIdle() {
	r.idle = idlers{last: nobody}
	for i := range r.pStates {
		pp := &r.pStates[i]
		pp.idler = idler{}
		if pp.known && !pp.running && int(pp.id) < r.gomaxprocs {
			r.list(int32(i))
		}
		r.countSearching(pp)
	}
}

// looksAgain reports whether the thread that gives a P up finds work for it at once, when it looks at
// all queues once more.
func (r *lookahead) looksAgain(rec *record) bool {
	back := r.win.at(rec.nextM)
	return back != nil && rec.nextM == rec.link && back.Time-rec.Time < lookAgain
}

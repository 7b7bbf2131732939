package reconstruct

// In the mark phase a quarter of the Ps run dedicated mark workers (gcController.startCycle). A P whose
// turn it is runs one when it looks for work (findRunnableGCWorker); until then, marking threads
// request that a P stop what it runs (enlistWorker), which no event shows.

// marking is what is known of the mark phase: whether the collector wants another dedicated worker.
type marking struct {
	workers   int   // that run
	dedicated int   // of them
	wants     bool  // a dedicated worker, and another one runs
	at        int64 // since when
	sum       int64 // ns for which it did before
}

// wantedFor is for how many ns another worker has been wanted.
func (k *marking) wantedFor(now int64) int64 {
	if k.wants {
		return k.sum + now - k.at
	}
	return k.sum
}

// change notes that a P runs another worker than before, if any. needed is how many dedicated ones the
// collector wants in all.
func (k *marking) change(before, after mark, needed int, now int64) {
	k.count(before, -1)
	k.count(after, 1)
	k.sum, k.at = k.wantedFor(now), now
	k.wants = k.workers > 0 && k.dedicated < needed
}

func (k *marking) count(worker mark, n int) {
	if worker&markWorker != 0 {
		k.workers += n
	}
	if worker&markDedicated != 0 {
		k.dedicated += n
	}
}

// works notes that a P runs a mark worker now, or does no more.
func (r *requests) works(pp *proc, worker mark) {
	needed, _ := r.ahead.rules.MarkWorkers(r.ps.gomaxprocs)
	r.marks.change(pp.worker, worker, needed, r.ahead.time)
	pp.worker = worker
}

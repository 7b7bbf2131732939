package reference

// The operations of runtime/proc.go that move several goroutines at once. Each
// calls moved after each of them, when Queues holds what is queued at that
// moment. How many are moved is said by [Rules] in a run; an observer may know
// better.

// Overflow puts g at the tail of p's full ring: the older half of the ring goes
// to the tail of the global queue, and g behind it (runqputslow). p and g are
// indices, as in [Queues]. moved is called with each goroutine of that half, once
// it is in the global queue; not with g.
func (q *Queues) Overflow(p, g int32, moved func(g int32)) {
	q.outside("Overflow", g)
	half := q.rules.RingSize / 2
	if q.RingLen(p) < half {
		q.violated("Overflow", g)
	}
	for range half {
		x := q.Head(p)
		q.unlink(&q.local[p].ring, x)
		q.PutGlobal(x)
		moved(x)
	}
	q.PutGlobal(g)
}

// Steal removes run, which is in v's ring, from the queues, and moves those in
// front of it to the tail of p's ring: of what a thief takes, it runs the newest
// (runqgrab, runqsteal). p, the thief, v, the victim, and run are indices, as in
// [Queues]. moved is called with each goroutine that is now in p's ring.
func (q *Queues) Steal(p, v, run int32, moved func(g int32)) {
	q.inside("Steal", run, QueueLocal, v)
	for x := q.Head(v); x != run; x = q.Head(v) {
		q.unlink(&q.local[v].ring, x)
		q.PutTail(p, x)
		moved(x)
	}
	q.Remove(run)
}

// TakeBatch removes run, the head of the global queue, from it, and moves the next
// n-1 goroutines of that queue, or all if it has fewer, into p's ring
// (globrunqget until Go 1.24, globrunqgetbatch). They come behind after, a
// goroutine in that ring; with after of [None], to its head. p and the goroutines
// are indices, as in [Queues]. moved is called with each that is now in p's ring.
func (q *Queues) TakeBatch(p, run int32, n int, after int32, moved func(g int32)) {
	q.inside("TakeBatch", run, QueueGlobal, NoP)
	next := q.Next(run)
	q.Remove(run)
	for ; n > 1 && next != None; n-- {
		x := next
		next = q.Next(x)
		q.unlink(&q.global, x)
		q.InsertAfter(p, after, x)
		after = x
		moved(x)
	}
}

// Drain moves p's queue to the tail of the global queue, runnext first, but for
// the newest keep of its ring (runqdrain, which keeps none). moved is called with
// each goroutine that is now in the global queue, by its index.
func (q *Queues) Drain(p int32, keep int, moved func(g int32)) {
	out := func(x int32) {
		q.Remove(x)
		q.PutGlobal(x)
		moved(x)
	}
	if x := q.Runnext(p); x != None {
		out(x)
	}
	for q.RingLen(p) > keep {
		out(q.Head(p))
	}
}

// Destroy moves p's queue to the head of the global queue, where runnext is then
// the first (p.destroy). moved is called with each goroutine that is now in the
// global queue, by its index.
func (q *Queues) Destroy(p int32, moved func(g int32)) {
	for q.Len(p) > 0 {
		x := q.Tail(p)
		if x == None {
			x = q.Runnext(p)
		}
		q.Remove(x)
		q.PutGlobalHead(x)
		moved(x)
	}
}

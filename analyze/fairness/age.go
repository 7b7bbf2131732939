package fairness

// maxAgeBins bounds the curve of the starvation age.
const maxAgeBins = 512

// firstAgeBin is the width that its bins begin with, ns.
const firstAgeBin = 1_000_000

// age follows how long the goroutine has waited that waits longest. Those that
// yielded are left out: they asked for it.
//
// The waiting goroutines form a list through their slots, in the order in which
// they became runnable, so the oldest is its head. While the head stays, the age
// grows with time; so the curve is brought up to date only when the head changes.
type age struct {
	head, tail int32 // slots; 0 is none
	done       int64 // the curve is right up to here
	width      int64
	bin, until int64 // the last one that was written to, and where it ends
	bins       []int64
	max, at    int64
}

// update brings the curve up to now. The head has not changed since.
func (a *age) update(t *table, now int64) {
	from := a.done
	a.done = now
	if a.head == 0 {
		return
	}
	since := t.At(a.head).since
	if v := now - since; v > a.max {
		a.max, a.at = v, now
	}
	if now < a.until { // mostly
		a.bins[a.bin] = max(a.bins[a.bin], now-since)
		return
	}
	for now/a.width >= maxAgeBins {
		a.merge()
	}
	for i := from / a.width; i <= now/a.width; i++ {
		for int64(len(a.bins)) <= i {
			a.bins = append(a.bins, 0)
		}
		a.bins[i] = max(a.bins[i], min((i+1)*a.width, now)-since)
	}
	a.bin = now / a.width
	a.until = (a.bin + 1) * a.width
}

// merge makes the bins twice as wide.
func (a *age) merge() {
	a.width *= 2
	for i := range a.bins {
		if i%2 == 0 {
			a.bins[i/2] = a.bins[i]
		} else {
			a.bins[i/2] = max(a.bins[i/2], a.bins[i])
		}
	}
	a.bins = a.bins[:(len(a.bins)+1)/2]
}

// push appends a goroutine that has become runnable.
func (a *age) push(t *table, slot int32, g *goroutine, now int64) {
	g.aged, g.prev, g.next = true, a.tail, 0
	if a.tail != 0 {
		t.At(a.tail).next = slot
	} else {
		a.update(t, now)
		a.head = slot
	}
	a.tail = slot
}

// remove takes out a goroutine that is in and not runnable any more.
func (a *age) remove(t *table, g *goroutine, now int64) {
	g.aged = false
	if g.prev == 0 {
		a.update(t, now)
		a.head = g.next
	} else {
		t.At(g.prev).next = g.next
	}
	if g.next == 0 {
		a.tail = g.prev
	} else {
		t.At(g.next).prev = g.prev
	}
}

func (a *age) result() Age {
	return Age{MaxNs: a.max, AtNs: a.at, BinNs: a.width, Bins: a.bins}
}

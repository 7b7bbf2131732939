package events

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// thread is an operating-system thread: what runs on it, and how far its events
// are read.
type thread struct {
	id int64

	// What the events so far say; the thread of events without one has neither
	// ever.
	seen bool
	p    int32 // processor or None
	g    int64 // goroutine or None
	slot int32 // the place of the goroutine that was looked up last

	batch     int32  // the next; -1 is none
	lastBatch int32  // while batches are read
	data      []byte // of the present batch
	at        int    // how far it is read
	base      int64  // its time
	last      int64  // time of the event before in it

	// The next event.
	kind byte
	time int64
	args [8]uint64 // 5 at most; the first is the time, as it stands in the trace
}

// lost is a kind of event that no thread writes. It stands for what follows on a thread that can
// not be read.
const lost = 0

// lose makes what follows on the thread lost, from the time of its last event on.
func (t *thread) lose() { t.kind, t.time = lost, t.last }

type readState uint8

const (
	readEvent readState = iota
	readEnd
	readBad
)

// read reads the next event of the thread.
func (t *thread) read(g *generation) readState {
	for t.at == len(t.data) {
		if t.batch < 0 {
			return readEnd
		}
		b := &g.batches[t.batch]
		t.data, t.at, t.batch = g.data[b.from:b.to], 0, b.next
		t.base, t.last = g.nanos(b.time), 0
	}
	if t.last == 0 {
		t.last = t.base
	}
	p, at := t.data, uint(t.at)
	t.kind = p[at]
	args := t.args[:wire.TimedArgs[t.kind]]
	if len(args) == 0 {
		return readBad
	}
	at++
	for i := range args {
		if at >= uint(len(p)) {
			return readBad
		}
		x := uint64(p[at])
		at++
		if x >= 0x80 {
			if at < uint(len(p)) && p[at] < 0x80 {
				x = x&0x7f | uint64(p[at])<<7
				at++
			} else {
				long, n := wire.Uvarint(p[at-1:])
				if n <= 0 {
					return readBad
				}
				x, at = long, at-1+uint(n)
			}
		}
		args[i] = x
	}
	t.at = int(at)
	t.time = g.nanos(t.args[0]) + t.last
	t.last = t.time
	return readEvent
}

// front is the threads that have events left, a heap by the time of the next
// one. Which of equal times comes first is as in the public reader: a binary
// heap in an array whose elements move only past those that are truly later.
type front []head

type head struct {
	time   int64
	thread *thread
}

func (f *front) add(h head) {
	*f = append(*f, h)
	f.up(len(*f) - 1)
}

// up moves an element towards the root and returns where it ends.
func (f front) up(i int) int {
	h := f[i]
	for i > 0 {
		parent := (i - 1) / 2
		if f[parent].time <= h.time {
			break
		}
		f[i] = f[parent]
		i = parent
	}
	f[i] = h
	return i
}

func (f front) down(i int) {
	at, n := uint(i), uint(len(f))
	if at >= n {
		return
	}
	h := f[at]
	for {
		child := 2*at + 1
		if child >= n {
			break
		}
		if other := child + 1; other < n && f[other].time < f[child].time {
			child = other
		}
		c := f[child]
		if c.time >= h.time {
			break
		}
		f[at] = c
		at = child
	}
	f[at] = h
}

// moved puts an element in its place whose time has changed.
func (f front) moved(i int) {
	if i == 0 || f.up(i) == i {
		f.down(i)
	}
}

// remove removes an element: its ancestors move down the way to it, and the
// last element becomes the root.
func (f *front) remove(i int) {
	h := *f
	for i > 0 {
		parent := (i - 1) / 2
		h[i] = h[parent]
		i = parent
	}
	last := len(h) - 1
	h[0] = h[last]
	*f = h[:last]
	f.down(0)
}

func (f front) sort() {
	slices.SortFunc(f, func(a, b head) int { return cmp.Compare(a.time, b.time) })
}

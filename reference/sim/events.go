package sim

// evKind specifies what an event is.
type evKind uint8

const (
	evThread  evKind = iota // thread id takes its next step
	evSysmon                // sysmon wakes up
	evNetwork               // the network answers goroutine id
	evSent                  // what workload.sent has at id arrives
	evArrival               // the next arrival
	evWorld                 // the stopped world starts again
)

// event is something that will happen. An event of a thread or of sysmon is
// void if gen is not its owner's any more: each has one at most.
type event struct {
	at   int64
	seq  uint64 // events of one instant happen in the order of their making
	id   int32
	gen  uint32
	kind evKind
}

// heap is a binary heap of events, the earliest first. A P's timers are one,
// too: there id is the goroutine to wake, and the other fields are not used.
type heap []event

// first returns when the earliest event is due, or 0.
func (h heap) first() int64 {
	if len(h) == 0 {
		return 0
	}
	return h[0].at
}

func (h heap) less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}

func (h *heap) push(e event) {
	*h = append(*h, e)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.less(i, up) {
			break
		}
		a[i], a[up] = a[up], a[i]
		i = up
	}
}

func (h *heap) pop() event {
	a := *h
	top := a[0]
	last := len(a) - 1
	a[0] = a[last]
	a = a[:last]
	*h = a
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return top
		}
		if c+1 < last && a.less(c+1, c) {
			c++
		}
		if !a.less(c, i) {
			return top
		}
		a[i], a[c] = a[c], a[i]
		i = c
	}
}

// after makes thread m take step next in d ns, and nothing before.
func after(s *scheduler, m int32, d int64, next step) {
	t := s.ms[m]
	t.gen++
	t.next, t.due = next, s.now+d
	s.push(t.due, evThread, m, t.gen)
}

package analyze_test

import (
	"fmt"

	"github.com/gmpscope/gmpscope/reference"
)

// oneP is the run queues of a program with one P, by the runtime's rules
// (runqput, runqputslow, findRunnable, globrunqget) in the simplest form: a
// slot and two slices. Only tick%61 at the start is not recorded in a trace.
type oneP struct {
	tick         int
	runnext      []int64 // none or one
	ring, global []int64
	steps        []step // one for each start
	wrong        string // why the order of the starts cannot be this one's
}

// step is how a goroutine was taken, and the queues' lengths afterwards.
type step struct {
	src           reference.Source
	batch         int32
	local, global int32
}

func (s step) String() string {
	return fmt.Sprintf("%v (batch %d), then local %d, global %d", s.src, s.batch, s.local, s.global)
}

func (q *oneP) put(to reference.Queue, g int64) {
	switch to {
	case reference.QueueRunnext:
		out := q.runnext
		q.runnext = []int64{g}
		for _, x := range out {
			q.put(reference.QueueLocal, x)
		}
	case reference.QueueLocal:
		if len(q.ring) < 256 {
			q.ring = append(q.ring, g)
			return
		}
		q.global = append(append(q.global, q.ring[:128]...), g)
		q.ring = append([]int64(nil), q.ring[128:]...)
	case reference.QueueGlobal:
		q.global = append(q.global, g)
	}
}

// dequeue dequeues what the P runs next.
func (q *oneP) dequeue() (g int64, how step) {
	pop := func(l *[]int64) {
		g, *l = (*l)[0], (*l)[1:]
		q.tick++
	}
	switch {
	case q.tick%61 == 0 && len(q.global) > 0:
		how.src, how.batch = reference.SrcGlobalTick, 1
		pop(&q.global)
	case len(q.runnext) > 0:
		how.src = reference.SrcRunnext
		g, q.runnext = q.runnext[0], nil // inherits the slice: no tick
	case len(q.ring) > 0:
		how.src = reference.SrcLocal
		pop(&q.ring)
	case len(q.global) > 0:
		n := min(len(q.global), 128)
		how.src, how.batch = reference.SrcGlobal, int32(n)
		pop(&q.global)
		q.ring = append(q.ring, q.global[:n-1]...)
		q.global = q.global[n-1:]
	default:
		return reference.NoG, how
	}
	how.local, how.global = int32(len(q.runnext)+len(q.ring)), int32(len(q.global))
	return g, how
}

// onlyP checks every decision on a trace with one P against oneP: from the
// first goroutine that main creates, when all queues are empty. Given only
// which goroutine became runnable where, it must start the goroutines in the
// trace's order for at least one phase of the tick; and for one of these
// phases sources, batches and lengths must be those found.
func (s *scenario) onlyP() {
	var models [61]oneP
	for i := range models {
		models[i].tick = i
	}
	var found []reference.Decision // the starts out of a queue
	began := false
	direct := map[int64]bool{}
	for _, d := range s.decisions {
		if !began && d.Kind == reference.KindReady && d.Why == reference.WhyCreate && s.ours(d.G) {
			began = true
			if d.Local != 1 || d.Global != 0 {
				s.Errorf("before main creates its first goroutine all queues must be empty, found %d local, %d global after it", d.Local, d.Global)
			}
		}
		if !began {
			continue
		}
		switch {
		case d.Kind == reference.KindReady && d.To == reference.QueueDirect:
			direct[d.G] = true
		case d.Kind == reference.KindReady:
			for i := range models {
				models[i].put(d.To, d.G)
			}
		case d.Kind == reference.KindStart && direct[d.G]:
			delete(direct, d.G)
			for i := range models {
				models[i].tick++
			}
		case d.Kind == reference.KindStart:
			found = append(found, d)
			for i := range models {
				m := &models[i]
				if m.wrong != "" {
					continue
				}
				locked := d.Flags&reference.FlagLocked != 0
				g, how := m.dequeue()
				if g != d.G {
					m.wrong = fmt.Sprintf("at %d ns goroutine %d (%s) starts, not %d (%s) from %v", d.Time, d.G, s.class[d.G], g, s.class[g], how)
				}
				if locked && how.src == reference.SrcRunnext {
					m.tick++ // the locked thread begins a slice (schedule)
				}
				m.steps = append(m.steps, how)
			}
		}
	}
	var fit []*oneP
	last := &models[0]
	for i := range models {
		m := &models[i]
		if m.wrong == "" {
			fit = append(fit, m)
		} else if len(m.steps) > len(last.steps) {
			last = m
		}
	}
	if len(fit) == 0 {
		s.Errorf("no phase of the 61st tick gives the order of the starts: %s", last.wrong)
		return
	}
	steps := firstErrors{s: s, what: "one P's queues are exactly known"}
	for i, d := range found {
		got := step{d.Src, d.Batch, d.Local, d.Global}
		ok := false
		for _, m := range fit {
			ok = ok || m.steps[i] == got
		}
		if !ok {
			steps.errorf("at %d ns goroutine %d (%s) must come from %v; found: %v (%v)", d.Time, d.G, s.class[d.G], fit[0].steps[i], got, d.Basis)
		}
	}
	steps.done()
}

package sim

import "github.com/gmpscope/gmpscope/reference"

// mid is a thread's ID in decisions; threads count from 1.
func (s *scheduler) mid(m int32) int64 {
	if m == none {
		return reference.NoM
	}
	return int64(m) + 1
}

// emit emits a decision at the present time, with the queues' lengths after it.
// Callers test Options.Emit first where that saves work.
func (s *scheduler) emit(d reference.Decision) {
	if s.o.Emit == nil {
		return
	}
	s.d = d
	if d.P >= 0 {
		s.d.Local = int32(s.q.Len(d.P))
	}
	s.d.Global = int32(s.q.GlobalLen())
	s.workload.emit(&s.d)
}

// emitReady notes that a goroutine is runnable, in p's queue, or in the global
// one or none.
func (s *scheduler) emitReady(g, p, m, by int32, to reference.Queue, why reference.Why) {
	x := &s.gs[g]
	x.readyAt = s.now
	if s.o.Emit == nil {
		return
	}
	d := reference.Decision{Kind: reference.KindReady, G: x.id, Class: x.class, By: reference.NoG, P: p, M: s.mid(m), To: to, Why: why, Victim: reference.NoP, Flags: x.flags}
	if by > 0 {
		d.By = s.gs[by].id
	}
	s.emit(d)
}

func (s *scheduler) emitMove(g, to, from int32, queue reference.Queue, why reference.Why) {
	if s.o.Emit == nil {
		return
	}
	x := &s.gs[g]
	s.emit(reference.Decision{Kind: reference.KindMove, G: x.id, Class: x.class, P: to, Victim: from, M: reference.NoM, To: queue, Why: why, Flags: x.flags})
}

func (s *scheduler) emitExit(g, p, m int32) {
	if s.o.Emit == nil {
		return
	}
	x := &s.gs[g]
	s.emit(reference.Decision{Kind: reference.KindSyscallExit, G: x.id, Class: x.class, P: p, M: s.mid(m), Victim: reference.NoP, Flags: x.flags})
}

func (s *scheduler) emitProcs() {
	s.emit(procsDecision(len(s.ps)))
}

func (s *scheduler) emitWorld(k reference.Kind) {
	if s.o.Emit == nil {
		return
	}
	d := reference.Decision{Kind: k, G: reference.NoG, P: reference.NoP, M: reference.NoM, Victim: reference.NoP}
	if k == reference.KindSTWBegin || k == reference.KindSTWEnd {
		d.Why = reference.WhySTW
	}
	s.emit(d)
}

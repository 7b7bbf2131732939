package legaltest

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/reference"
)

// Statuses of goroutines, as the format has them.
const (
	gRunnable = 1
	gRunning  = 2
	gSyscall  = 3
	gWaiting  = 4
)

// status of a P, as the format has it.
type status uint64

const (
	pRunning   status = 1
	pIdle      status = 2 // and stopped with the world
	pSyscall   status = 3
	pAbandoned        = 4
)

const noThread = ^uint64(0)

// event writes an event of a thread.
func (m *thread) event(kind byte, args ...uint64) {
	if m.p != nil {
		m.announceP(m.p)
	}
	if m.g != nil {
		m.announceG(m.g)
	}
	m.out.Event(m.id, m.now, kind, args...)
}

// announceP emits the status of a P, once a generation.
func (m *thread) announceP(p *proc) {
	if p.gen == m.out.Generation() {
		return
	}
	p.gen, p.seq = m.out.Generation(), 0
	s := p.status
	if s == pSyscall && p.m != m {
		s = pAbandoned
	}
	m.out.Event(m.id, m.now, wire.ProcStatus, uint64(p.id), uint64(s))
}

// announceG emits the status of a goroutine, once a generation.
func (m *thread) announceG(g *goroutine) {
	if g.gen == m.out.Generation() {
		return
	}
	g.gen, g.seq = m.out.Generation(), 0
	on := noThread
	if g.status == gRunning || g.status == gSyscall {
		on = uint64(g.m.id)
	}
	m.out.Event(m.id, m.now, wire.GoStatus, uint64(g.id), on, g.status)
	if g.assists {
		m.out.Event(m.id, m.now, wire.GCMarkAssistActive, uint64(g.id))
	}
}

// newGeneration has the trace begin a generation, after all is said that the old one lacks.
func (m *thread) newGeneration() {
	for _, other := range m.threads {
		if other.p != nil {
			other.announceP(other.p)
		}
		if other.g != nil {
			other.announceG(other.g)
		}
	}
	for _, g := range m.alive {
		m.announceG(g)
	}
	for _, p := range m.ps[:m.procs] {
		m.announceP(p)
	}
	m.out.End()
	m.out.Begin()
	if m.marking {
		m.gcSeq++
		m.event(wire.GCActive, m.gcSeq)
	}
}

func (w *world) end() { w.out.End() }

func (m *thread) traceStart(g *goroutine) {
	m.announceG(g)
	g.seq++
	m.event(wire.GoStart, uint64(g.id), g.seq)
	g.status, g.m, m.g = gRunning, m, g
	m.starts = append(m.starts, Start{g.id, g.src})
}

// traceUnblock makes a goroutine runnable that was blocked.
func (m *thread) traceUnblock(g *goroutine, stack ...string) {
	m.unblock(g)
	m.announceG(g)
	g.seq++
	s := uint64(0)
	if len(stack) > 0 {
		s = m.out.Stack(stack...)
	}
	m.event(wire.GoUnblock, uint64(g.id), g.seq, s)
	g.status, g.src = gRunnable, reference.SrcUnknown
}

// traceStop ends a run of m's goroutine that stays runnable.
func (m *thread) traceStop(reason string, stack ...string) *goroutine {
	g := m.g
	m.event(wire.GoStop, m.out.String(reason), m.out.Stack(stack...))
	g.status, g.m, m.g = gRunnable, nil, nil
	return g
}

// traceBlock ends a run of m's goroutine that blocks.
func (m *thread) traceBlock(at place, reason string, stack ...string) *goroutine {
	g := m.g
	m.event(wire.GoBlock, m.out.String(reason), m.out.Stack(stack...))
	g.status, g.m, m.g = gWaiting, nil, nil
	m.block(g, at)
	return g
}

func (w *world) block(g *goroutine, at place) {
	g.place, g.index = at, len(w.blocked[at])
	w.blocked[at] = append(w.blocked[at], g)
}

func (w *world) unblock(g *goroutine) {
	if g.place == nowhere {
		return
	}
	list := w.blocked[g.place]
	last := list[len(list)-1]
	list[g.index], last.index = last, g.index
	w.blocked[g.place] = list[:len(list)-1]
	g.place = nowhere
}

// take returns the first n goroutines that are blocked there, and they are no more.
func (w *world) take(at place, n int) []*goroutine {
	list := slices.Clone(w.blocked[at][:n])
	for _, g := range list {
		w.unblock(g)
	}
	return list
}

// some returns a goroutine that is blocked there, nil if none is.
func (w *world) some(at place) *goroutine {
	if n := len(w.blocked[at]); n > 0 {
		return w.blocked[at][w.choose(n)]
	}
	return nil
}

func (w *world) newG(k kind, status uint64) *goroutine {
	w.lastG++
	g := &goroutine{id: w.lastG, kind: k, status: status, gen: w.out.Generation(), position: len(w.alive)}
	w.alive = append(w.alive, g)
	return g
}

// traceDestroy ends m's goroutine; the event is its caller's.
func (w *world) remove(g *goroutine) {
	last := w.alive[len(w.alive)-1]
	w.alive[g.position], last.position = last, g.position
	w.alive = w.alive[:len(w.alive)-1]
}

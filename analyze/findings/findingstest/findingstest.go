// Package findingstest builds streams of decisions for the tests of detectors,
// and runs detectors over them. A [Stream] keeps the queues, so that a test only
// says what happens.
package findingstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// Us is a microsecond and Ms a millisecond, in ns: for arguments such as 3*Ms.
const (
	Us = int64(1_000)
	Ms = int64(1_000_000)
)

// Stream is a stream of decisions under construction. It keeps the run queues, so that each
// decision fits those before it. A method adds the decisions of one step of the scheduler at the
// time Now, and returns the Stream, so that calls can be chained. Goroutines are named by ID and
// exist from their first use on; most methods do not check that a step is possible.
type Stream struct {
	Decisions []reference.Decision // so far, in order
	Now       int64                // present time, ns; Pass advances it
	gs        map[int64]*gor
	ps        map[int32]*proc
	global    []int64
}

type gor struct {
	class   int32
	flags   reference.Flags
	readyAt int64
	p       int32 // whose queue, or NoP
	on      int32 // where it runs, or NoP
}

type proc struct {
	runnext int64 // 0: none
	ring    []int64
}

func (p *proc) len() int32 {
	n := int32(len(p.ring))
	if p.runnext != 0 {
		n++
	}
	return n
}

// New returns a Stream that begins at time 0 with GOMAXPROCS procs. Ps 0 to procs-1 have a
// thread and nothing to run.
func New(procs int) *Stream {
	s := &Stream{gs: map[int64]*gor{}, ps: map[int32]*proc{}}
	s.Emit(reference.Decision{Kind: reference.KindProcs, Batch: int32(procs)})
	for p := range procs {
		s.PStart(int32(p))
	}
	return s
}

// Emit adds a decision for which Stream has no method. It sets the time and the lengths of the
// run queues in d; everything else is the caller's, and the queues stay as they are.
func (s *Stream) Emit(d reference.Decision) *Stream {
	d.Time = s.Now
	d.Global = int32(len(s.global))
	if p := s.ps[d.P]; p != nil && d.P >= 0 {
		d.Local = p.len()
	}
	s.Decisions = append(s.Decisions, d)
	return s
}

// emit adds a decision about a goroutine.
func (s *Stream) emit(id int64, d reference.Decision) {
	g := s.g(id)
	d.G, d.Class, d.Flags = id, g.class, g.flags|d.Flags
	s.Emit(d)
}

// leave adds a decision with which a goroutine leaves the P that it runs on.
func (s *Stream) leave(id int64, d reference.Decision) *Stream {
	g := s.g(id)
	d.P, g.on = g.on, reference.NoP
	s.emit(id, d)
	return s
}

func (s *Stream) g(id int64) *gor {
	if s.gs[id] == nil {
		s.gs[id] = &gor{class: 1, p: reference.NoP, on: reference.NoP}
	}
	return s.gs[id]
}

func (s *Stream) p(id int32) *proc {
	if s.ps[id] == nil {
		s.ps[id] = &proc{}
	}
	return s.ps[id]
}

// Class puts the goroutines with the given IDs into a class (a handle), for decisions from now
// on. Goroutines never named here are of class 1.
func (s *Stream) Class(class int32, ids ...int64) *Stream {
	for _, id := range ids {
		s.g(id).class = class
	}
	return s
}

// Flags sets the flags of the goroutines with the given IDs, such as reference.FlagSystem, for
// decisions from now on. It adds no decision.
func (s *Stream) Flags(f reference.Flags, ids ...int64) *Stream {
	for _, id := range ids {
		s.g(id).flags = f
	}
	return s
}

// Pass advances Now by ns nanoseconds.
func (s *Stream) Pass(ns int64) *Stream { s.Now += ns; return s }

// PStart adds the decision with which P p gets a thread.
func (s *Stream) PStart(p int32) *Stream {
	s.p(p)
	return s.Emit(reference.Decision{Kind: reference.KindPStart, P: p})
}

// PStop adds the decision with which P p gives up its thread because there is no work.
func (s *Stream) PStop(p int32) *Stream { return s.PStopFor(p, reference.WhyIdle) }

// PStopFor is PStop for another reason, such as a stop-the-world.
func (s *Stream) PStopFor(p int32, why reference.Why) *Stream {
	return s.Emit(reference.Decision{Kind: reference.KindPStop, P: p, Why: why})
}

func (s *Stream) ready(id int64, p int32, to reference.Queue, why reference.Why) {
	g := s.g(id)
	g.readyAt, g.p = s.Now, p
	s.emit(id, reference.Decision{Kind: reference.KindReady, P: p, To: to, Why: why, Victim: reference.NoP})
}

// Next makes a goroutine runnable in P p's runnext. The one that was there, if any, moves to the
// tail of P p's local run queue.
func (s *Stream) Next(id int64, p int32, why reference.Why) *Stream {
	pp := s.p(p)
	old := pp.runnext
	pp.runnext = id
	if old != 0 {
		pp.ring = append(pp.ring, old)
	}
	s.ready(id, p, reference.QueueRunnext, why)
	if old != 0 {
		s.emit(old, reference.Decision{Kind: reference.KindMove, P: p, Victim: p, To: reference.QueueLocal, Why: reference.WhyDisplaced})
	}
	return s
}

// Local makes a goroutine runnable at the tail of P p's local run queue.
func (s *Stream) Local(id int64, p int32, why reference.Why) *Stream {
	s.p(p).ring = append(s.p(p).ring, id)
	s.ready(id, p, reference.QueueLocal, why)
	return s
}

// Global makes a goroutine runnable at the tail of the global queue.
func (s *Stream) Global(id int64, why reference.Why) *Stream {
	s.global = append(s.global, id)
	s.ready(id, reference.NoP, reference.QueueGlobal, why)
	return s
}

// Start starts a goroutine on P p, taken out of the queue in which it stands: stolen, if that
// is another P's. One that is in no queue is started directly.
func (s *Stream) Start(id int64, p int32) *Stream { return s.StartFrom(id, p, reference.SrcUnknown) }

// StartFrom is Start with src as the source in the decision, whatever queue the goroutine was
// taken from.
func (s *Stream) StartFrom(id int64, p int32, src reference.Source) *Stream {
	g := s.g(id)
	d := reference.Decision{Kind: reference.KindStart, P: p, Victim: reference.NoP, Wait: s.Now - g.readyAt, Basis: reference.Known(reference.Inferred, reference.RuleQueue)}
	switch {
	case g.p == reference.NoP:
		if i := slices.Index(s.global, id); i >= 0 {
			s.global = slices.Delete(s.global, i, i+1)
			d.Src = reference.SrcGlobal
		} else {
			d.Src = reference.SrcDirect
		}
	default:
		q := s.p(g.p)
		if q.runnext == id {
			q.runnext = 0
			d.Src = reference.SrcRunnext
			d.Flags |= reference.FlagInherits
		} else if i := slices.Index(q.ring, id); i >= 0 {
			q.ring = slices.Delete(q.ring, i, i+1)
			d.Src = reference.SrcLocal
		}
		if g.p != p {
			d.Flags &^= reference.FlagInherits
			d.Victim = g.p
			if d.Src == reference.SrcRunnext {
				d.Src = reference.SrcStealRunnext
			} else {
				d.Src = reference.SrcSteal
			}
		}
	}
	if src != reference.SrcUnknown {
		d.Src = src
	}
	g.p, g.on = reference.NoP, p
	s.emit(id, d)
	return s
}

// Stop ends the run interval of a goroutine for a reason, at the stack whose handle is the
// goroutine's ID.
func (s *Stream) Stop(id int64, why reference.Why) *Stream {
	return s.leave(id, reference.Decision{Kind: reference.KindStop, Why: why, Stack: int32(id)})
}

// Block ends the run interval of a goroutine, which blocks for reason r, at the stack whose
// handle is the goroutine's ID.
func (s *Stream) Block(id int64, r reference.Reason) *Stream { return s.BlockAt(id, r, int32(id)) }

// BlockAt is Block at the stack with the given handle.
func (s *Stream) BlockAt(id int64, r reference.Reason, stack int32) *Stream {
	return s.leave(id, reference.Decision{Kind: reference.KindStop, Why: reference.WhyBlock, Reason: r, Stack: stack})
}

// Wake has the running goroutine by wake the goroutine id, which goes into the runnext of by's P.
func (s *Stream) Wake(id, by int64) *Stream {
	return s.readyBy(id, by, reference.WhyUnblock)
}

// Create has the running goroutine by create the goroutine id, which goes into the runnext of
// by's P.
func (s *Stream) Create(id, by int64) *Stream {
	return s.readyBy(id, by, reference.WhyCreate)
}

func (s *Stream) readyBy(id, by int64, why reference.Why) *Stream {
	n := len(s.Decisions)
	s.Next(id, s.g(by).on, why)
	s.Decisions[n].By, s.Decisions[n].Stack = by, int32(by)
	return s
}

// Syscall has a running goroutine enter a system call, in which it keeps its P.
func (s *Stream) Syscall(id int64) *Stream {
	s.emit(id, reference.Decision{Kind: reference.KindSyscall, P: s.g(id).on, Why: reference.WhySyscall, Stack: int32(id)})
	return s
}

// SyscallExit has a goroutine come back from a system call and go on with the P that it kept.
// After a Retake it has none: make it runnable next, as by Global.
func (s *Stream) SyscallExit(id int64) *Stream {
	s.emit(id, reference.Decision{Kind: reference.KindSyscallExit, P: s.g(id).on})
	return s
}

// Retake removes the P from a goroutine in a system call, for a reason. The call goes on.
func (s *Stream) Retake(id int64, why reference.Why) *Stream {
	g := s.g(id)
	s.Emit(reference.Decision{Kind: reference.KindRetake, G: id, P: g.on, Why: why})
	g.on = reference.NoP
	return s
}

// Run is Start on P p, Pass of ns nanoseconds, and Stop for a reason.
func (s *Stream) Run(id int64, p int32, ns int64, why reference.Why) *Stream {
	return s.Start(id, p).Pass(ns).Stop(id, why)
}

// Preempt stops a running goroutine at the end of its time slice and puts it at the tail of the
// global queue.
func (s *Stream) Preempt(id int64) *Stream {
	s.Emit(reference.Decision{Kind: reference.KindPreempt, G: id, P: s.g(id).on, Why: reference.WhySlice})
	return s.Stop(id, reference.WhySlice).Global(id, reference.WhySlice)
}

// Facts returns the Facts of an undamaged trace that ends at Now. Class 3 has start function
// main.class3, and the stack with handle 3 is main.f3 (main.go:3).
func (s *Stream) Facts() *findings.Facts {
	return &findings.Facts{
		EndNs:     s.Now,
		ClassName: func(c int32) (string, string) { return fmt.Sprintf("main.class%d", c), "main.main" },
		Label:     func(h int32) string { return fmt.Sprintf("label %d", h) },
		Stack:     func(h int32) []string { return []string{fmt.Sprintf("main.f%d (main.go:%d)", h, h)} },
	}
}

// Detect runs one detector over the stream and returns its findings, ranked, with s.Facts().
func (s *Stream) Detect(d findings.Detector) []findings.Finding { return s.DetectWith(d, s.Facts()) }

// DetectWith is Detect with facts f, which the detector's Set completes.
func (s *Stream) DetectWith(d findings.Detector, f *findings.Facts) []findings.Finding {
	set := findings.NewSet([]findings.Detector{d})
	ledger.NewFeed(set.Add).AddAll(s.Decisions)
	return set.Finish(f)
}

// One returns the only finding in list. The test fails unless there is exactly one, of the
// detector id, at least as severe as least, with title, basis, evidence, advice and a window.
func One(t *testing.T, list []findings.Finding, id string, least findings.Severity) findings.Finding {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%d findings, want one:\n%s", len(list), Text(list))
	}
	x := list[0]
	if x.ID != id || !x.Severity.AtLeast(least) {
		t.Errorf("%s %s, want %s of at least %s\n%s", x.ID, x.Severity, id, least, Text(list))
	}
	if len(x.Title) == 0 || x.Basis == "" || len(x.Evidence) == 0 || len(x.Advice) == 0 || x.ToNs < x.FromNs {
		t.Errorf("incomplete:\n%s", Text(list))
	}
	typed(t, &x)
	return x
}

// typed fails the test if a text of a finding has the name of an actor among its words: reports could not
// shorten it.
func typed(t *testing.T, x *findings.Finding) {
	t.Helper()
	texts := append([]findings.Text{x.Headline, x.Title}, x.Advice...)
	for _, e := range x.Evidence {
		texts = append(texts, e.What, e.Value, e.Limit)
	}
	for _, text := range texts {
		for _, p := range text {
			for _, a := range x.Actors {
				if name := findings.Short(a.Class); p.Kind == findings.Words && strings.HasPrefix(name, "main.") && strings.Contains(p.Text, name) {
					t.Errorf("%q has %s among its words: say it with a findings.Name", text, name)
				}
			}
		}
	}
}

// None fails the test if there is any finding in list.
func None(t *testing.T, list []findings.Finding) {
	t.Helper()
	if len(list) > 0 {
		t.Errorf("findings, want none:\n%s", Text(list))
	}
}

// Text returns the findings with their actors and evidence, some lines for each, for messages of
// tests.
func Text(list []findings.Finding) string {
	out := ""
	for _, x := range list {
		out += fmt.Sprintf("%s %s (%s): %s [cost %s, %s to %s]\n", x.ID, x.Severity, x.Basis, x.Title, quantity.Duration(x.CostNs), quantity.Duration(x.FromNs), quantity.Duration(x.ToNs))
		for _, a := range x.Actors {
			out += fmt.Sprintf("    %s %s (%s) g%d p%d %v\n", a.Role, a.Class, a.Creator, a.G, a.P, a.Stack)
		}
		for _, e := range x.Evidence {
			out += fmt.Sprintf("    %s: %s [%s]\n", e.What, e.Value, e.Limit)
		}
	}
	return out
}

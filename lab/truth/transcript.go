package truth

import "slices"

// A transcript is the recording by goroutine: what made it runnable, who took
// it from where, when it started.
type transcript struct {
	starts   map[int64][]episode    // by goroutine, in order
	tail     map[int64]string       // where a goroutine went that was made runnable and never started again
	preempts map[int64][]preemption // by goroutine, in order
	other    []Line                 // T is the time of the recording's clock
	noTake   int                    // starts without any record of where they came from
}

// An episode ends with a start.
type episode struct {
	start  Record
	src    string
	victim int64
	batch  int64
	locked bool
	ready  string // queue the goroutine went to when it became runnable
}

type preemption struct {
	rec  Record // TracePreempt
	why  string
	also []string
}

// What is known of a goroutine between two starts.
type progress struct {
	queued         bool
	ready          string
	take           Record // Kind 0: none
	locked         bool
	stopRequesters []string // who asked it to stop since it started
}

// A request to stop what runs on a P.
type request struct {
	cause string
	when  int64
}

// stray is how long a preemption signal can be under way, in ns.
const stray = 10_000_000

// What a thread is about to do.
type doing struct {
	preemptOne, preemptAll int // callers
	handoff                int
	every                  string // purpose of the current visit of all Ps
	leaving                int64  // 1 + index in preempts of the goroutine that stops now
	leavingG               int64
	lastHandoff            int // 1 + index in other
	grabNext               int64
}

// The words of the contract for where a start took its goroutine from.
const (
	srcRunnext      = "runnext"
	srcLocal        = "local"
	srcGlobal       = "global"
	srcTick         = "global-tick"
	srcSteal        = "steal"
	srcStealRunnext = "steal-runnext"
	srcNetpoll      = "netpoll"
	srcGCWorker     = "gc-worker"
	srcTraceReader  = "trace-reader"
	srcSyscallExit  = "syscall-exit"
	srcCoroutine    = "coroutine"
	srcDirect       = "direct"
	srcUnknown      = "unknown"
)

// Where a goroutine goes that becomes runnable.
const (
	toRunnext = "runnext"
	toLocal   = "local"
	toGlobal  = "global"
	toDirect  = "direct"
)

var tookSource = map[Kind]string{
	TookRunnext: srcRunnext, TookLocal: srcLocal, TookGlobal: srcGlobal, TookTick: srcTick, TookSteal: srcSteal,
	TookNetpoll: srcNetpoll, TookGCWorker: srcGCWorker, TookReader: srcTraceReader, TookExit: srcSyscallExit,
	TookDirect: srcDirect,
}

var putTarget = map[Kind]string{PutRunnext: toRunnext, PutLocal: toLocal, PutStolen: toLocal, PutGlobal: toGlobal}

var siteName = map[int]string{
	siteRetake: "sysmon", siteForEachP: "forEachP", siteBlock: "syscall-block", siteLocked: "locked", siteExit: "thread-exit",
}

var stealName = [...]string{bySysmon: "sysmon", byExit: "syscall-exit", bySTW: "stw", byForEachP: "forEachP"}

var visitName = [...]string{whyOther: "other", whyGeneration: "generation-switch", whyGC: "gc"}

// newTranscript reads the records of one program.
func newTranscript(recs []Record) *transcript {
	s := &transcript{
		starts:   make(map[int64][]episode),
		tail:     make(map[int64]string),
		preempts: make(map[int64][]preemption),
	}
	gs := make(map[int64]*progress)
	ms := make(map[uint32]*doing)
	ps := make(map[int32]request)
	for _, r := range recs {
		m := ms[r.M]
		if m == nil {
			m = new(doing)
			ms[r.M] = m
		}
		g := gs[r.G]
		if g == nil {
			g = new(progress)
			gs[r.G] = g
		}
		switch r.Kind {
		case PutRunnext, PutLocal, PutStolen, PutGlobal:
			// The first put makes it runnable; further ones move it along.
			if !g.queued {
				g.queued, g.ready, g.take, g.locked = true, putTarget[r.Kind], Record{}, false
			} else {
				s.other = append(s.other, move(r, putTarget[r.Kind], r.P))
			}
		case TookRunnext, TookLocal, TookGlobal, TookTick, TookSteal, TookNetpoll, TookGCWorker, TookReader, TookExit, TookDirect:
			if !g.queued {
				g.ready = toDirect
			} else {
				s.other = append(s.other, move(r, toDirect, r.P))
			}
			g.queued, g.take, g.locked = false, r, false
			if r.Kind == TookSteal {
				g.take.Flag = 0
				if m.grabNext == r.G {
					g.take.Flag = 1
				}
				l := at("steal", r)
				l.G = r.G
				l.Victim, l.Batch = int64(uint32(r.Arg)), int64(r.Arg>>32)
				l.Src = srcSteal
				if g.take.Flag == 1 {
					l.Src = srcStealRunnext
				}
				s.other = append(s.other, l)
			}
		case LockedHand:
			g.locked = true
		case Start:
			s.starts[r.G] = append(s.starts[r.G], s.finish(r, g))
			*g = progress{}
		case Grab:
			s.other = append(s.other, move(r, toDirect, none))
			m.grabNext = 0
			if r.Flag == 1 {
				m.grabNext = r.G
			}
		case Overflow:
			l := at("overflow", r)
			l.G, l.Batch = r.G, int64(r.Arg)
			s.other = append(s.other, l)
		case Drain:
			if r.LL > 0 {
				s.other = append(s.other, at("drain", r))
			}
		case ProcSteal:
			l := at("retake", r)
			l.By = stealName[r.Flag]
			s.other = append(s.other, l)
		case CallSite:
			switch site := int(r.Arg); site {
			case siteRetake:
				m.preemptOne, m.handoff = site, site
			case sitePreemptAll, siteEnlist:
				m.preemptOne = site
			case siteSTW, siteFreeze:
				m.preemptAll = site
			case siteForEachP:
				m.preemptAll, m.handoff = site, site
			default:
				m.handoff = site
			}
		case ForEachP:
			m.every = visitName[r.Arg]
		case Handoff:
			l := at("handoff", r)
			l.By = siteName[m.handoff]
			l.Started = new(bool)
			s.other = append(s.other, l)
			m.lastHandoff = len(s.other)
		case HandoffStart:
			if m.lastHandoff != 0 {
				*s.other[m.lastHandoff-1].Started = true
			}
		case PreemptRequest:
			cause := m.cause()
			if !slices.Contains(g.stopRequesters, cause) {
				g.stopRequesters = append(g.stopRequesters, cause)
			}
			ps[r.P] = request{cause, r.When}
		case TracePreempt:
			s.preempts[r.G] = append(s.preempts[r.G], preemption{rec: r, why: "other"})
			m.leaving, m.leavingG = int64(len(s.preempts[r.G])), r.G
		case Goyield:
			if m.leaving != 0 && m.leavingG == r.G {
				s.preempts[r.G][m.leaving-1].why = "goyield"
			}
			m.leaving = 0
		case Gosched:
			if m.leaving != 0 && m.leavingG == r.G {
				p := &s.preempts[r.G][m.leaving-1]
				p.why, p.also = preemptionCause(r, g.stopRequesters)
				// A signal meant for the goroutine before hits its successor.
				if q := ps[r.P]; p.why == "other" && q.cause != "" && r.When-q.when < stray {
					p.why = q.cause
				}
			}
			m.leaving = 0
			g.stopRequesters = nil
		}
	}
	for id, g := range gs {
		if g.queued {
			s.tail[id] = g.ready
		}
	}
	return s
}

// cause reports on whose behalf the thread calls preemptone.
func (m *doing) cause() string {
	switch m.preemptOne {
	case siteRetake:
		return "slice"
	case siteEnlist:
		return "gc"
	case sitePreemptAll:
		switch m.preemptAll {
		case siteSTW:
			return "stw"
		case siteForEachP:
			return m.every
		}
	}
	return "other"
}

// preemptionCause names the cause of a preemption. A request is anonymous, so when
// several are open the first one counts; but a stop of the world that already
// waits decides where the goroutine goes (Go 1.26 and later), so it comes first.
func preemptionCause(r Record, asked []string) (why string, also []string) {
	if r.Flag&2 != 0 {
		why = "stw"
	} else if len(asked) > 0 {
		why = asked[0]
	} else {
		why = "other"
	}
	for _, a := range asked {
		if a != why {
			also = append(also, a)
		}
	}
	return why, also
}

// finish turns what is known of a goroutine into the episode that r ends.
func (s *transcript) finish(r Record, g *progress) episode {
	e := episode{start: r, victim: none, batch: none, locked: g.locked, ready: g.ready}
	if r.Flag == 1 {
		e.src, e.ready, e.locked = srcCoroutine, toDirect, false
		return e
	}
	e.src = tookSource[g.take.Kind]
	switch g.take.Kind {
	case 0:
		e.src = srcUnknown
		s.noTake++
	case TookSteal:
		e.victim, e.batch = int64(uint32(g.take.Arg)), int64(g.take.Arg>>32)
		if g.take.Flag == 1 {
			e.src = srcStealRunnext
		}
	case TookGlobal:
		e.batch = int64(g.take.Arg)
	}
	if e.ready == "" {
		e.ready = toDirect
	}
	return e
}

// move returns a line for a goroutine that goes, still runnable, to a queue of P
// p, or into the hands of a thread.
func move(r Record, to string, p int32) Line {
	l := newLine("move")
	l.T, l.G, l.M, l.To = r.When, r.G, int64(r.M), to
	if to != toGlobal {
		l.P = int64(p)
	}
	return l
}

// at returns a line for something that a record says about its P.
func at(k string, r Record) Line {
	l := newLine(k)
	l.T, l.M = r.When, int64(r.M)
	if r.P >= 0 {
		l.P, l.LL = int64(r.P), int64(r.LL)
	}
	l.GL = int64(r.GL)
	return l
}

package lockconvoy_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	lockconvoy "github.com/gmpscope/gmpscope/analyze/findings/lock-convoy"
	"github.com/gmpscope/gmpscope/reference"
)

func detector() findings.Detector { return lockconvoy.New(lockconvoy.Default()) }

// The stacks of the streams below.
const (
	lock = int32(7)
	read = int32(8)
)

func facts(s *Stream, locks string) *findings.Facts {
	f := s.Facts()
	f.Stack = func(h int32) []string {
		switch h {
		case lock:
			return []string{locks + " (mutex.go:46)", "main.update (main.go:7)", "main.client (main.go:3)"}
		case read:
			return []string{"time.Sleep (time.go:1)", "main.update (main.go:8)", "main.client (main.go:3)"}
		}
		return []string{"sync.(*Mutex).Unlock (mutex.go:65)", "main.update (main.go:9)", "main.client (main.go:3)"}
	}
	return f
}

func detect(s *Stream) []findings.Finding {
	return s.DetectWith(detector(), facts(s, "sync.(*Mutex).Lock"))
}

// wait has a running goroutine block for the lock.
func wait(s *Stream, g int64) {
	s.Block(g, reference.ReasonSync)
	s.Decisions[len(s.Decisions)-1].Stack = lock
}

// line has goroutines 1 to n pass a lock round and round: each holds it, as hold
// says, and then wakes the next. It yields to it where handOff says so.
func line(n, rounds int64, hold func(s *Stream, g int64), handOff bool) *Stream {
	s := New(2)
	for g := int64(1); g <= n; g++ {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0)
		if g < n {
			wait(s, g)
		}
	}
	holder := n
	for range rounds {
		next := holder%n + 1
		hold(s, holder)
		s.Wake(next, holder)
		if handOff {
			s.Stop(holder, reference.WhyGoyield).Local(holder, 0, reference.WhyGoyield)
			s.Start(next, 0)
			s.Start(holder, 1)
			wait(s, holder)
		} else {
			wait(s, holder)
			s.Start(next, 0)
		}
		holder = next
	}
	return s
}

func runs(ns int64) func(*Stream, int64) { return func(s *Stream, g int64) { s.Pass(ns) } }

func TestFindsALineForALock(t *testing.T) {
	x := One(t, detect(line(4, 400, runs(Ms), true)), lockconvoy.ID, findings.Critical)
	// The first three waited for 1, 2 and 3 ms, the others for 3 ms.
	if want := (1 + 2 + 398*3) * Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Basis != findings.Inferred || x.Actors[0].Role != findings.Victim || !strings.Contains(x.Actors[0].Stack[0], "Lock") ||
		x.Actors[1].Role != findings.Cause || !strings.Contains(x.Actors[1].Stack[0], "Unlock") {
		t.Errorf("%s %+v", x.Basis, x.Actors)
	}
	text := Text([]findings.Finding{x})
	for _, want := range []string{"main.update, called by main.class1, holds a lock for up to 1 ms at a time: 400 waits", "until nobody waited: 400", "(goyield): 400", "its holder ran: 100 %", "on average: 2.99"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(x.Advice[0].String(), "shorter") {
		t.Error(x.Advice[0])
	}
}

// Where the holder sleeps, and its timer fires only when somebody else leaves the P, that one is
// named; not where the P had nothing else to run.
func TestNamesWhoKeepsTheHoldersTimer(t *testing.T) {
	const other = int64(50)
	for busy, want := range map[int64]string{
		2 * Ms:   "Begin with main.update (run by main.class2): split its long runs",
		600 * Us: "Do not hold the lock across something slow, as main.update does",
	} {
		x := One(t, detect(line(4, 100, func(s *Stream, g int64) {
			s.Class(2, other).Pass(100*Us).Block(g, reference.ReasonSleep)
			s.Decisions[len(s.Decisions)-1].Stack = read
			s.Pass(2*Ms-busy).Local(other, 0, reference.WhyTimer).Start(other, 0).Pass(busy).Block(other, reference.ReasonChanReceive)
			s.Local(g, 0, reference.WhyTimer).Start(g, 0)
		}, false)), lockconvoy.ID, findings.Critical)
		if !strings.HasPrefix(x.Advice[0].String(), want) {
			t.Errorf("%d: %s", busy, x.Advice[0])
		}
		if named := strings.Contains(x.Title.String(), "asleep until main.update (run by main.class2) has left a P"); named != (busy == 2*Ms) {
			t.Errorf("%d: %s", busy, x.Title)
		}
	}
}

// Who holds a lock may take others meanwhile, and pass them to those that came later.
func TestOtherLocksMeanwhile(t *testing.T) {
	const other, inner, flush = int64(50), int32(20), int32(21)
	s := line(4, 100, func(s *Stream, g int64) {
		s.Pass(2*Ms).Class(2, other).Local(other, 1, reference.WhyTimer).Start(other, 1).BlockAt(other, reference.ReasonSync, inner)
		s.Pass(100*Us).Wake(other, g)
		s.Decisions[len(s.Decisions)-1].Stack = flush
		s.Start(other, 1).Block(other, reference.ReasonSleep).Pass(100 * Us)
	}, false)
	f := facts(s, "sync.(*Mutex).Lock")
	of := f.Stack
	f.Stack = func(h int32) []string {
		switch h {
		case inner:
			return []string{"sync.(*Mutex).Lock (mutex.go:46)", "main.log (main.go:21)"}
		case flush:
			return []string{"sync.(*Mutex).Unlock (mutex.go:65)", "main.flush (main.go:22)", "main.update (main.go:9)", "main.client (main.go:3)"}
		}
		return of(h)
	}
	x := One(t, s.DetectWith(detector(), f), lockconvoy.ID, findings.Critical)
	if want := "main.update, called by main.class1, holds a lock for up to 2.2 ms at a time: 100 waits"; !strings.HasPrefix(x.Title.String(), want) {
		t.Errorf("%s, want %s", x.Title, want)
	}
}

func TestNamesWhatTheLockIsHeldAcross(t *testing.T) {
	sleeps := func(s *Stream, g int64) {
		s.Pass(100*Us).Block(g, reference.ReasonSleep)
		s.Decisions[len(s.Decisions)-1].Stack = read
		s.Pass(2*Ms).Local(g, 0, reference.WhyTimer).Start(g, 0)
	}
	x := One(t, detect(line(4, 100, sleeps, false)), lockconvoy.ID, findings.Critical)
	text := Text([]findings.Finding{x})
	if !strings.Contains(text, "mostly for: sleep: 95 %") || !strings.Contains(text, "its holder ran: 4.7") {
		t.Error(text)
	}
	if !strings.Contains(x.Actors[1].Stack[0], "Sleep") || !strings.Contains(x.Advice[0].String(), "slow") {
		t.Errorf("%v %v", x.Actors, x.Advice)
	}
	calls := func(s *Stream, g int64) {
		s.Pass(100 * Us).Syscall(g)
		s.Decisions[len(s.Decisions)-1].Stack = read
		s.Pass(2 * Ms).SyscallExit(g)
	}
	x = One(t, detect(line(4, 100, calls, false)), lockconvoy.ID, findings.Critical)
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "in a system call: 95 %") || !strings.Contains(x.Actors[1].Stack[0], "Sleep") || !strings.Contains(x.Advice[0].String(), "slow") {
		t.Error(text)
	}
}

// What a holder did before its last block counts, too.
func TestHoldersThatWaitAgainAndAgain(t *testing.T) {
	asks := func(s *Stream, g int64) {
		for range 5 {
			s.Pass(100*Us).Block(g, reference.ReasonSelect)
			s.Decisions[len(s.Decisions)-1].Stack = read
			s.Pass(Ms).Local(g, 0, reference.WhyNetwork).Start(g, 0)
		}
	}
	x := One(t, detect(line(4, 100, asks, false)), lockconvoy.ID, findings.Critical)
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "mostly for: select: 90 %") || !strings.Contains(x.Title.String(), "blocked in a select meanwhile") || !strings.Contains(x.Advice[0].String(), "slow") {
		t.Error(text, x.Advice)
	}
	preempted := func(s *Stream, g int64) {
		for range 5 {
			s.Pass(100*Us).Preempt(g).Pass(Ms).Start(g, 0)
		}
	}
	x = One(t, detect(line(4, 100, preempted, false)), lockconvoy.ID, findings.Critical)
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "waited for a P: 90 %") || !strings.Contains(x.Advice[0].String(), "waits for a P") {
		t.Error(text, x.Advice)
	}
}

// Who holds the lock may have begun to block before somebody waited for it, or have run then,
// and be preempted since: that is known of its only hold, too.
func TestHeldOnce(t *testing.T) {
	run := func(before, after func(*Stream)) findings.Finding {
		s := New(2)
		s.Local(9, 1, reference.WhyCreate).Start(9, 1).Pass(Ms)
		before(s)
		for g := int64(1); g <= 4; g++ {
			s.Local(g, 0, reference.WhyTimer).Start(g, 0)
			wait(s, g)
		}
		after(s)
		for g := int64(1); g <= 4; g++ {
			s.Wake(g, 9)
		}
		for g := int64(1); g <= 4; g++ {
			s.Start(g, 0).Pass(Us).Block(g, reference.ReasonSleep)
		}
		return One(t, detect(s.Pass(Ms)), lockconvoy.ID, findings.Note)
	}
	x := run(
		func(s *Stream) { s.Block(9, reference.ReasonNetwork).Pass(5 * Ms) },
		func(s *Stream) { s.Pass(20*Ms).Local(9, 1, reference.WhyNetwork).Start(9, 1).Pass(100 * Us) })
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "mostly for: network: 99.5 %") || !strings.Contains(x.Title.String(), "blocked on the network meanwhile") {
		t.Error(text, x.Title)
	}
	x = run(
		func(s *Stream) { s.Pass(5 * Ms) },
		func(s *Stream) { s.Pass(10*Ms).Preempt(9).Pass(5*Ms).Start(9, 1).Pass(5 * Ms) })
	if len(x.Actors) != 2 {
		t.Errorf("%d actors, want a victim and a holder", len(x.Actors))
	}
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "its holder ran: 75 %") || !strings.Contains(text, "waited for a P: 25 %") {
		t.Error(text)
	}
}

// Who holds the lock never waited for it: from its second hold on, what it does is counted since
// the first one began to wait.
func TestHoldersThatNeverWait(t *testing.T) {
	run := func(hold func(*Stream)) findings.Finding {
		s := New(2)
		s.Local(9, 1, reference.WhyCreate).Start(9, 1)
		for range 20 {
			for g := int64(1); g <= 4; g++ {
				s.Local(g, 0, reference.WhyTimer).Start(g, 0)
				wait(s, g)
			}
			for range 5 {
				hold(s)
			}
			for g := int64(1); g <= 4; g++ {
				s.Wake(g, 9)
			}
			for g := int64(1); g <= 4; g++ {
				s.Start(g, 0).Pass(Us).Block(g, reference.ReasonSleep)
			}
			s.Pass(Ms)
		}
		return One(t, detect(s), lockconvoy.ID, findings.Warning)
	}
	x := run(func(s *Stream) {
		s.Pass(100*Us).Block(9, reference.ReasonSelect).Pass(2*Ms).Local(9, 1, reference.WhyUnblock).Start(9, 1)
	})
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "mostly for: select: 9") || !strings.Contains(x.Title.String(), "blocked in a select meanwhile") || !strings.Contains(x.Advice[0].String(), "slow") {
		t.Error(text, x.Advice)
	}
	x = run(func(s *Stream) {
		s.Pass(100*Us).Stop(9, reference.WhyGosched).Local(9, 1, reference.WhyGosched).Pass(2*Ms).Start(9, 1)
	})
	if text := Text([]findings.Finding{x}); !strings.Contains(x.Title.String(), "without a P after runtime.Gosched for most of it") || !strings.Contains(x.Advice[0].String(), "Do not call runtime.Gosched in main.update") {
		t.Error(text, x.Advice)
	}
}

func TestHoldersWithoutAP(t *testing.T) {
	preempted := func(s *Stream, g int64) {
		s.Pass(100*Us).Preempt(g).Pass(5*Ms).Start(g, 0)
	}
	x := One(t, detect(line(4, 100, preempted, false)), lockconvoy.ID, findings.Critical)
	if text := Text([]findings.Finding{x}); !strings.Contains(text, "waited for a P: 98 %") || !strings.Contains(x.Advice[0].String(), "waits for a P") {
		t.Error(text, x.Advice)
	}
}

func TestNearMisses(t *testing.T) {
	d := detector()
	for name, s := range map[string]*Stream{
		"short waits":  line(4, 2000, runs(333*Us), true),
		"two in a row": gaps(2, 100),
	} {
		if list := s.DetectWith(d, facts(s, "sync.(*Mutex).Lock")); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
	s := gaps(3, 100)
	One(t, detect(s), lockconvoy.ID, findings.Warning)
	for _, other := range []string{"sync.(*WaitGroup).Wait", "runtime.semacquire", "main.wait"} {
		s := line(4, 400, runs(Ms), false)
		None(t, s.DetectWith(d, facts(s, other)))
	}
	for _, meant := range []string{"sync.(*Once).doSlow", "sync.(*Cond).Wait"} {
		s := line(4, 400, runs(Ms), false)
		f := facts(s, "sync.(*Mutex).Lock")
		all := f.Stack
		f.Stack = func(h int32) []string {
			return append(append([]string{}, all(h)[0], meant+" (x.go:1)"), all(h)[1:]...)
		}
		None(t, s.DetectWith(d, f))
	}
}

// gaps has n goroutines wait for one that holds the lock for 2 ms, and then get
// it one after the other; then all are away for a while.
func gaps(n, rounds int64) *Stream {
	s := New(2)
	for range rounds {
		for g := int64(1); g <= n; g++ {
			s.Local(g, 0, reference.WhyTimer).Start(g, 0)
			wait(s, g)
		}
		s.Local(9, 0, reference.WhyTimer).Start(9, 0).Pass(2 * Ms)
		by := int64(9)
		for g := int64(1); g <= n; g++ {
			s.Wake(g, by).Block(by, reference.ReasonSleep).Start(g, 0).Pass(10 * Us)
			by = g
		}
		s.Block(by, reference.ReasonSleep).Pass(3 * Ms)
	}
	return s
}

// Who is woken and finds the lock taken goes on waiting.
func TestAttemptsInVainAreOneWait(t *testing.T) {
	s := New(2)
	for g := int64(1); g <= 4; g++ {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0)
		wait(s, g)
	}
	s.Class(3, 9).Local(9, 1, reference.WhyCreate).Start(9, 1)
	for i := range int64(2000) {
		g := 1 + i%4
		s.Pass(200*Us).Wake(g, 9).Start(g, 0).Pass(2 * Us)
		wait(s, g)
	}
	x := One(t, detect(s), lockconvoy.ID, findings.Critical)
	if x.CostNs < 4*390*Ms || x.CostNs > 4*410*Ms {
		t.Errorf("cost %d", x.CostNs)
	}
}

// Without names only the hand-overs of starvation mode show that it is a lock.
func TestWithoutStacks(t *testing.T) {
	s := line(4, 400, runs(Ms), true)
	f := s.Facts()
	f.Stack = nil
	One(t, s.DetectWith(detector(), f), lockconvoy.ID, findings.Warning)
	s = line(4, 400, runs(Ms), false)
	f = s.Facts()
	f.Stack = nil
	None(t, s.DetectWith(detector(), f))
}

// The readers that one Unlock lets in stood in line behind the writer.
func TestReadersBehindASlowWriter(t *testing.T) {
	run := func(readers int64) *Stream {
		s := New(2).Class(2, 9).Local(9, 1, reference.WhyCreate).Start(9, 1)
		for range 100 {
			for g := range readers {
				s.Local(1+g, 0, reference.WhyTimer).Start(1+g, 0)
				wait(s, 1+g)
			}
			s.Pass(2 * Ms)
			for g := range readers {
				s.Wake(1+g, 9)
			}
			for g := range readers {
				s.Start(1+g, 0).Pass(Us).Block(1+g, reference.ReasonSleep)
			}
			s.Pass(Ms)
		}
		return s
	}
	d := detector()
	s := run(5)
	x := One(t, s.DetectWith(d, facts(s, "sync.(*RWMutex).RLock")), lockconvoy.ID, findings.Warning)
	if want := 100 * 5 * 2 * Ms; x.CostNs != want || x.Actors[1].Class != "main.class2" {
		t.Errorf("cost %d, want %d; %+v", x.CostNs, want, x.Actors)
	}
	s = run(2)
	None(t, s.DetectWith(d, facts(s, "sync.(*RWMutex).RLock")))
}

func TestStrainedOrShortIsMilder(t *testing.T) {
	if x := One(t, detect(line(4, 60, runs(Ms), true)), lockconvoy.ID, findings.Note); x.Severity == findings.Critical {
		t.Error("short:", x.Severity)
	}
	s := line(4, 400, runs(Ms), true)
	// Runs far longer than usual of another class.
	s.Class(5, 50)
	for i := range 3000 {
		ns := 5 * Us
		if i%60 == 0 {
			ns = 6 * Ms
		}
		s.Local(50, 1, reference.WhyTimer).Run(50, 1, ns, reference.WhyBlock)
	}
	x := One(t, detect(s), lockconvoy.ID, findings.Note)
	if x.Basis != findings.Suspected || x.Severity == findings.Critical {
		t.Errorf("strained: %s %s", x.Severity, x.Basis)
	}
}

// Readers wait behind a writer, and that behind one who reads for long: it is the one
// to blame, whoever let them in.
func TestBlamesWhoHeldTheLockLongest(t *testing.T) {
	const put, get, export, store = 21, 22, 23, 24
	stacks := map[int32][]string{
		put:    {"sync.(*RWMutex).Lock (rwmutex.go:1)", "main.put (main.go:2)"},
		get:    {"sync.(*RWMutex).RLock (rwmutex.go:2)", "main.get (main.go:3)"},
		export: {"sync.(*RWMutex).RUnlock (rwmutex.go:3)", "main.export (defer wrapper 1) (main.go:4)", "main.exporter (main.go:5)"},
		store:  {"sync.(*RWMutex).Unlock (rwmutex.go:4)", "main.put (main.go:6)"},
	}
	s := New(2).Class(2, 9)
	at := func(stack int32) { s.Decisions[len(s.Decisions)-1].Stack = stack }
	s.Local(9, 1, reference.WhyCreate).Start(9, 1)
	for range 10 {
		for g := int64(1); g <= 4; g++ {
			s.Local(g, 0, reference.WhyTimer).Start(g, 0).Block(g, reference.ReasonSync)
			at(get)
			if g == 1 {
				at(put)
			}
		}
		s.Pass(30*Ms).Wake(1, 9)
		at(export)
		s.Start(1, 0).Pass(20 * Us)
		for g := int64(2); g <= 4; g++ {
			s.Wake(g, 1)
			at(store)
		}
		s.Block(1, reference.ReasonSleep)
		for g := int64(2); g <= 4; g++ {
			s.Start(g, 0).Pass(Us).Block(g, reference.ReasonSleep)
		}
		s.Pass(10 * Ms)
	}
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	x := One(t, s.DetectWith(detector(), f), lockconvoy.ID, findings.Critical)
	if want := "main.export, called by main.class2, holds a lock for up to 30 ms at a time: 40 waits"; !strings.Contains(x.Title.String(), want) {
		t.Errorf("no %q in %s", want, x.Title)
	}
	if want := 10 * (30*Ms + 3*(30*Ms+20*Us)); x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
}

// Whose lock it is, and who holds it: a library's function that holds it, not one that only unlocks, nor
// the program's that called it; with where it was held up.
func TestNamesTheLibraryThatHoldsTheLock(t *testing.T) {
	held := []string{"example.org/log.(*Entry).fire (example.org/log@v1.7.0/entry.go:9)", "main.handle (main.go:5)"}
	for _, c := range []struct {
		name, want string
		lock       []string
	}{
		{"a library's", "example.org/log.(*Entry).fire, called by main.handle, holds a lock for up to", append([]string{"sync.(*Mutex).Lock (mutex.go:46)", "example.org/log.(*MutexWrap).Lock (example.org/log@v1.7.0/log.go:5)"}, held...)},
		{"of package syscall", "example.org/log.(*Entry).fire, called by main.handle, holds syscall.ForkLock for up to", append([]string{"sync.(*RWMutex).Lock (rwmutex.go:46)", "syscall.forkExec (exec_unix.go:1)", "os.StartProcess (exec.go:1)"}, held...)},
		{"the standard library's", "example.org/log.(*Entry).fire, called by main.handle, holds the lock in log.(*Logger).output for up to", append([]string{"sync.(*Mutex).Lock (mutex.go:46)", "log.(*Logger).output (log.go:1)"}, held...)},
	} {
		s := line(4, 100, func(s *Stream, g int64) {
			s.Pass(10*Us).Block(g, reference.ReasonNetwork)
			s.Decisions[len(s.Decisions)-1].Stack = read
			s.Pass(2*Ms).Local(g, 0, reference.WhyNetwork).Start(g, 0)
		}, false)
		f := s.Facts()
		f.Stack = func(h int32) []string {
			switch h {
			case lock:
				return c.lock
			case read:
				return append([]string{"net.(*conn).Read (net.go:1)", "main.(*hook).Fire (main.go:30)"}, held...)
			}
			return append([]string{"sync.(*Mutex).Unlock (mutex.go:65)", "example.org/log.(*MutexWrap).Unlock (example.org/log@v1.7.0/log.go:7)"}, held...)
		}
		x := One(t, s.DetectWith(detector(), f), lockconvoy.ID, findings.Critical)
		if !strings.HasPrefix(x.Title.String(), c.want) || !strings.Contains(x.Title.String(), "blocked on the network in main.(*hook).Fire meanwhile") {
			t.Errorf("%s: %s", c.name, x.Title)
		}
		if !strings.HasPrefix(x.Advice[0].String(), "example.org/log.(*Entry).fire calls main.(*hook).Fire while it holds the lock") {
			t.Errorf("%s: %s", c.name, x.Advice[0])
		}
	}
}

// A mark worker of the garbage collector holds no mutex: then it is not known who does.
func TestMarkWorkersHoldNoLock(t *testing.T) {
	s := line(4, 400, runs(Ms), true)
	f := facts(s, "sync.(*Mutex).Lock")
	f.ClassName = func(int32) (string, string) { return "runtime.gcBgMarkWorker", "" }
	x := One(t, s.DetectWith(detector(), f), lockconvoy.ID, findings.Critical)
	if !strings.HasPrefix(x.Headline.String(), "Goroutines wait for the lock in main.update") {
		t.Error(x.Headline)
	}
	for _, a := range x.Actors {
		if a.Role == findings.Cause {
			t.Errorf("%+v", a)
		}
	}
}

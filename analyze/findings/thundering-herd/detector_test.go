package thunderingherd_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	thunderingherd "github.com/gmpscope/gmpscope/analyze/findings/thundering-herd"
	"github.com/gmpscope/gmpscope/reference"
)

// options of herds.
type options struct {
	times, n int
	useful   int   // of n, have something to do for 30 µs
	step     int64 // between two wake-ups
	run      int64 // of those in vain
	reason   reference.Reason
	waker    string // the function that wakes
}

func usual() options {
	return options{times: 50, n: 100, useful: 1, step: 200, run: 1 * Us, reason: reference.ReasonCond, waker: "sync.(*Cond).Broadcast"}
}

// herds has goroutine 1 of class 2 wake n others of class 1, times over.
func herds(o options) (*Stream, *findings.Facts) {
	s := New(1).Class(2, 1)
	for m := range int64(o.n) {
		s.Local(10+m, 0, reference.WhyCreate).Start(10+m, 0).Pass(Us).Block(10+m, o.reason)
	}
	for range o.times {
		s.Local(1, 0, reference.WhyTimer).Start(1, 0)
		for m := range int64(o.n) {
			s.Wake(10+m, 1).Pass(o.step)
		}
		s.Block(1, reference.ReasonSleep)
		for m := range int64(o.n) {
			s.Start(10+m, 0).Pass(o.run)
			if int(m) < o.useful {
				s.Pass(30*Us - o.run)
			}
			s.Block(10+m, o.reason)
		}
		s.Pass(3 * Ms)
	}
	f := s.Facts()
	f.Stack = func(h int32) []string {
		if h == 1 {
			return []string{o.waker + " (x.go:1)", "main.notify (main.go:1)"}
		}
		return []string{"sync.(*Cond).Wait (cond.go:1)", "main.consume (main.go:2)"}
	}
	return s, f
}

func detect(o options) []findings.Finding {
	s, f := herds(o)
	return s.DetectWith(thunderingherd.New(thunderingherd.Default()), f)
}

func TestFindsABroadcast(t *testing.T) {
	x := One(t, detect(usual()), thunderingherd.ID, findings.Warning)
	// 99 in vain ran for 1 µs and took 200 ns to wake; the first one, useful,
	// waited for the others to be woken.
	if want := 50 * (99*(Us+200) + 100*200); x.CostNs < want-50*100 || x.CostNs > want+50*100 {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Basis != findings.Certain || len(x.Actors) != 2 || x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || x.Actors[1].G != 1 {
		t.Errorf("%s, actors %+v", x.Basis, x.Actors)
	}
	if !strings.Contains(x.Title.String(), "Broadcast") || !strings.Contains(x.Title.String(), "50 times") || !strings.Contains(x.Advice[0].String(), "Signal") {
		t.Errorf("%q %q", x.Title, x.Advice)
	}
}

func TestFindsAClosedChannel(t *testing.T) {
	o := usual()
	o.reason, o.waker = reference.ReasonChanReceive, "main.publish"
	if x := One(t, detect(o), thunderingherd.ID, findings.Warning); !strings.Contains(x.Title.String(), "closing a channel") {
		t.Error(x.Title)
	}
}

func TestNearMisses(t *testing.T) {
	for name, change := range map[string]func(*options){
		"few":                          func(o *options) { o.n = 31 },
		"half have something to do":    func(o *options) { o.useful = 51 },
		"a longer run is work":         func(o *options) { o.run = 20*Us + 1 },
		"one after the other":          func(o *options) { o.step = 40 * Us },
		"each got a value":             func(o *options) { o.reason, o.waker = reference.ReasonChanReceive, "runtime.chansend1" },
		"each got the lock":            func(o *options) { o.reason, o.waker = reference.ReasonSync, "sync.(*RWMutex).Unlock" },
		"each was meant":               func(o *options) { o.waker = "sync.(*Cond).Signal" },
		"each got a value of a select": func(o *options) { o.reason, o.waker = reference.ReasonSelect, "runtime.selectgo" },
		"waits again somewhere else":   nil,
		"too little to be worth while": func(o *options) { o.times, o.n = 3, 40 },
	} {
		o := usual()
		if change != nil {
			change(&o)
			if list := detect(o); len(list) > 0 {
				t.Errorf("%s:\n%s", name, Text(list))
			}
			continue
		}
		s, f := herds(o)
		seen := map[int64]int32{}
		for i := range s.Decisions {
			if d := &s.Decisions[i]; d.Kind == reference.KindStop && d.G >= 10 {
				seen[d.G]++
				d.Stack += 1000 * seen[d.G]
			}
		}
		None(t, s.DetectWith(thunderingherd.New(thunderingherd.Default()), f))
	}
}

// Who looks under a lock may have to wait for that first.
func TestTheLockInBetweenIsNoWork(t *testing.T) {
	o := usual()
	s := New(1).Class(2, 1)
	for m := range int64(o.n) {
		s.Local(10+m, 0, reference.WhyCreate).Start(10+m, 0).Pass(Us).Block(10+m, o.reason)
	}
	for range o.times {
		s.Local(1, 0, reference.WhyTimer).Start(1, 0)
		for m := range int64(o.n) {
			s.Wake(10+m, 1).Pass(o.step)
		}
		s.Block(1, reference.ReasonSleep)
		for m := range int64(o.n) {
			s.Start(10+m, 0).Pass(500).Block(10+m, reference.ReasonSync)
			s.Decisions[len(s.Decisions)-1].Stack = 5000
			s.Local(10+m, 0, reference.WhyUnblock).Start(10+m, 0).Pass(500).Block(10+m, o.reason)
		}
		s.Pass(3 * Ms)
	}
	_, f := herds(options{waker: o.waker})
	f.EndNs = s.Now
	x := One(t, s.DetectWith(thunderingherd.New(thunderingherd.Default()), f), thunderingherd.ID, findings.Warning)
	if !strings.Contains(x.Title.String(), "100 % of them found nothing") {
		t.Error(x.Title)
	}
}

func TestWithoutStacksItIsSuspected(t *testing.T) {
	s, f := herds(usual())
	f.Stack = nil
	if x := One(t, s.DetectWith(thunderingherd.New(thunderingherd.Default()), f), thunderingherd.ID, findings.Note); x.Basis != findings.Suspected {
		t.Error(x.Basis)
	}
}

func TestFewHerdsAreANote(t *testing.T) {
	o := usual()
	o.times, o.n = 9, 1000
	if x := One(t, detect(o), thunderingherd.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
	o.times = 10
	o.run = 10 * Us
	One(t, detect(o), thunderingherd.ID, findings.Warning)
	o.times = 9
	if x := One(t, detect(o), thunderingherd.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestTheSmallestHerd(t *testing.T) {
	o := usual()
	o.times, o.n = 200, 32
	One(t, detect(o), thunderingherd.ID, findings.Warning)
}

// ticks has timers wake n goroutines, each after step, times over; they run for
// 10 µs.
func ticks(times, n int, step, pause int64) *Stream {
	s := New(1)
	for m := range int64(n) {
		s.Local(10+m, 0, reference.WhyCreate).Start(10+m, 0).Pass(Us).Block(10+m, reference.ReasonSleep)
	}
	for range times {
		for m := range int64(n) {
			s.Local(10+m, 0, reference.WhyTimer).Pass(step)
		}
		for m := range int64(n) {
			s.Start(10+m, 0).Pass(10*Us).Block(10+m, reference.ReasonSleep)
		}
		s.Pass(pause)
	}
	return s
}

func TestFindsTimersThatFireTogether(t *testing.T) {
	x := One(t, ticks(20, 200, 0, 20*Ms).Detect(thunderingherd.New(thunderingherd.Default())), thunderingherd.ID, findings.Warning)
	// The k-th waits for k others.
	if want := 20 * (199 * 200 / 2) * 10 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if x.Severity == findings.Critical || len(x.Actors) != 1 || !strings.Contains(x.Title.String(), "Timers") {
		t.Errorf("%s %s %v", x.Severity, x.Title, x.Actors)
	}
}

func TestTimersSpreadOrSteadyAreNoHerd(t *testing.T) {
	d := thunderingherd.New(thunderingherd.Default())
	t.Run("spread", func(t *testing.T) { None(t, ticks(20, 200, 100*Us, 0).Detect(d)) })
	t.Run("steady", func(t *testing.T) { None(t, ticks(200, 50, 0, 0).Detect(d)) })
}

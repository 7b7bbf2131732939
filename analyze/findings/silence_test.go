package findings_test

import (
	"math"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

// silences returns what View.Silences gives of a stream, and what Silences keeps.
func silences(s *Stream) (list []findings.Silence, kept *findings.Silences) {
	s.Detect(findings.Detector{New: func(w *findings.View) findings.Watcher {
		w.Silences(func(x *findings.Silence) { list = append(list, *x) })
		kept = findings.NewSilences(w)
		return nothing{}
	}})
	return list, kept
}

// short has goroutine g of P p run for 100 µs, often.
func short(s *Stream, g int64, p int32) {
	for range 20 {
		s.Local(g, p, reference.WhyUnblock).Run(g, p, 100*Us, reference.WhyBlock)
	}
}

func TestSilence(t *testing.T) {
	s := New(2)
	short(s, 1, 0)
	from := s.Local(1, 0, reference.WhyUnblock).Start(1, 0).Class(2, 2).Local(2, 1, reference.WhyUnblock).Start(2, 1).Local(3, 1, reference.WhyUnblock).Now
	s.Pass(5*Ms).Stop(1, reference.WhyBlock)
	list, kept := silences(s)
	want := findings.Silence{From: from, To: from + 5*Ms, Running: 2, Waiting: 1, Freaks: 1, G: 1, Class: 1, P: 0}
	if len(list) != 1 || list[0] != want || kept.Ns != 5*Ms {
		t.Errorf("got %+v, %d ns kept, want %+v", list, kept.Ns, want)
	}
}

func TestNoSilence(t *testing.T) {
	for name, f := range map[string]func(s *Stream){
		"shorter":          func(s *Stream) { s.Start(1, 0).Pass(4999*Us).Stop(1, reference.WhyBlock) },
		"nothing runs":     func(s *Stream) { s.Run(1, 0, 1*Us, reference.WhyBlock).PStop(0).Pass(50 * Ms).PStart(0) },
		"in a system call": func(s *Stream) { s.Start(1, 0).Syscall(1).Pass(50 * Ms).SyscallExit(1) },
		"the runtime's":    func(s *Stream) { s.Flags(reference.FlagSystem, 1).Start(1, 0).Pass(50*Ms).Stop(1, reference.WhyBlock) },
		"the world is stopped": func(s *Stream) {
			s.Start(1, 0).Emit(reference.Decision{Kind: reference.KindSTWBegin}).Pass(50*Ms).Stop(1, reference.WhySTW)
		},
	} {
		s := New(1).Pass(1*Us).Local(1, 0, reference.WhyUnblock)
		f(s)
		if list, _ := silences(s); len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// A P with a thread and work that starts nothing is one without a CPU.
func TestSilenceOfAPWithWork(t *testing.T) {
	s := New(1)
	s.Local(1, 0, reference.WhyUnblock).Local(2, 0, reference.WhyUnblock).Run(1, 0, 1*Us, reference.WhyBlock).Pass(6*Ms).Start(2, 0)
	list, kept := silences(s)
	if len(list) != 1 || list[0].Running != 0 || list[0].Freaks != 1 || list[0].Waiting != 1 || kept.Ns != 6*Ms {
		t.Errorf("%+v, %d", list, kept.Ns)
	}
}

// What runs long as a rule, and not longer than a preemption takes, is kept out.
func TestSilencesKeepWhatIsUnusual(t *testing.T) {
	s := New(1).Pass(1 * Us)
	for range 20 {
		s.Local(1, 0, reference.WhyUnblock).Run(1, 0, 20*Ms, reference.WhyBlock)
	}
	list, kept := silences(s)
	if len(list) != 20 || kept.Ns != 0 {
		t.Errorf("%d, %d ns kept", len(list), kept.Ns)
	}
	s.Local(1, 0, reference.WhyUnblock).Run(1, 0, 31*Ms, reference.WhyBlock)
	if _, kept = silences(s); kept.Ns != 31*Ms {
		t.Errorf("%d ns kept", kept.Ns)
	}
}

// A class that does long work as often as short is not silent against its habit.
func TestSilenceByHabit(t *testing.T) {
	s := New(1).Pass(1 * Us)
	for range 20 {
		for _, ns := range []int64{100 * Us, 100 * Us, 25 * Ms} {
			s.Local(1, 0, reference.WhyUnblock).Run(1, 0, ns, reference.WhyBlock)
		}
	}
	list, _ := silences(s)
	if len(list) != 20 || list[19].Freaks != 0 {
		t.Errorf("%d, the last %+v", len(list), list[len(list)-1])
	}
}

// Two that run past their slices are asked to yield by then; one alone may not be.
func TestSilenceOfTwo(t *testing.T) {
	for ns, want := range map[int64]int64{21 * Ms: 0, 25 * Ms: 25 * Ms} {
		s := New(2).Pass(1*Us).Local(1, 0, reference.WhyUnblock).Start(1, 0).Local(2, 1, reference.WhyUnblock).Start(2, 1)
		s.Pass(ns).Stop(1, reference.WhyBlock)
		if _, kept := silences(s); kept.Ns != want {
			t.Errorf("%d ns: %d kept, want %d", ns, kept.Ns, want)
		}
	}
}

func TestBeat(t *testing.T) {
	s := New(1)
	for range 2 {
		short(s, 1, 0)
	}
	next := s.Now
	for i := range int64(10) {
		next += 100*Ms + i%2*Ms
		s.Pass(next-s.Now-30*Ms).Local(1, 0, reference.WhyUnblock).Run(1, 0, 30*Ms, reference.WhyBlock)
	}
	_, kept := silences(s)
	b := kept.Beat(100 * Ms)
	if len(b.Silences) != 10 || b.R < 0.99 || b.PeriodNs < 100*Ms || b.PeriodNs > 101*Ms || !b.IsPeriodic(100*Ms, 10, 0.01, 0.1) {
		t.Errorf("%d, R %v, period %d", len(b.Silences), b.R, b.PeriodNs)
	}
	if b.IsPeriodic(100*Ms, 11, 0.01, 0.1) || b.IsPeriodic(100*Ms, 10, 0, 0.1) || b.IsPeriodic(90*Ms, 10, 0.01, 0.1) {
		t.Error("keeps to anything")
	}
	if b := kept.Beat(70 * Ms); b.IsPeriodic(70*Ms, 10, 0.01, 0.1) {
		t.Errorf("period %d", b.PeriodNs)
	}
}

func TestRayleighChance(t *testing.T) {
	for _, c := range []struct {
		n       int64
		r, want float64
	}{{0, 1, 1}, {10, 0, 1}, {4, 1, 0.0076}, {20, 0.5, 0.0055}, {100, 0.2, 0.018}} {
		if got := findings.RayleighChance(c.n, c.r); math.Abs(got-c.want) > 0.05*c.want {
			t.Errorf("%d, %v: %v, want %v", c.n, c.r, got, c.want)
		}
	}
}

// A quota ends what it stops with its period, wherever that began.
func TestSilencesEndWithAPeriod(t *testing.T) {
	compute := func(begins ...int64) *findings.Silences {
		s := New(1).Pass(1 * Us)
		for i, from := range begins {
			to := (int64(i)+1)*100*Ms + 61*Ms
			s.Pass(from-s.Now).Local(1, 0, reference.WhyUnblock).Start(1, 0).Pass(to-s.Now).Stop(1, reference.WhyBlock)
		}
		_, kept := silences(s)
		return kept
	}
	for _, c := range []struct {
		what   string
		begins []int64
		is     bool
	}{
		{"stopped until the period ends", []int64{134 * Ms, 238 * Ms, 333 * Ms}, true},
		{"work as long, begun by a timer", []int64{136 * Ms, 236 * Ms, 336 * Ms}, false},
		{"shorter than what is looked at", []int64{144 * Ms, 248 * Ms, 343 * Ms}, false},
		{"too few", []int64{134 * Ms, 238 * Ms}, false},
	} {
		b := compute(c.begins...).Grid(100*Ms, 20*Ms)
		if got := b.IsPeriodic(100*Ms, 3, 0.001, 0.15); got != c.is {
			t.Errorf("%s: %v, %+v", c.what, got, b)
		}
	}
	// A timer that wakes others ends the silence of what computes, but not all of it.
	s := New(1).Pass(1 * Us)
	for i := range int64(8) {
		from, tick := i*170*Ms+20*Ms, (i*170+20)/100*100*Ms+100*Ms
		s.Pass(from-s.Now).Local(1, 0, reference.WhyUnblock).Start(1, 0)
		if to := from + 90*Ms; tick < to {
			s.Pass(tick-s.Now).Class(2, 2).Local(2, 0, reference.WhyTimer).Pass(to - s.Now)
		} else {
			s.Pass(to - s.Now)
		}
		s.Stop(1, reference.WhyBlock).Run(2, 0, 1*Us, reference.WhyBlock)
	}
	_, kept := silences(s)
	if b := kept.Grid(100*Ms, 20*Ms); b.IsPeriodic(100*Ms, 3, 0.001, 0.15) {
		t.Errorf("a timer is taken for a quota: %+v", b)
	}
}

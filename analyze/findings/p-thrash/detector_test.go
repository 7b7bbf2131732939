package pthrash_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	pthrash "github.com/gmpscope/gmpscope/analyze/findings/p-thrash"
	"github.com/gmpscope/gmpscope/reference"
)

// wakes has goroutine 2 on P0 wake 1, n times: P1 gets a thread 20 µs after it
// parked, takes 1 after another 5 µs, runs it for busy, and parks again. With
// busy 0 it finds nothing, and 1 runs on P0. The time between is gap.
func wakes(n int, gap, busy int64) *Stream {
	s := New(2).Class(2, 2).Local(2, 0, reference.WhyCreate).Start(2, 0).PStop(1)
	for range n {
		s.Pass(gap-15*Us).Wake(1, 2).Pass(15 * Us).PStart(1).Pass(5 * Us)
		if busy > 0 {
			s.Run(1, 1, busy, reference.WhyBlock).PStop(1)
		} else {
			s.PStop(1).Stop(2, reference.WhyBlock).Run(1, 0, Us, reference.WhyBlock).Local(2, 0, reference.WhyUnblock).Start(2, 0)
		}
	}
	return s.Stop(2, reference.WhyBlock)
}

func TestFindsWakeUpsForLittle(t *testing.T) {
	x := One(t, wakes(10_000, 20*Us, 10*Us).Detect(pthrash.New(pthrash.Default())), pthrash.ID, findings.Critical)
	// The first P1 had not run before, but parked; each waits for 20 µs.
	if want := 10_000 * 20 * Us; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if len(x.Actors) != 2 || x.Actors[0].Role != findings.Victim || x.Actors[0].Class != "main.class1" || x.Actors[1].Class != "main.class2" || x.Actors[1].G != 2 {
		t.Errorf("actors %v", x.Actors)
	}
}

func TestFindsWakeUpsForNothing(t *testing.T) {
	x := One(t, wakes(10_000, 20*Us, 0).Detect(pthrash.New(pthrash.Default())), pthrash.ID, findings.Warning)
	if want := 10_000 * 5 * Us; x.CostNs != want {
		t.Errorf("cost %d, want what P1 was awake, %d", x.CostNs, want)
	}
	if x.Severity != findings.Warning || !strings.Contains(x.Title.String(), "100 %") || x.Basis != findings.Certain {
		t.Errorf("%s %s: %s", x.Severity, x.Basis, x.Title)
	}
	for _, a := range x.Actors {
		if a.Role == findings.Victim {
			t.Errorf("nobody waited for such a P: %v", a)
		}
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"parked for long":    wakes(5_000, 60*Us, 10*Us),
		"enough to do":       wakes(5_000, 20*Us, 60*Us),
		"seldom":             seldom(),
		"for the runtime":    flagged(wakes(10_000, 20*Us, 10*Us), reference.FlagSystem),
		"for locked threads": flagged(wakes(10_000, 20*Us, 10*Us), reference.FlagLocked),
	} {
		t.Run(name, func(t *testing.T) { None(t, s.Detect(pthrash.New(pthrash.Default()))) })
	}
}

// seldom has 900 wake-ups a second.
func seldom() *Stream {
	s := New(1)
	for range 20 {
		for range 90 {
			s.PStop(0).Pass(20 * Us).PStart(0).Pass(5 * Us).PStop(0).Pass(500 * Us).PStart(0)
		}
		s.Pass(100*Ms - s.Now%(100*Ms))
	}
	return s
}

// flagged marks goroutine 1.
func flagged(s *Stream, f reference.Flags) *Stream {
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.G == 1 && (d.Kind == reference.KindStart || d.Kind == reference.KindReady) {
			d.Flags |= f
		}
	}
	return s
}

// What fills a small part of the recording is not sustained.
func TestASpellIsANote(t *testing.T) {
	s := wakes(1000, 20*Us, 10*Us).Pass(2000 * Ms)
	if x := One(t, s.Detect(pthrash.New(pthrash.Default())), pthrash.ID, findings.Note); x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

func TestShortRecordings(t *testing.T) {
	x := One(t, wakes(1000, 20*Us, 0).Detect(pthrash.New(pthrash.Default())), pthrash.ID, findings.Note)
	if x.Severity != findings.Note {
		t.Error(x.Severity)
	}
}

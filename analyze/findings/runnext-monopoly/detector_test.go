package runnextmonopoly_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	runnextmonopoly "github.com/gmpscope/gmpscope/analyze/findings/runnext-monopoly"
	"github.com/gmpscope/gmpscope/reference"
)

// pingpong has goroutines 1 and 2 wake each other for hops of 10 µs, rounds
// times, while 9 waits in a queue; it runs after each.
func pingpong(rounds, hops int, wait func(*Stream)) *Stream {
	s := New(1).Class(2, 2).Class(3, 9)
	for range rounds {
		s.Local(1, 0, reference.WhyUnblock)
		wait(s)
		g := int64(1)
		s.Start(g, 0)
		for range hops {
			s.Pass(10*Us).Next(3-g, 0, reference.WhyUnblock).Stop(g, reference.WhyBlock)
			g = 3 - g
			s.Start(g, 0)
		}
		s.Pass(10*Us).Stop(g, reference.WhyBlock)
		s.Run(9, 0, 10*Us, reference.WhyBlock)
	}
	return s
}

func local(s *Stream)   { s.Local(9, 0, reference.WhyUnblock) }
func yielded(s *Stream) { s.Global(9, reference.WhyGosched) }

func TestFindsPingPong(t *testing.T) {
	d := runnextmonopoly.New(runnextmonopoly.Default())
	for name, wait := range map[string]func(*Stream){"local": local, "global": yielded} {
		t.Run(name, func(t *testing.T) {
			x := One(t, pingpong(10, 1000, wait).Detect(d), runnextmonopoly.ID, findings.Critical)
			if want := 10 * 1001 * 10 * Us; x.CostNs != want {
				t.Errorf("cost %d, want %d", x.CostNs, want)
			}
			if len(x.Actors) != 3 || x.Actors[0].Class != "main.class3" || x.Actors[1].Class != "main.class1" || x.Actors[2].Class != "main.class2" {
				t.Errorf("actors %v", x.Actors)
			}
		})
	}
}

func TestFindsARelay(t *testing.T) {
	s := New(1).Class(3, 9)
	g := int64(100)
	for range 5 {
		s.Local(9, 0, reference.WhyUnblock).Next(g, 0, reference.WhyCreate).Start(g, 0)
		for range 600 {
			s.Pass(20*Us).Next(g+1, 0, reference.WhyCreate).Stop(g, reference.WhyExit)
			g++
			s.Start(g, 0)
		}
		s.Pass(20*Us).Stop(g, reference.WhyExit).Run(9, 0, 10*Us, reference.WhyBlock)
		g++
	}
	x := One(t, s.Detect(runnextmonopoly.New(runnextmonopoly.Default())), runnextmonopoly.ID, findings.Warning)
	if !strings.Contains(x.Title.String(), "create the next") {
		t.Error(x.Title)
	}
}

// accepting has goroutine 1 create one of class 4 for every 20 µs, each of which
// wakes it again, hops times a slice, while 9 waits.
func accepting(hops int) *Stream {
	s := New(1).Class(3, 9)
	g := int64(100)
	for range 10 {
		s.Local(1, 0, reference.WhyTimer).Local(9, 0, reference.WhyUnblock).Start(1, 0)
		for range hops {
			s.Class(4, g).Pass(10*Us).Next(g, 0, reference.WhyCreate).Stop(1, reference.WhyBlock).Start(g, 0)
			s.Pass(10*Us).Next(1, 0, reference.WhyTimer).Stop(g, reference.WhyExit).Start(1, 0)
			g++
		}
		s.Pass(10*Us).Stop(1, reference.WhyBlock).Run(9, 0, 10*Us, reference.WhyBlock)
	}
	return s
}

func TestFindsTheNewestFirst(t *testing.T) {
	x := One(t, accepting(1000).Detect(runnextmonopoly.New(runnextmonopoly.Default())), runnextmonopoly.ID, findings.Critical)
	if !strings.HasPrefix(x.Title.String(), "Goroutines of main.f1 (run by main.class4), each run as soon as it was created,") {
		t.Error(x.Title)
	}
}

// Within the length of a slice it is what a slice is for.
func TestFewNewOnesAreNoMonopoly(t *testing.T) {
	None(t, accepting(200).Detect(runnextmonopoly.New(runnextmonopoly.Default())))
}

func TestNoVictimNoMonopoly(t *testing.T) {
	d := runnextmonopoly.New(runnextmonopoly.Default())
	t.Run("alone", func(t *testing.T) {
		None(t, pingpong(10, 1000, func(s *Stream) {
			s.Local(9, 0, reference.WhyUnblock).Run(9, 0, Us, reference.WhyBlock).Local(9, 1, reference.WhyUnblock)
		}).Detect(d))
	})
	t.Run("short", func(t *testing.T) { None(t, pingpong(500, 60, local).Detect(d)) })
}

// Many goroutines that pass through runnext are a pipeline, not a monopoly.
func TestManyPartiesAreNoMonopoly(t *testing.T) {
	s := New(1)
	for range 10 {
		s.Local(9, 0, reference.WhyUnblock)
		s.Next(100, 0, reference.WhyUnblock).Start(100, 0)
		for i := range int64(1000) {
			s.Pass(10*Us).Next(100+(i+1)%7, 0, reference.WhyUnblock).Stop(100+i%7, reference.WhyBlock).Start(100+(i+1)%7, 0)
		}
		s.Pass(10*Us).Stop(100+1000%7, reference.WhyBlock).Run(9, 0, 10*Us, reference.WhyBlock)
	}
	None(t, s.Detect(runnextmonopoly.New(runnextmonopoly.Default())))
}

package truth

import (
	"maps"
	"strings"
	"testing"
)

// TestFindReasons has a dump that differs from the truth in one thing, and a start
// of goroutine 9 on P 0 afterwards with a length that is wrong because of it.
func TestFindReasons(t *testing.T) {
	line := func(k string, g, p int64, to, why string) Line {
		l := newLine(k)
		l.G, l.P, l.To, l.Why = g, p, to, why
		return l
	}
	start := func(ll, gl int64) Line {
		l := line("start", 9, 0, "", "")
		l.Src, l.LL, l.GL = srcNetpoll, ll, gl
		return l
	}
	ready := line("ready", 1, 0, toLocal, "")
	for _, c := range []struct {
		name        string
		truth, dump []Line
		open        OpenLengths
		ll, gl      string // why it is wrong, empty for right
	}{
		{"equal", []Line{ready, start(1, 0)}, []Line{ready, start(1, 0)}, OpenLengths{}, "", ""},
		{"an overflow that was none", []Line{ready, start(1, 0)},
			[]Line{ready, line("move", 1, none, toGlobal, "overflow"), start(0, 1)}, OpenLengths{}, whyOverflow, whyOverflow},
		{"an overflow that was not seen", []Line{ready, line("move", 1, none, toGlobal, ""), start(0, 1)},
			[]Line{ready, start(1, 0)}, OpenLengths{}, whyOverflow, whyOverflow},
		{"a drain", []Line{ready, start(1, 0)}, []Line{ready, line("move", 1, none, toGlobal, "gc"), start(0, 1)}, OpenLengths{}, whyDrain, whyDrain},
		{"a steal", []Line{ready, line("move", 1, 1, toLocal, ""), start(0, 0)}, []Line{ready, start(1, 0)}, OpenLengths{}, whySteal, ""},
		{"a batch", []Line{line("ready", 1, none, toGlobal, ""), line("move", 1, 0, toLocal, ""), start(1, 0)},
			[]Line{line("ready", 1, none, toGlobal, ""), start(0, 1)}, OpenLengths{}, whyBatch, whyBatch},
		{"a put", []Line{line("ready", 1, none, toGlobal, ""), start(0, 1)}, []Line{ready, start(1, 0)}, OpenLengths{}, whyPut, whyPut},
		{"an event without its operation", []Line{ready, start(0, 0)}, []Line{ready, start(1, 0)}, OpenLengths{}, whyUnderWay, ""},
		{"from before the trace", []Line{start(1, 0), func() Line {
			l := line("start", 2, 0, "", "")
			l.Src, l.LL, l.GL = srcLocal, 0, 0
			return l
		}()}, []Line{start(0, 0)}, OpenLengths{}, whyBefore, ""},
		{"open", []Line{ready, start(1, 0)}, []Line{start(0, 1)}, OpenLengths{LL: true, GLLeast: 0, GLMost: 1}, whyOpen, whyOpen},
	} {
		_, starts := Compare(c.truth, c.dump)
		for i := range c.truth {
			if c.truth[i].K == "start" {
				c.open.Start = i
				break
			}
		}
		got := FindReasons(c.truth, c.dump, starts, []OpenLengths{c.open})
		want := func(why string) map[string]int64 {
			if why == "" {
				return map[string]int64{}
			}
			return map[string]int64{why: 1}
		}
		if !maps.Equal(got.LL, want(c.ll)) || !maps.Equal(got.GL, want(c.gl)) {
			t.Errorf("%s: %v and %v, want %q and %q", c.name, got.LL, got.GL, c.ll, c.gl)
		}
	}
}

func TestReasonsTable(t *testing.T) {
	r := NewReasons()
	r.Add(&Reasons{Starts: 200, LL: map[string]int64{whySteal: 1}, GL: map[string]int64{whyOpen: 6, whySteal: 2}})
	r.Add(&Reasons{Starts: 200, LL: map[string]int64{whySteal: 3}})
	for _, want := range []string{
		"| open | 0 | 0.00 | 6 | 75.00 |",
		"| steal | 4 | 100.00 | 2 | 25.00 |",
		"| **all**, of 400 starts | 4 | 1.00 | 8 | 2.00 |",
	} {
		if got := r.Table(); !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
}

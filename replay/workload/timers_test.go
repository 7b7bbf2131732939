package workload

import (
	"testing"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// A deadline, sleeps between two looks, and functions that timers run need not come to pass in
// another schedule; a sleep that is over when it is over does, and so does one that is followed
// by something that others notice.
func TestAtOnce(t *testing.T) {
	const (
		G      = 1
		other  = 2
		length = 50_000_000
	)
	block := func(s stream, at int64, r reference.Reason, stack int32) {
		s.say(at, reference.KindStop, G, func(d *reference.Decision) { d.Why, d.Reason, d.Stack = reference.WhyBlock, r, stack })
		s.say(at+length, reference.KindPStart, reference.NoG, nil)
		s.ready(at+length, G, reference.NoG, reference.WhyTimer)
		s.start(at+length, G)
	}
	for _, c := range []struct {
		name string
		do   func(s stream) int64 // returns when the next thing happens
		want bool                 // whether the makespan is less without
	}{
		{"one sleep", func(s stream) int64 {
			block(s, 1000, reference.ReasonSleep, 7)
			return 2 * length
		}, false},
		{"a deadline", func(s stream) int64 {
			block(s, 1000, reference.ReasonSelect, 7)
			return 2 * length
		}, true},
		{"sleeps at two places", func(s stream) int64 {
			block(s, 1000, reference.ReasonSleep, 7)
			block(s, 2*length, reference.ReasonSleep, 8)
			return 4 * length
		}, false},
		{"looks and sleeps again", func(s stream) int64 {
			block(s, 1000, reference.ReasonSleep, 7)
			block(s, 2*length, reference.ReasonSleep, 7)
			return 4 * length
		}, true},
		{"sleeps after each thing that it sends", func(s stream) int64 {
			block(s, 1000, reference.ReasonSleep, 7)
			s.ready(length+2000, other, G, reference.WhyCreate)
			block(s, 2*length, reference.ReasonSleep, 7)
			return 4 * length
		}, false},
		{"a function", func(s stream) int64 {
			s.stop(1000, G, reference.WhyBlock)
			s.ready(length, other, reference.NoG, reference.WhyCreate)
			s.start(length, other)
			s.ready(length+10, G, other, reference.WhyUnblock)
			s.stop(length+20, other, reference.WhyExit)
			s.start(length+30, G)
			return length + 1000
		}, true},
	} {
		e := NewExtractor(Options{})
		s := stream{e}
		s.start(0, G)
		end := c.do(s)
		s.stop(end, G, reference.WhyExit)
		w := e.Finish(end)
		p, costs := scheduler(26)
		var took [2]int64
		for i, atOnce := range []bool{false, true} {
			r, err := sim.Simulate(t.Context(), sim.Options{Policy: p, Costs: costs, Procs: 1}, w.Load(Change{AtOnce: atOnce}))
			if err != nil {
				t.Fatal(err)
			}
			took[i] = r.EndNs
		}
		if less := took[1] < took[0]-length/2; less != c.want {
			t.Errorf("%s: %d ns, and %d at once; want less: %v", c.name, took[0], took[1], c.want)
		}
	}
}

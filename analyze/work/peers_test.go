package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// asks plays clients that ask a server over the network, one after another, and returns the
// segments of the last. Of four answers the server writes so many just before the client has them.
func asks(t *testing.T, ofFour int) (out []Segment) {
	p := newPlay(t)
	start, home := p.stack("main.main"), p.stack("main.serve", "net.(*conn).Read", pollIn)
	write := p.stack("main.serve", "net.(*conn).Write", "internal/poll.(*FD).Write")
	ask, answer := p.stack("main.client", "net.(*conn).Write", "internal/poll.(*FD).Write"), p.stack("main.client", "main.get", "net.(*conn).Read", pollIn)
	p.begin(1).create(1, 2, "main.serve", start).stop(2, reference.ReasonNetwork, home).after(1_000_000)
	for i := range 41 {
		g := int64(3 + i)
		p.create(1, g, "main.client", start).call(g, ask, 10).stop(g, reference.ReasonNetwork, answer)
		p.after(20).wake(0, 2).after(500)
		p.call(2, write, 5).after(30)
		if i%4 >= ofFour {
			p.after(answerNs)
		}
		p.stop(2, reference.ReasonNetwork, home).wake(0, g).exit(g).after(1_000_000)
	}
	o := p.options()
	o.Slowest = 41
	a := New(o)
	feed(a, p.ds)
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		if k.Name == "main.client" {
			for _, u := range k.Slowest {
				if u.G == 43 {
					out = u.Segments
				}
			}
		}
	}
	return out
}

// A wait for the network is that of who answers, if it mostly does. What is left is the way.
func TestPeer(t *testing.T) {
	ask, via := Segment{nil, Leaf{"main.client", "syscall", "", "main.client"}, 10}, &Via{"network", "main.get"}
	for answered, want := range map[int][]Segment{
		2: {ask, {via, Leaf{"main.client", "network", "", "main.get"}, 555}},
		3: {ask, {via, Leaf{"", "network", "", "main.get"}, 20}, {via, Leaf{"main.serve", "running", "", ""}, 500}, {via, Leaf{"", "network", "", "main.get"}, 35}},
	} {
		if d := cmp.Diff(want, asks(t, answered)); d != "" {
			t.Errorf("%d of 4 answers (-want +got):\n%s", answered, d)
		}
	}
}

// An answer is believed after some, is of one write only, and not of a class that writes all the
// time.
func TestAnswer(t *testing.T) {
	a := New(newPlay(t).options())
	a.classes = append(a.classes, &class{how: none}, &class{how: none}, &class{how: none})
	asker, server := &life{class: 1}, &life{class: 2}
	answered := func(ns int64) (first, second bool) {
		a.now += ns
		a.send(server, mark{at: a.now - 10})
		m := &event{from: mark{at: a.now - 100}}
		return a.answer(asker, m) != nil, a.answer(&life{class: 3}, m) != nil
	}
	for i := 1; i < 20; i++ {
		if first, second := answered(1_000_000); first != (i >= minAnswers) || second {
			t.Errorf("wait %d: answers %v and %v", i, first, second)
		}
	}
	for range 2 * minAnswers {
		a.now += 1_000_000
		if a.send(server, mark{at: a.now - 10}); a.answer(server, &event{}) != nil {
			t.Error("it answers itself")
		}
	}
	for range 1000 {
		answered(1000)
	}
	if first, _ := answered(1000); first {
		t.Error("one that writes all the time answers")
	}
}

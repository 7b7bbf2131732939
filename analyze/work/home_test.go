package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// TestHome tests what is home, or what else units are.
func TestHome(t *testing.T) {
	for name, c := range map[string]struct {
		play func(p *play)
		want string // how, function and line of the first kind
	}{
		"a wait on the line of a call": {func(p *play) {
			wait, do := p.stack("main.work", "runtime.chanrecv1"), p.stack("main.work", "main.do", "time.Sleep")
			p.begin(1)
			for range 9 {
				p.block(1, reference.ReasonChanReceive, wait, 100).block(1, reference.ReasonSleep, do, 30).after(1)
			}
		}, "cycle main.work"},
		"an answer that was asked for": {func(p *play) {
			ask, answer := p.stack("main.poll", "net.(*conn).Write", pollOut), p.stack("main.poll", "net.(*conn).Read", pollIn)
			pause := p.stack("main.poll", "main.pause", "time.Sleep")
			p.begin(1)
			for range 9 {
				p.call(1, ask, 5).block(1, reference.ReasonNetwork, answer, 100).after(5).block(1, reference.ReasonSleep, pause, 30)
			}
		}, "cycle main.pause"},
		"a sleep within a library": {func(p *play) {
			far, wait := p.stack("main.load", "lib.(*DB).Query", "main.(*conn).Query", "time.Sleep"), p.stack("main.load:2", "main.next", "runtime.chanrecv1")
			p.stacks[far][2].File = "lib@v1.0.0/db.go"
			p.begin(1)
			for range 9 {
				p.block(1, reference.ReasonSleep, far, 100).after(1).block(1, reference.ReasonChanReceive, wait, 30).after(1)
			}
		}, "cycle main.next"},
		"answers that a library reads for main": {func(p *play) {
			answer := p.stack("main.main", "rpc.(*Client).Call", "runtime.selectgo")
			p.stacks[answer][1].File = "rpc@v1.0.0/rpc.go"
			read := p.stack("google.golang.org/grpc/internal/transport.(*http2Client).reader", "net.(*conn).Read", pollIn)
			p.begin(1).begin(2)
			for range 30 {
				p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyBlock, Reason: reference.ReasonSelect, G: 1, P: 1, Stack: answer})
				p.block(2, reference.ReasonNetwork, read, 50).add(reference.Decision{Kind: reference.KindReady, Why: reference.WhyUnblock, G: 1, By: 2, P: 2})
				p.add(reference.Decision{Kind: reference.KindStart, G: 1, P: 1})
				p.after(5)
			}
		}, "run"},
		"requests that ask others again and again": {func(p *play) {
			accept := p.stack("google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams")
			request := p.stack("main.handle", "main.request", "net.(*conn).Read", pollIn)
			answer, reply := p.stack("main.handle:2", "rpc.(*Client).Call", "runtime.selectgo"), p.stack("main.handle:3", "net.(*conn).Write", pollOut)
			p.stacks[answer][1].File = "rpc@v1.0.0/rpc.go"
			p.begin(1)
			for g := int64(2); g < 6; g++ {
				p.create(1, g, "main.handle", accept).block(g, reference.ReasonNetwork, request, 50)
				for range 9 {
					p.block(g, reference.ReasonSelect, answer, 100).after(1)
				}
				p.call(g, reply, 5).exit(g)
			}
		}, "cycle main.request"},
		"a few waits of goroutines that end": {func(p *play) {
			wait := p.stack("main.job", "main.ask", "runtime.chanrecv1")
			p.begin(1)
			for g := int64(2); g < 8; g++ {
				p.create(1, g, "main.job", 0).block(g, reference.ReasonChanReceive, wait, 10).after(1).block(g, reference.ReasonChanReceive, wait, 10).exit(g)
			}
		}, "lifetime"},
		"goroutines that wait for others to end": {func(p *play) {
			done := p.stack("main.watch", "runtime.selectgo")
			p.begin(1)
			for g := int64(2); g < 8; g++ {
				p.create(1, g, "main.watch", 0).block(g, reference.ReasonSelect, done, 10).exit(g)
			}
		}, "run"},
		"handlers that wait once": {func(p *play) {
			loop := p.stack("net/http.(*conn).serve", "net/http.(*http2serverConn).serve", "net/http.(*http2serverConn).processFrame")
			done := p.stack("main.handle", "runtime.selectgo")
			p.begin(1)
			for g := int64(2); g < 8; g++ {
				p.create(1, g, "main.handle", loop).block(g, reference.ReasonSelect, done, 10).exit(g)
			}
		}, "lifetime"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			c.play(p)
			a := New(p.options())
			feed(a, p.ds)
			k := a.Finish(p.now, p.now, itself).Kinds[0]
			got := k.How
			if k.Home != nil {
				got += " " + k.Home.Function
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// entries plays to the end, and reports of each kind that has units whether they begin from
// outside.
func (p *play) entries() map[string]bool {
	a := New(p.options())
	feed(a, p.ds)
	out := map[string]bool{}
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		if k.Count > 0 {
			out[k.Name] = k.Entry
		}
	}
	return out
}

// The requests of HTTP/2 are what the loop of a connection begins. The loop itself, which several
// goroutines wake, and those that write for it carry them.
func TestServeLoop(t *testing.T) {
	const loop, handle = "net/http.(*conn).serve", "net/http.(*http2serverConn).runHandler"
	p := newPlay(t)
	home := p.stack(loop, "net/http.(*http2serverConn).serve:2", "runtime.selectgo")
	begins := p.stack(loop, "net/http.(*http2serverConn).serve:3", "net/http.(*http2serverConn).processFrame", handle)
	read := p.stack("net/http.(*http2serverConn).readFrames", "net.(*conn).Read", pollIn)
	write := "net/http.(*http2serverConn).writeFrameAsync"
	p.begin(1).create(1, 2, loop, 0).create(1, 3, "net/http.(*http2serverConn).readFrames", 0)
	for g := int64(10); g < 60; g += 2 {
		p.stop(2, reference.ReasonSelect, home).after(10).block(3, reference.ReasonNetwork, read, 100)
		p.wake(3, 2).after(5).create(2, g, handle, begins).create(2, g+1, write, begins)
		p.stop(2, reference.ReasonSelect, home).after(9).exit(g).wake(g+1, 2).after(1).exit(g + 1)
	}
	want := map[string]bool{
		handle: true, write: false,
		loop + " for net/http.(*http2serverConn).readFrames": false,
		loop + " for " + write:                               false,
	}
	got := p.entries()
	delete(got, "net/http.(*http2serverConn).readFrames")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What a unit begins, and is over before it, is a part of it; what main or a goroutine begins that
// does no unit is not. In tests all is a part of them.
func TestEntry(t *testing.T) {
	for _, test := range []bool{false, true} {
		p := newPlay(t)
		start := "main.request"
		if test {
			start = "testing.tRunner"
		}
		stack := p.stack(start+":1", "os.Open")
		p.stacks[stack][1].File = "main.go"
		job, part := p.stack("main.job", "os.Open"), p.stack("main.part", "os.Open")
		p.begin(1).call(1, p.stack("main.main", "main.run", "os.Open"), 5)
		for g := int64(10); g < 250; g += 3 {
			p.create(1, g, start, 0).call(g, stack, 10).create(g, g+1, "main.part", 0).call(g+1, part, 10).exit(g + 1).after(5)
			p.create(g, g+2, "main.job", 0).exit(g).call(g+2, job, 10).exit(g + 2)
		}
		want := map[string]bool{start: true, "main.part": false, "main.job": !test}
		got := p.entries()
		delete(got, "main.run")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

// What a loop begins that accepts connections is a request's, though it runs library code only.
func TestAccepted(t *testing.T) {
	p := newPlay(t)
	accept := p.stack("main.serve", "net.(*netFD).accept", "internal/poll.(*FD).Accept")
	p.begin(1).create(1, 2, "main.serve", 0)
	for g := int64(10); g < 40; g++ {
		p.block(2, reference.ReasonNetwork, accept, 100).create(2, g, "net/rpc.(*Server).ServeConn", 0).after(10).exit(g)
	}
	if d := cmp.Diff(map[string]bool{"net/rpc.(*Server).ServeConn": true}, p.entries()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

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
	for _, c := range []struct {
		start, name string
		test        bool
		marks       []reference.Kind
	}{
		{"main.request", "main.request", false, nil},
		{"testing.tRunner", "testing.tRunner", true, nil},
		{"testing.tRunner", "a", true, []reference.Kind{reference.KindRegionBegin, reference.KindRegionEnd}},
		{"testing.tRunner", "a", true, []reference.Kind{reference.KindTaskBegin, reference.KindTaskEnd}},
	} {
		p := newPlay(t)
		start := c.start
		stack := p.stack(start+":1", "os.Open")
		p.stacks[stack][1].File = "main.go"
		job, part := p.stack("main.job", "os.Open"), p.stack("main.part", "os.Open")
		p.begin(1).call(1, p.stack("main.main", "main.run", "os.Open"), 5)
		for g := int64(10); g < 250; g += 3 {
			p.create(1, g, start, 0)
			for _, kind := range c.marks {
				p.annotate(kind, g, g, 0).after(1)
			}
			p.call(g, stack, 10).create(g, g+1, "main.part", 0).call(g+1, part, 10).exit(g + 1).after(5)
			p.create(g, g+2, "main.job", 0).exit(g).call(g+2, job, 10).exit(g + 2)
		}
		want := map[string]bool{c.name: true, "main.part": false, "main.job": !c.test}
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

// Where main does nothing but wait for the goroutines that it creates, their lives are what begins from
// outside.
func TestEntryOfMain(t *testing.T) {
	p := newPlay(t)
	start, job, wait := p.stack("main.main"), p.stack("main.job", "os.Open"), p.stack("main.main:2", "sync.(*WaitGroup).Wait")
	p.begin(1)
	for g := int64(2); g < 5; g++ {
		p.create(1, g, "main.job", start).call(g, job, 60).exit(g)
	}
	p.block(1, reference.ReasonSync, wait, 60)
	if d := cmp.Diff(map[string]bool{"main.job": true, "main.main": false}, p.entries()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The lives of a few goroutines are parts of main's phases. Where other units begin from outside,
// they do, too, but that of a goroutine which is there for most of the time.
func TestEntryOfFew(t *testing.T) {
	p := newPlay(t)
	p.begin(1).call(1, p.stack("main.main", "main.load", "os.Open"), 100)
	sum := p.stack("main.main:2", "main.sum", "sync.(*WaitGroup).Wait")
	p.create(1, 2, "main.sum.func1", sum).stop(1, reference.ReasonSync, sum).call(2, p.stack("main.sum.func1", "os.Open"), 60).exit(2).wake(0, 1).after(40)
	p.call(1, p.stack("main.main:3", "main.store", "os.Open"), 100)
	want := map[string]bool{"main.load": true, "main.sum": true, "main.store": true, "main.sum.func1": false}
	if d := cmp.Diff(want, p.entries()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	start, job := p.stack("main.main:4", "main.start", "main.begin"), p.stack("main.job", "os.Open")
	p.create(1, 3, "main.ask", start).call(3, p.stack("main.ask", "os.Open"), 1)
	for g := int64(10); g < 40; g++ {
		p.create(1, g, "main.job", start).call(g, job, 60).exit(g)
	}
	p.exit(3)
	want = map[string]bool{"main.load": false, "main.sum": false, "main.store": false, "main.start": false, "main.sum.func1": true, "main.job": true, "main.ask": false}
	if d := cmp.Diff(want, p.entries()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What the loop of a connection wakes is a message's, though it waits for that within the library.
// It comes before what takes more time.
func TestStream(t *testing.T) {
	const transport = "google.golang.org/grpc/internal/transport."
	p := newPlay(t)
	read := p.stack("grpc.serve.func1", transport+"(*http2Server).HandleStreams", "net.(*conn).Read", pollIn)
	next := p.stack("grpc.stream", "main.handle", transport+"(*recvBufferReader).read", "runtime.selectgo")
	lock := p.stack("grpc.stream", "main.handle:2", "sync.(*Mutex).Lock")
	p.waking = p.stack("grpc.serve.func1", transport+"(*http2Server).HandleStreams:2", transport+"(*recvBuffer).put")
	tick, work := p.stack("main.tick", "time.Sleep"), p.stack("main.tick:2", "os.Open")
	p.begin(1).begin(2).begin(3)
	for range enoughBlocks + 20 {
		p.block(3, reference.ReasonSleep, tick, 10).call(3, work, 99)
		p.stop(2, reference.ReasonSelect, next).block(1, reference.ReasonNetwork, read, 100).wake(1, 2).after(5)
		p.block(2, reference.ReasonSync, lock, 20).after(5)
	}
	a := New(p.options())
	feed(a, p.ds)
	kinds := a.Finish(p.now, p.now, itself).Kinds
	if len(kinds) < 2 || kinds[0].Name != "grpc.stream" || !kinds[0].Entry || kinds[1].Name != "main.tick" || kinds[1].TotalNs < kinds[0].TotalNs {
		t.Errorf("%+v", kinds)
	}
}

// A producer begins its units itself, whoever wakes it. A stage that need not wait for more does,
// too, and so does what reads without waiting.
func TestEntryOfPipeline(t *testing.T) {
	p := newPlay(t)
	send, receive := p.stack("main.decode", "runtime.chansend1"), p.stack("main.encode", "runtime.chanrecv1")
	p.waking = receive
	file := p.stack("main.encode:2", "os.Open")
	p.begin(1).begin(2).call(1, p.stack("main.decode:2", "os.Open"), 1)
	for range 4 {
		p.stop(2, reference.ReasonChanReceive, receive).after(5).wake(1, 2).call(2, file, 9)
	}
	for range 500 {
		p.after(40).stop(1, reference.ReasonChanSend, send).call(2, file, 9).wake(2, 1)
	}
	read, load := p.stack("main.load", "net.(*conn).Read", pollIn), p.stack("main.load:2", "os.Open")
	p.begin(3)
	for range 4 {
		p.block(3, reference.ReasonNetwork, read, 20)
	}
	for range 20 {
		p.call(3, load, 1).call(3, read, 1)
	}
	if d := cmp.Diff(map[string]bool{"main.decode": true, "main.encode": true, "main.load": true}, p.entries()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Of units that are not known whole it is not claimed that they begin from outside.
func TestEntryOfOpen(t *testing.T) {
	const conn = "net/http.(*conn).serve"
	p := newPlay(t)
	home, answer := p.stack(conn, "net.(*conn).Read", pollIn), p.stack(conn+":2", "net.(*conn).Write", pollOut)
	p.begin(1)
	for range 5 {
		p.block(1, reference.ReasonNetwork, home, 100).call(1, p.stack(conn+":3", "main.show", "os.Open"), 10).call(1, answer, 10)
	}
	p.block(1, reference.ReasonNetwork, home, 100).call(1, p.stack(conn+":3", "main.list", "os.Open"), 10)
	a := New(p.options())
	feed(a, p.ds)
	got := map[string]bool{}
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		got[k.Name] = k.Entry
	}
	if d := cmp.Diff(map[string]bool{"main.show": true, "main.list": false}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

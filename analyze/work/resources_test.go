package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// A lock that goes from hand to hand is held by each since it got it, while there is a line. What
// a worker does for those who wait is no resource.
func TestResources(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	lock := p.stack("main.job", "main.(*store).put", "sync.(*Mutex).Lock")
	ask := p.stack("main.asker", "main.ask", "runtime.chanrecv1")
	const jobs = 25
	p.begin(1).create(1, 2, "main.job", start)
	for g := int64(3); g < 3+jobs; g++ {
		p.create(1, g, "main.job", start).stop(g, reference.ReasonSync, lock)
	}
	for g := int64(3); g < 3+jobs; g++ {
		p.after(10).wake(g-1, g)
	}
	p.after(1000) // nobody stands in line
	for g := int64(100); g < 100+jobs; g++ {
		p.create(1, g, "main.asker", start).stop(g, reference.ReasonChanReceive, ask).after(10).wake(2, g)
	}
	a := New(p.options())
	feed(a, p.ds)
	want := []Resource{{
		Site: "main.(*store).put", What: "lock", Waits: jobs, WaitNs: 10 * jobs * (jobs + 1) / 2, LineNs: 10 * jobs,
		Places: float64(jobs-1) / jobs, Holders: []Holder{{"main.job", jobs - 1, 10 * (jobs - 1)}}, // the first did not wait
	}}
	if d := cmp.Diff(want, a.Finish(p.now, p.now, itself).Resources); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

package words

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

func TestStack(t *testing.T) {
	lock := stacks.Frame{Function: "sync.(*Mutex).Lock", File: "/usr/local/go/src/sync/mutex.go", Line: 46}
	loop := stacks.Frame{Function: "example.com/shop/queue.(*Worker).loop", File: `C:\shop\queue\worker.go`, Line: 12}
	main := stacks.Frame{Function: "main.main", File: "main.go", Line: 7}
	for _, c := range []struct {
		place stacks.Place
		stack []stacks.Frame
		want  string
	}{
		{stacks.Stopped, []stacks.Frame{loop, main}, "worker.go:12 queue.(*Worker).loop"},
		{stacks.Stopped, []stacks.Frame{lock, loop, main}, "worker.go:12 queue.(*Worker).loop, in sync.(*Mutex).Lock"},
		{stacks.Stopped, []stacks.Frame{lock}, "mutex.go:46 sync.(*Mutex).Lock"},
		{stacks.Stopped, []stacks.Frame{{Function: "main.\x1bf"}}, "(unknown file) main.<U+001B>f"},
		{stacks.Created, []stacks.Frame{main}, "created at main.go:7 main.main"},
		{stacks.NotRecorded, nil, "not recorded"},
		{stacks.Others, nil, "further stacks"},
	} {
		if got := (*Names)(nil).Stack(c.place, c.stack); got != c.want {
			t.Errorf("%v: %q, want %q", c.stack, got, c.want)
		}
	}
}

func TestStopped(t *testing.T) {
	r := &analyze.Result{}
	r.Waits.Classes = []waits.Class{
		{ID: 1, Name: "main.work", Creator: "main.a", Waits: waits.Summary{TotalNs: 50}},
		{ID: 2, Name: "main.work", Creator: "main.b", Waits: waits.Summary{TotalNs: 100}},
	}
	r.Stacks.Frames = []stacks.Frame{{Function: "main.work", File: "main.go", Line: 3}, {Function: "main.b", File: "main.go", Line: 9}}
	r.Stacks.Rows = []stacks.Row{
		{Class: 2, Place: stacks.Others, WaitNs: 60},
		{Class: 1, Place: stacks.Stopped, Stack: []int32{0}, WaitNs: 50},
		{Class: 2, Place: stacks.Created, Stack: []int32{1}, WaitNs: 40},
	}
	for _, c := range []struct {
		a    findings.Actor
		want string
	}{
		{findings.Actor{Role: findings.Victim, Class: "main.work", Creator: "main.a"}, "before 100 % of its waiting, its class had stopped at main.go:3 main.work"},
		{findings.Actor{Role: findings.Victim, Class: "main.work", Creator: "main.b"}, "40 % of the waiting of its class came before the first run, created at main.go:9 main.b"},
		{findings.Actor{Role: findings.Cause, Class: "main.work", Creator: "main.a"}, ""},
		{findings.Actor{Role: findings.Victim, Class: "main.other"}, ""},
	} {
		if got := (*Names)(nil).Stopped(r, &c.a); got != c.want {
			t.Errorf("%+v: %q, want %q", c.a, got, c.want)
		}
	}
}

package words

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// alike has classes that would be called the same without the paths of their packages.
func alike() *analyze.Result {
	r := &analyze.Result{Findings: []findings.Finding{{ID: "convoy", Actors: []findings.Actor{{Role: findings.Cause, Class: "c.com/only/found.F"}}}}}
	r.Waits.Classes = []waits.Class{
		{Name: "a.com/x/server.Run", Creator: "a.com/x.main"},
		{Name: "b.com/y/server.Run", Creator: "a.com/x.main"},
		{Name: "b.com/nats-io/nats.go.(*Conn).readLoop, started by a.com/x/server.Run", StartedBy: "a.com/x/server.Run"},
	}
	return r
}

func TestNames(t *testing.T) {
	names := NewNames(ClassesOf(alike()), false)
	for _, c := range []struct{ name, short, full string }{
		{"a.com/x/server.Run", "x/server.Run", "a.com/x/server.Run"},
		{"b.com/y/server.Run", "y/server.Run", "b.com/y/server.Run"},
		{"b.com/nats-io/nats.go.(*Conn).readLoop, started by a.com/x/server.Run", "nats.(*Conn).readLoop, started by x/server.Run", "b.com/nats-io/nats.go.(*Conn).readLoop, started by a.com/x/server.Run"},
		{"c.com/only/found.F", "found.F", "c.com/only/found.F"},
		{"d.com/of/a/stack.F (d.com/of/a/stack.go:1)", "stack.F (d.com/of/a/stack.go:1)", "d.com/of/a/stack.F (d.com/of/a/stack.go:1)"},
		{"", "goroutines of unknown start function", "goroutines of unknown start function"},
		{"a.com/x.\u202eF", "x.<U+202E>F", "a.com/x.<U+202E>F"},
	} {
		if got := names.Class(c.name); got != c.short {
			t.Errorf("%q is called %q, want %q", c.name, got, c.short)
		}
		if got := names.Full().Class(c.name); got != c.full {
			t.Errorf("%q is called %q in full, want %q", c.name, got, c.full)
		}
	}
	if got := names.Full().ShortName("a.com/x/server.Run"); got != "x/server.Run" {
		t.Errorf("where names are in full the short one is %q", got)
	}
	long := "a.com/" + strings.Repeat("x", 300) + ".F"
	if s := names.Shortened(long, 20); len([]rune(s)) != 20 {
		t.Errorf("%q", s)
	}
	if s := names.Full().Shortened(long, 20); s != long {
		t.Errorf("%q", s)
	}
}

// That the library has started a function is left out, where another class does not run it, too.
func TestNamesWithoutTheLibrary(t *testing.T) {
	names := NewNames([]string{
		"main.serve, started by sync.(*WaitGroup).Go.func1", "main.load, started by golang.org/x/sync/errgroup.(*Group).Go.func1",
		"main.save, started by example.com/x/pool.(*Pool).run", "main.twice, started by sync.(*WaitGroup).Go.func1", "main.twice",
		"(unknown function), started by testing.tRunner",
	}, false)
	for _, c := range []struct{ name, want string }{
		{"main.serve, started by sync.(*WaitGroup).Go.func1", "main.serve"},
		{"main.load, started by golang.org/x/sync/errgroup.(*Group).Go.func1", "main.load"},
		{"main.save, started by example.com/x/pool.(*Pool).run", "main.save, started by pool.(*Pool).run"},
		{"main.twice, started by sync.(*WaitGroup).Go.func1", "main.twice, started by sync.(*WaitGroup).Go.func1"},
		{"main.twice", "main.twice"},
		{"(unknown function), started by testing.tRunner", "(unknown function), started by testing.tRunner"},
	} {
		for _, n := range []*Names{names, names.Full()} {
			if got := n.ShortName(c.name); got != c.want {
				t.Errorf("%q is %q for short, want %q", c.name, got, c.want)
			}
		}
		if got := names.Full().Class(c.name); got != c.name {
			t.Errorf("%q is called %q in full", c.name, got)
		}
	}
}

// TestNamesInTexts shortens names, and nothing else.
func TestNamesInTexts(t *testing.T) {
	names := NewNames([]string{"a.com/x/server.Run", "b.com/y/server.Run", "b.com/y/server.Run.func1"}, false)
	for _, c := range []struct {
		text findings.Text
		want string
	}{
		{findings.Say("%s waits for %s, not a.com/x/server.Run", findings.Name("a.com/x/server.Run"), findings.Name("b.com/y/server.Run.func1")), "x/server.Run waits for server.Run.func1, not a.com/x/server.Run"},
		{findings.Say("%s ran", findings.Name("k8s.io/klog/v2.(*T).flush")), "klog.(*T).flush ran"},
		{findings.Say("%s waits", findings.Name("main.work[...], started by golang.org/x/sync/errgroup.(*Group).Go.func1")), "main.work[...] waits"},
		{findings.Say("in %s", findings.Frame("d.com/of/a.F (d.com/of/a/b.go:1)")), "in a.F (b.go:1)"},
		{findings.Say("see %s", findings.ID("lock-convoy")), "see lock-convoy"},
		{findings.Say("x\u202ey, %s", findings.Name("a.com/x.\u202eF")), "x<U+202E>y, x.<U+202E>F"},
		{nil, ""},
	} {
		if got := names.Text(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
		if got, want := names.Full().Text(c.text), Visible(c.text.String()); got != want {
			t.Errorf("in full %q becomes %q, want %q", c.text, got, want)
		}
	}
}

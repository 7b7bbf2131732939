package analyze

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
)

func TestAnonymousNames(t *testing.T) {
	n := newNames(true)
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"main.main", "main.main"},
		{"main.secret", "main.f1"},
		{"example.com/shop/internal/search.(*Index).rebuild.func2", "p1.f2"},
		{"example.com/shop/internal/search.Open", "p1.f3"},
		{"example.com/shop/internal/search.(*Index).rebuild.func2", "p1.f2"}, // the same again
		{"monorepo/pay.Charge[go.shape.struct { monorepo/pay.card string }]", "p2.f4"},
		{"net/http.(*conn).serve", "net/http.(*conn).serve"},
		{"slices.SortFunc[go.shape.[]example.com/shop.Card]", "slices.SortFunc[...]"},
		{"runtime.gcBgMarkWorker", "runtime.gcBgMarkWorker"},
		{"noDotAtAll", "p3"},
	} {
		if got := n.function(c.in); got != c.want {
			t.Errorf("%q is called %q, want %q", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		f    events.Frame
		want string
	}{
		{events.Frame{Func: "main.secret", File: "/home/me/secret/main.go", Line: 7}, "main.f1 (main/file1.go:7)"},
		{events.Frame{Func: "sync.(*Mutex).Lock", File: `C:\Users\me\go\src\sync\mutex.go`, Line: 9}, "sync.(*Mutex).Lock (sync/mutex.go:9)"},
	} {
		if got := n.frame(c.f); got != c.want {
			t.Errorf("%v: %q, want %q", c.f, got, c.want)
		}
	}
	if s := n.trace("/home/me/secret.out"); s != "trace" {
		t.Error(s)
	}
	if s := newNames(false).function("main.secret"); s != "main.secret" {
		t.Error(s)
	}
}

package funcname

import (
	"slices"
	"strings"
	"testing"
)

func TestWritten(t *testing.T) {
	for _, c := range []struct{ symbol, want string }{
		{"", ""},
		{"main.main", "main.main"},
		{"net/http.(*conn).serve", "net/http.(*conn).serve"},
		{"github.com/nats-io/nats%2ego.(*Conn).readLoop", "github.com/nats-io/nats.go.(*Conn).readLoop"},
		{"gopkg.in/yaml%2ev3.(*Decoder).Decode.func1", "gopkg.in/yaml.v3.(*Decoder).Decode.func1"},
		{"example.com/caf%c3%a9.F", "example.com/café.F"},
		{"a%252e.F", "a%2e.F"}, // once
		{"a.F%2e", "a.F%2e"},   // the path alone is escaped
		{"a%2.F", "a%2.F"},
		{"a%", "a%"},
		{"a%2E.F", "a%2E.F"},               // the linker has small letters
		{"a%zz.F", "a%zz.F"},               //
		{"a%0ab.F", "a%0ab.F"},             // a line break
		{"a%1b[31m.F", "a%1b[31m.F"},       //
		{"a%e2%80%aeb.F", "a%e2%80%aeb.F"}, // right-to-left override
		{"a%20b.F", "a%20b.F"},             // ends names elsewhere
		{"a%ff.F", "a%ff.F"},               // no UTF-8
		{"100%", "100%"},                   //
		{"sync.OnceValue[...].func1.1", "sync.OnceValue[...].func1.1"},
		{"main.Map[go.shape.int,go.shape.string]", "main.Map[...]"},
		{"main.(*List[go.shape.struct { X []int }]).Walk.func1", "main.(*List[...]).Walk.func1"},
		{"main.F[int].G[go.shape.int_0]", "main.F[int].G[...]"},
		{"main.F[go.shape.int", "main.F[go.shape.int"}, // cut
		{"main.F]go.shape.int[", "main.F]go.shape.int["},
		{"go.etcd.io/bbolt.(*batch).trigger-fm", "go.etcd.io/bbolt.(*batch).trigger"},
		{"main.-fm", "main.-fm"},
		{"encoding/json.TestBlocking.func1.gowrap1", "encoding/json.TestBlocking.func1 (go wrapper 1)"},
		{"os.(*File).close.deferwrap12", "os.(*File).close (defer wrapper 12)"},
		{"main.f·dwrap·3", "main.f (go or defer wrapper 3)"},
		{"main.gowrap1", "main.gowrap1"}, // a function
		{"main.gowrap", "main.gowrap"},
		{"main.f.gowrapx", "main.f.gowrapx"},
		{"fmt.glob..func1", "fmt.init.func1"},
		{"main.globe.func1", "main.globe.func1"},
		{"main.serve.func1.2", "main.serve.func1.2"},
		{"main.serve-range1.func2", "main.serve-range1.func2"},
	} {
		if got := Written(c.symbol); got != c.want {
			t.Errorf("%q is written %q, want %q", c.symbol, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct{ classes, want []string }{
		{nil, nil},
		{[]string{"main.main", "", "(unknown function)"}, []string{"main.main", "", "(unknown function)"}},
		{
			[]string{"github.com/nats-io/nats.go.(*Conn).readLoop", "gopkg.in/yaml.v3.F", "github.com/redis/go-redis/v9.(*Client).Get", "net/http.(*conn).serve"},
			[]string{"nats.(*Conn).readLoop", "yaml.F", "go-redis.(*Client).Get", "http.(*conn).serve"},
		},
		{ // the version tells them apart
			[]string{"a.com/x/v2.F", "a.com/x.F", "a.com/x/v2.G"},
			[]string{"x/v2.F", "a.com/x.F", "x.G"},
		},
		{ // as much of the path as it takes
			[]string{"a.com/foo/internal/server.F", "a.com/bar/internal/server.F", "b.com/other/server.F"},
			[]string{"foo/internal/server.F", "bar/internal/server.F", "other/server.F"},
		},
		{ // all of it
			[]string{"a.com/1/2/3/4/5/6.F", "b.com/1/2/3/4/5/6.F"},
			[]string{"a.com/1/2/3/4/5/6.F", "b.com/1/2/3/4/5/6.F"},
		},
		{[]string{"rand.F", "math/rand.F", "crypto/rand.F"}, []string{"rand.F", "math/rand.F", "crypto/rand.F"}},
		{[]string{"x/nats.F", "nats.go.F"}, []string{"x/nats.F", "nats.go.F"}},
		{ // of classes, each function by itself
			[]string{"a.com/x.F, started by golang.org/x/sync/errgroup.(*Group).Go.func1", "b.com/x.F", "(unknown function), woken by a.com/x.G"},
			[]string{"a.com/x.F, started by errgroup.(*Group).Go.func1", "b.com/x.F", "(unknown function), woken by x.G"},
		},
		{ // type arguments hold paths of their own
			[]string{"a.com/x.F[b.com/y.T]", "c.com/z/x.F[b.com/y.T]"},
			[]string{"a.com/x.F[b.com/y.T]", "z/x.F[b.com/y.T]"},
		},
		{[]string{"a.com/\u202ex.F", "a b/c.F", "/etc/x.F", "a/.F", "a/b.", "http://h/p.F"}, []string{"\u202ex.F", "a b/c.F", "/etc/x.F", "a/.F", "a/b.", "http://h/p.F"}},
	} {
		s := Shorten(c.classes)
		for i, name := range c.classes {
			if got := s.Class(name); got != c.want[i] {
				t.Errorf("%q is %q for short, want %q", name, got, c.want[i])
			}
		}
	}
}

func TestSpellings(t *testing.T) {
	got := Spellings("a.com/b/nats.go.F, started by c.com/d.G")
	slices.Sort(got)
	want := []string{
		"a.com/b/nats.go.F", "a.com/b/nats.go.F, started by c.com/d.G", "b/nats.go.F", "b/nats.go.F, started by c.com/d.G",
		"nats.F", "nats.F, started by d.G", "nats.go.F", "nats.go.F, started by c.com/d.G",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Spellings("main.main"); !slices.Equal(slices.Compact(got), []string{"main.main"}) {
		t.Errorf("%q", got)
	}
}

// TestUnknownShort holds names that no table has.
func TestUnknownShort(t *testing.T) {
	for _, s := range []*Shorts{nil, Shorten([]string{"a.com/x.F", "b.com/x.F"})} {
		if got := s.Class("c.com/d/x/v2.F, started by c.com/d.G"); got != "x.F, started by d.G" {
			t.Errorf("%q", got)
		}
	}
}

// TestUnique shortens many names that are alike.
func TestUnique(t *testing.T) {
	var classes []string
	for i := range 2000 {
		classes = append(classes, "h"+strings.Repeat("/d", i%500)+"/x.F")
	}
	s := Shorten(classes)
	seen := map[string]string{}
	for _, c := range classes {
		short := s.Class(c)
		if other, ok := seen[short]; ok && other != c {
			t.Fatalf("%q and %q are both %q", other, c, short)
		}
		seen[short] = c
	}
}

func FuzzNames(f *testing.F) {
	f.Add("github.com/nats-io/nats%2ego.(*Conn).readLoop", "x/nats.(*Conn).readLoop", "main.f.gowrap1")
	f.Add("a/v2.F, started by b.G", "a.F", "c/a/v2.go.F")
	f.Add("a.b/v2.go.F", "a.b.F", "x/a.F[go.shape.int]")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var names []string
		for _, symbol := range []string{a, b, c} {
			w := Written(symbol)
			if len(w) > len(symbol)+len(" (go or defer wrapper )") {
				t.Fatalf("%q grew to %q", symbol, w)
			}
			if !strings.Contains(w, "%") && Path(w) != w {
				t.Fatalf("%q is unescaped to %q", w, Path(w))
			}
			what, _, who := Cut(w)
			names = append(names, what, who)
		}
		s := Shorten(names)
		seen := map[string]string{}
		for _, n := range names {
			short := s.Function(n)
			if other, ok := seen[short]; ok && other != n {
				t.Fatalf("%q and %q are both %q", other, n, short)
			}
			if len(short) > len(n) {
				t.Fatalf("%q is longer than %q", short, n)
			}
			seen[short] = n
		}
	})
}

package findings_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/funcname"
)

func TestProgramsFunction(t *testing.T) {
	for _, c := range []struct {
		name            string
		frames          []string
		function, place string
	}{
		{"no frames", nil, "", ""},
		{"own frame below the library", []string{"sync.(*Mutex).Unlock (sync/mutex.go:65)", "main.put (main.go:6)", "main.main (main.go:1)"}, "main.put", "main.go:6"},
		{"called in another module", []string{"github.com/a/zip.(*W).Write (w.go:1)", "main.export (main.go:6)", "main.main (main.go:1)"}, "main.export", "main.go:6"},
		{"another package of the repository", []string{"github.com/a/b/db.get (db.go:1)", "github.com/a/b/web.serve (web.go:6)", "net/http.(*conn).serve (server.go:2)"}, "github.com/a/b/db.get", "db.go:1"},
		{"deferred", []string{"sync.(*Mutex).Unlock (mutex.go:65)", "main.(*T).put (defer wrapper 1) (main.go:6)"}, "main.(*T).put", "main.go:6"},
		{"library only", []string{"runtime.gopark (proc.go:1)", "net/http.(*conn).serve (server.go:2)"}, "net/http.(*conn).serve", "server.go:2"},
		{"a package that sounds like it", []string{"text/acme.run (acme.go:3)"}, "text/acme.run", "acme.go:3"},
		{"another package of main's module", []string{
			"github.com/a/b/internal/db.get (github.com/a/b/internal/db/db.go:1)", "main.main (github.com/a/b/cmd/b/main.go:6)",
		}, "github.com/a/b/internal/db.get", "github.com/a/b/internal/db/db.go:1"},
		{"another package of main's module, no trimpath", []string{
			"sort.Sort (/usr/local/go/src/sort/sort.go:9)", "example.com/b/internal/db.get (/src/b/internal/db/db.go:1)", "main.main (/src/b/cmd/b/main.go:6)",
		}, "example.com/b/internal/db.get", "/src/b/internal/db/db.go:1"},
		{"a module that main requires", []string{
			"github.com/x/y.Do (/root/go/pkg/mod/github.com/x/y@v1.2.3/do.go:1)", "main.main (/src/b/cmd/b/main.go:6)",
		}, "main.main", "/src/b/cmd/b/main.go:6"},
		{"a vendored one", []string{
			"github.com/x/y.Do (github.com/a/b/vendor/github.com/x/y/do.go:1)", "main.main (github.com/a/b/main.go:6)",
		}, "main.main", "github.com/a/b/main.go:6"},
		{"called by a module", []string{
			"github.com/a/b/cart.(*Service).Add (github.com/a/b/cart/cart.go:1)", "google.golang.org/grpc.(*Server).processUnaryRPC (google.golang.org/grpc@v1.70.0/server.go:6)",
		}, "github.com/a/b/cart.(*Service).Add", "github.com/a/b/cart/cart.go:1"},
		{"main, called by a package of its module", []string{
			"time.Sleep (runtime/time.go:1)", "main.lookUp (main.go:9)", "example.org/shop/rpc.(*Server).answer (rpc/server.go:6)",
		}, "main.lookUp", "main.go:9"},
		{"a module alone", []string{
			"runtime.gopark (runtime/proc.go:1)", "google.golang.org/grpc/internal/transport.(*Server).run (google.golang.org/grpc@v1.70.0/server.go:6)",
		}, "google.golang.org/grpc/internal/transport.(*Server).run", "google.golang.org/grpc@v1.70.0/server.go:6"},
		{"no place", []string{"main.f"}, "main.f", ""},
	} {
		if function, place := findings.ProgramsFunction(c.frames, ""); string(function) != c.function || place != c.place {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, function, place, c.function, c.place)
		}
	}
}

// Inside a library its function is named, and the program's that called it.
func TestNamesTheLibrarysFunction(t *testing.T) {
	stack := []string{
		"sync.(*Mutex).Unlock (sync/mutex.go:65)", "golang.org/x/sync/semaphore.(*Weighted).Release (golang.org/x/sync@v0.7.0/semaphore/semaphore.go:1)",
		"example.org/log.(*Entry).fire (/go/pkg/mod/example.org/log@v1.7.0/entry.go:2)", "example.org/log.(*Entry).Info (/go/pkg/mod/example.org/log@v1.7.0/entry.go:3)",
		"main.handle (/src/a/main.go:4)", "main.serve (/src/a/main.go:5)",
	}
	for _, c := range []struct {
		inside                   bool
		doer, work, short, brief string
	}{
		{true, "example.org/log.(*Entry).fire, called by main.handle,", "example.org/log.(*Entry).fire (called by main.handle)", "example.org/log.(*Entry).fire", "example.org/log.(*Entry).fire"},
		{false, "main.handle, called by main.serve,", "main.handle (run by main.serve)", "main.handle", "main.handle"},
	} {
		a := &findings.Actor{Class: "main.serve", Stack: stack}
		if c.inside {
			a = a.AtInnermost()
		}
		if a.Doer().String() != c.doer || a.Work().String() != c.work || string(a.Short()) != c.short || string(a.Brief()) != c.brief {
			t.Errorf("%q, %q, %q, %q; want %+v", a.Doer(), a.Work(), a.Short(), a.Brief(), c)
		}
	}
}

// The module of a function is told by the folder with a version in which its file is.
func TestModule(t *testing.T) {
	stack := []string{
		"sync.(*Mutex).Unlock (sync/mutex.go:65)",
		"github.com/Some/log/hooks.(*Hook).fire (/go/pkg/mod/github.com/!some/log@v1.7.0-rc.1/hooks/hook.go:2)", "main.serve (/src/a/main.go:5)",
	}
	a := &findings.Actor{Stack: stack}
	inner, tested := a.AtInnermost(), a.AtInnermost()
	tested.Tested = "github.com/Some/log"
	root := &findings.Actor{Innermost: true, Stack: []string{"gopkg.in/yaml.v3.load (gopkg.in/yaml.v3@v3.0.1/yaml.go:7)"}}
	for want, a := range map[string]*findings.Actor{"github.com/Some/log@v1.7.0-rc.1": inner, "gopkg.in/yaml.v3@v3.0.1": root} {
		if got := a.Module(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, a := range []*findings.Actor{a, tested} {
		if got := a.Module(); got != "" {
			t.Errorf("%q of %+v", got, a)
		}
	}
}

func TestCaller(t *testing.T) {
	for _, c := range []struct {
		class string
		stack []string
		want  string
	}{
		{"main.serve", []string{"time.Sleep (a.go:1)", "main.wait (a.go:2)", "main.load (a.go:3)", "main.serve (a.go:4)"}, "main.load"},
		{"main.serve", []string{"time.Sleep (a.go:1)", "main.wait (a.go:2)", "main.serve (a.go:4)"}, ""},
		{"main.serve", []string{"time.Sleep (a.go:1)", "main.wait (a.go:2)", "net/http.(*conn).serve (a.go:4)"}, ""},
		{"main.serve", []string{"main.serve (a.go:4)"}, ""},
		{"main.serve", nil, ""},
	} {
		if got := (&findings.Actor{Class: c.class, Stack: c.stack}).Caller(); string(got) != c.want {
			t.Errorf("%v: %q, want %q", c.stack, got, c.want)
		}
	}
}

func TestWorkNamesWhoCallsAHelper(t *testing.T) {
	for _, c := range []struct {
		helper, want, short string
	}{
		{"main.hash", "main.hash (run by main.serve)", "main.hash"},
		{"example.org/shop/sums.Hash", "main.load (in example.org/shop/sums.Hash, run by main.serve)", "main.load"},
	} {
		a := &findings.Actor{Class: "main.serve", Stack: []string{c.helper + " (/shop/sums/a.go:2)", "main.load (/shop/a.go:3)", "main.serve (/shop/a.go:4)"}}
		if got := a.Work(); got.String() != c.want {
			t.Errorf("%q, want %q", got, c.want)
		} else if got := a.Brief(); string(got) != c.short {
			t.Errorf("in short %q, want %q", got, c.short)
		}
	}
}

// Of goroutines whose start function is missing it names the function that they run.
func TestBriefOfAnUnknownStart(t *testing.T) {
	a := findings.Actor{Class: funcname.NotShown + funcname.StartedBy + "main.main", Stack: []string{"example.org/weave.(*Pattern).Compile (weave.go:1)"}}
	if got, want := a.Brief(), "example.org/weave.(*Pattern).Compile"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBriefNamesWhoCallsAHelper(t *testing.T) {
	for helper, want := range map[string]string{"main.hash": "main.hash", "example.org/shop/sums.Hash": "main.load", "crypto/sha256.Sum256": "main.load"} {
		a := &findings.Actor{Class: "main.serve", Stack: []string{helper + " (/shop/sums/a.go:2)", "main.load (/shop/a.go:3)", "main.serve (/shop/a.go:4)"}}
		if got := a.Brief(); string(got) != want {
			t.Errorf("%s: %q, want %q", helper, got, want)
		}
	}
	a := &findings.Actor{Class: "main.serve", Stack: []string{"example.org/shop/sums.Hash (/shop/sums/a.go:2)", "sync.(*WaitGroup).Go.func1 (a.go:3)"}}
	if got := a.Brief(); got != "main.serve" {
		t.Error(got)
	}
}

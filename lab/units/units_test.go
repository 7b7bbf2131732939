package units

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/lab/runner"
)

const root = "../.."

// Each label says what it must, of a program that names the function.
func TestLabels(t *testing.T) {
	labels, err := Read(root)
	if err != nil || len(labels) != 20 {
		t.Fatalf("%d labels, %v", len(labels), err)
	}
	whats := []string{"running", "lock", "waitgroup", "channel", "select", "network", "sleep", "child"}
	for _, l := range labels {
		files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(Dir), l.Name, "*.go"))
		var source strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
		if l.Style == "" || l.First == "" || l.Procs < 1 || !slices.Contains(whats, l.What) || !strings.Contains(source.String(), `"`+l.Kind+`"`) {
			t.Errorf("%s: %+v", l.Name, l)
		}
		name := l.Function[strings.LastIndexByte(l.Function, '.')+1:]
		if l.Function != "database/sql.(*DB).conn" && !strings.Contains(source.String(), name) {
			t.Errorf("%s has no %s", l.Name, l.Function)
		}
	}
}

// unit is one of a test, in µs.
func unit(g, r0, t0, t1, w1 int64) *Unit {
	return &Unit{Class: "main.serve", G: g, R0: r0 * 1000, T0: t0 * 1000, T1: t1 * 1000, W1: w1 * 1000, Visible: true}
}

func found(g, from, to int64) work.Unit {
	return work.Unit{Class: "main.serve", G: g, From: from * 1000, To: to * 1000}
}

// A unit is right if both ends are within their bounds, or near.
func TestMatch(t *testing.T) {
	truth := []*Unit{unit(1, 100, 150, 300, 400), unit(1, 500, 500, 600, 600), unit(2, 100, 100, 4100, 4100)}
	for _, c := range []struct {
		name  string
		found []work.Unit
		right int
	}{
		{"exact", []work.Unit{found(1, 150, 300), found(1, 500, 600), found(2, 100, 4100)}, 3},
		{"at the bounds", []work.Unit{found(1, 100, 400)}, 1},
		{"50 µs outside of them", []work.Unit{found(1, 50, 450)}, 1},
		{"51 µs before", []work.Unit{found(1, 49, 400)}, 0},
		{"51 µs after", []work.Unit{found(1, 100, 451)}, 0},
		{"5 % of a long one", []work.Unit{found(2, 300, 4300)}, 1},
		{"more than that", []work.Unit{found(2, 301, 4300)}, 0},
		{"on another goroutine", []work.Unit{found(3, 150, 300)}, 0},
		{"twice", []work.Unit{found(1, 150, 300), found(1, 140, 300)}, 1},
	} {
		if got := len(match(truth, c.found)); got != c.right {
			t.Errorf("%s: %d pairs, want %d", c.name, got, c.right)
		}
	}
	twice := match(truth, []work.Unit{found(1, 140, 310), found(1, 150, 300)})
	if want := []pair{{0, 1, 0, 0}}; !reflect.DeepEqual(twice, want) {
		t.Errorf("of two that fit %v is taken, want %v", twice, want)
	}
	within := match(truth, []work.Unit{found(1, 160, 300), found(1, 100, 400)})
	if want := []pair{{0, 1, 0, 150_000}}; !reflect.DeepEqual(within, want) {
		t.Errorf("of one that is within the bounds and one that is not %v is taken, want %v", within, want)
	}
}

func TestScore(t *testing.T) {
	truth := []*Unit{unit(1, 0, 0, 100, 100), unit(1, 200, 200, 300, 300), unit(1, 400, 400, 500, 500), unit(1, 600, 600, 700, 700)}
	truth[3].Visible = false
	x := onClasses(truth, []work.Unit{found(1, 0, 100), found(1, 200, 300), found(1, 400, 700), {Class: "main.other", G: 1}})
	got := score(truth, x, match(truth, x))
	want := Score{Units: 4, Found: 3, Recall: 0.5, Visible: 0.75, VisibleRecall: 2.0 / 3, Precision: 2.0 / 3, P99: 2}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The bounds of a unit come from what its goroutine did between its neighbours.
func TestBound(t *testing.T) {
	events := []moment{{10, ready}, {50, ready}, {90, block}, {95, ready}, {120, writes}, {130, called}, {140, other}, {150, called}, {160, block}, {170, writes}, {180, called}}
	u := &Unit{T0: 100, T1: 110, W1: 112}
	u.bound(events, 60, 1000)
	if u.R0 != 95 || u.W1 != 130 || !u.Visible {
		t.Errorf("%+v", u)
	}
	u = &Unit{T0: 100, T1: 110, W1: 112}
	u.bound(events, 97, 125)
	if u.R0 != 100 || u.W1 != 112 {
		t.Errorf("between neighbours: %+v", u)
	}
	u = &Unit{T0: 1e6, T1: 2e6, W1: 2e6}
	if u.bound(events, 0, 1e9); u.Visible {
		t.Errorf("far from all events: %+v", u)
	}
}

// The cause is what slow units do longer, by what their own goroutine waits for.
func TestCause(t *testing.T) {
	lock := &work.Via{What: "lock", Site: "main.(*journal).append"}
	part := func(via *work.Via, who, what string, typical, slow int64) work.TimePart {
		return work.TimePart{Via: via, Leaf: work.Leaf{Who: who, What: what}, Ns: slow, TypicalNs: typical, SlowNs: slow}
	}
	k := &work.UnitKind{Count: 100, Path: []work.TimePart{
		part(nil, "main.serve", "running", 100, 200), part(lock, "main.flush", "network", 0, 60), part(lock, "main.flush", "running", 0, 50),
	}}
	l := &Label{What: "lock", Function: "(*journal).append"}
	if c := l.cause(k); c.String() != "right" || c.Text != "lock main.(*journal).append, while main.flush is network" {
		t.Errorf("%+v", c)
	}
	if k.Path[0].TypicalNs = 200; l.cause(k).String() != "right" {
		t.Error("slow units are half as long again as typical ones")
	}
	if k.Path[0].TypicalNs = 210; l.cause(k).String() != "WRONG" {
		t.Error("slow units are like typical ones, which run")
	}
	if c := (&Label{What: "running", Function: "main.other"}).cause(k); c.String() != "function" {
		t.Errorf("%+v", c)
	}
}

// The kind that is judged is one that the text explains, if there is one.
func TestKind(t *testing.T) {
	truth := []*Unit{unit(1, 0, 0, 900, 900), unit(1, 1000, 1000, 1100, 1100), unit(1, 2000, 2000, 2200, 2200)}
	x := []work.Unit{found(1, 0, 900), found(1, 1000, 1100), found(1, 2000, 2200)}
	for i, name := range []string{"main.serve", "main.order", "main.order"} {
		truth[i].Kind, x[i].Kind, x[i].How = "order", name, work.Cycle
	}
	kinds := []work.UnitKind{
		{Name: "main.serve", Class: "main.serve", How: "cycle"}, {Name: "main.order", Class: "main.serve", How: "cycle"}, {Name: "main.serve", Class: "main.serve", How: "lifetime"},
	}
	l, pairs := &Label{Kind: "order"}, match(truth, x)
	if k := l.kind(truth, x, pairs, kinds); k != &kinds[0] {
		t.Errorf("of two kinds the one with less time is judged: %+v", k)
	}
	kinds[1].Entry = true
	if k := l.kind(truth, x, pairs, kinds); k != &kinds[1] {
		t.Errorf("a kind that begins from outside is not judged, but %+v", k)
	}
	slices.Reverse(kinds[:2])
	if k := l.kind(truth, x, pairs, kinds); k != &kinds[0] {
		t.Errorf("a kind that begins from outside is first, but judged is %+v", k)
	}
	if k := (&Label{Kind: "price"}).kind(truth, x, pairs, kinds); k != nil {
		t.Errorf("units of no such kind, but %+v", k)
	}
}

// Programs that are recorded now write down their units by the clock of the trace: the twin's
// regions lie within them, and there are no others.
func TestLive(t *testing.T) {
	labels, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		labels = slices.DeleteFunc(labels, func(l *Label) bool { return l.Name != "cron-jobs" && l.Name != "test-ledger" })
	}
	from := Fresh(runner.New(root, t.TempDir()).Record)
	for _, l := range labels {
		_, twin := l.Takes("go1.26.8")
		x, err := from(t.Context(), twin)
		if err != nil {
			t.Fatal(err)
		}
		truth, err := read(x.Units)
		if err != nil {
			t.Fatal(err)
		}
		units, _, err := analyzed(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		units = slices.DeleteFunc(units, func(u work.Unit) bool { return u.How != work.Region })
		for _, u := range truth {
			at := slices.IndexFunc(units, func(x work.Unit) bool {
				return x.Kind == u.Kind && x.Class == u.Class && x.G == u.G && x.From >= u.T0-64 && x.To <= u.T1 // a tick of the trace is 64 ns
			})
			if at < 0 {
				t.Fatalf("%s: no region is within %+v", l.Name, u)
			}
			units = slices.Delete(units, at, at+1)
		}
		if len(units) > 0 {
			t.Errorf("%s: %d regions are of no unit", l.Name, len(units))
		}
	}
}

// A recording in which units are found, and their cause, as it was when it was made.
func TestJudge(t *testing.T) {
	labels, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	from := Stored("testdata")
	for _, l := range labels {
		if l.Name != "cron-jobs" {
			continue
		}
		plain, _ := l.Takes("go1.26.8")
		j, err := l.judge(t.Context(), plain, from)
		if err != nil {
			t.Fatal(err)
		}
		if j.VisibleRecall < 0.98 || j.Precision < 0.95 || j.Unknown > 0.1 || j.Cause.String() != "right" {
			t.Errorf("%+v", j)
		}
		if err := Judge(t.Context(), io.Discard, []*Label{l}, "go1.26.8", from); err != nil {
			t.Error(err)
		}
	}
}

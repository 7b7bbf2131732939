package analyze_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	exp "golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// In each trace the stacks of a class hold its waiting, by cause and in number.
func TestStacksHoldAllWaiting(t *testing.T) {
	for _, file := range traces(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a := analysis(t, file)
			if errors.Is(a.err, analyze.ErrNoEvents) {
				t.Skip(a.err)
			}
			if a.err != nil {
				t.Fatal(a.err)
			}
			checkStacks(t, a.Result)
		})
	}
}

// checkStacks holds the rows of the stacks against the waits of the classes.
func checkStacks(t testing.TB, r *analyze.Result) {
	t.Helper()
	type causes map[waits.Cause]int64
	got, count := map[int32]causes{}, map[int32]int64{}
	for _, row := range r.Stacks.Rows {
		sum := int64(0)
		if got[row.Class] == nil {
			got[row.Class] = causes{}
		}
		for _, c := range row.Causes {
			got[row.Class][c.Cause] += c.Ns
			sum += c.Ns
		}
		count[row.Class] += row.Waits
		if sum != row.WaitNs || row.BlockedNs < 0 {
			t.Errorf("%+v: its causes sum to %d ns", row, sum)
		}
	}
	for _, c := range r.Waits.Classes {
		if count[c.ID] != c.Waits.Count {
			t.Errorf("class %d, %s: %d waits, want %d", c.ID, c.Name, count[c.ID], c.Waits.Count)
		}
		for _, w := range c.Causes {
			if n := got[c.ID][w.Cause]; n != w.Ns {
				t.Errorf("class %d, %s: %d ns of %s, want %d", c.ID, c.Name, n, w.Cause, w.Ns)
			}
		}
		delete(got, c.ID)
	}
	for id, c := range got {
		for cause, ns := range c {
			if ns != 0 {
				t.Errorf("class %d, which is none: %d ns of %s", id, ns, cause)
			}
		}
	}
}

// TestStacksWithHoles removes entries from the stack tables: the waits stay, those whose
// stack is gone are not recorded, and no other stack changes.
func TestStacksWithHoles(t *testing.T) {
	whole := tracetest.Recorded(t, "mutex-go1.26-p4")
	before := runDamaged(t, whole)
	tr := damage.Parse(whole)
	n := 0
	for i := range tr.Blocks {
		blk := &tr.Blocks[i]
		blk.Events = slices.DeleteFunc(blk.Events, func(e damage.Event) bool {
			if e.Kind == wire.Stack {
				n++
			}
			return e.Kind == wire.Stack && n%3 == 0
		})
	}
	after := runDamaged(t, tr.Bytes())
	if n < 10 || after == nil {
		t.Fatalf("%d stacks: %v", n, after)
	}
	if b, a := &before.Waits.All, &after.Waits.All; b.Count != a.Count || b.TotalNs != a.TotalNs {
		t.Errorf("%d waits of %d ns, want %d of %d", a.Count, a.TotalNs, b.Count, b.TotalNs)
	}
	want, _ := shownSites(before)
	got, _ := shownSites(after)
	gone, kept := siteTime{}, siteTime{}
	for at, g := range got {
		switch w := want[at]; {
		case at.stack == "":
			gone.ns += g.ns - w.ns
		case g.ns > w.ns || g.waits > w.waits:
			t.Errorf("%s %s: %+v, want %+v", at.place, at.stack, g, w)
		default:
			kept.ns += g.ns
		}
	}
	t.Logf("%d ns lost their stack, %d kept it", gone.ns, kept.ns)
	if gone.ns == 0 || kept.ns == 0 {
		t.Errorf("%d ns lost their stack, %d kept it", gone.ns, kept.ns)
	}
}

// site is a stack as text, with what it is to those who waited.
type site struct {
	place stacks.Place
	stack string
}

// siteTime is the time that belongs to a site.
type siteTime struct{ waits, ns, blocked int64 }

// Where goroutines had stopped is what a loop over the events finds that knows nothing
// of decisions.
func TestStacksBesidePublicReader(t *testing.T) {
	for _, name := range []string{"mutex-go1.26-p4", "network-go1.26-p2", "blocking-syscalls-go1.26-p4", "gc-go1.22-p4", "real/annot-go1.26-p4to8", "real/esbuild-go1.26-p8", "real/flightrec-memberlist-go1.26-p4"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("../testdata/traces", name+".trace.gz")
			r, err := analyze.File(t.Context(), file, analyze.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := sitesOf(t, tracetest.Unpacked(t, file))
			got, rest := shownSites(r)
			for at, g := range got {
				if w := want[at]; g.ns > w.ns || g.waits > w.waits || g.blocked > w.blocked {
					t.Errorf("%s %s: %+v, the events have %+v", at.place, at.stack, g, w)
				}
				rest.ns, rest.waits, rest.blocked = rest.ns+g.ns, rest.waits+g.waits, rest.blocked+g.blocked
			}
			var all siteTime
			for _, w := range want {
				all.ns, all.waits, all.blocked = all.ns+w.ns, all.waits+w.waits, all.blocked+w.blocked
			}
			if rest != all {
				t.Errorf("all rows: %+v, the events have %+v", rest, all)
			}
		})
	}
}

// shownSites are the rows by site, and what those of others have.
func shownSites(r *analyze.Result) (sites map[site]siteTime, rest siteTime) {
	sites = map[site]siteTime{}
	for _, row := range r.Stacks.Rows {
		var b strings.Builder
		for _, i := range row.Stack {
			f := r.Stacks.Frames[i]
			fmt.Fprintf(&b, "%s %s:%d\n", f.Function, f.File, f.Line)
		}
		at := site{row.Place, b.String()}
		s := sites[at]
		if row.Place == stacks.Others {
			rest.ns, rest.waits, rest.blocked = rest.ns+row.WaitNs, rest.waits+row.Waits, rest.blocked+row.BlockedNs
			continue
		}
		sites[at] = siteTime{s.waits + row.Waits, s.ns + row.WaitNs, s.blocked + row.BlockedNs}
	}
	return sites, rest
}

// eventGoroutine is what the loop over the events knows of a goroutine.
type eventGoroutine struct {
	at      site
	ready   exp.Time // since when it is runnable; 0 if it is not
	blocked exp.Time // since when it is blocked; 0 if it is not
}

// sitesOf reads where the goroutines of a trace had stopped, by the events alone.
func sitesOf(t *testing.T, raw []byte) map[site]siteTime {
	t.Helper()
	r, err := exp.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	out, gs := map[site]siteTime{}, map[exp.GoID]*eventGoroutine{}
	var last exp.Time
	book := func(at site, waits int64, ns, blocked exp.Time) {
		s := out[at]
		out[at] = siteTime{s.waits + waits, s.ns + int64(ns), s.blocked + int64(blocked)}
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = ev.Time()
		if ev.Kind() != exp.EventStateTransition || ev.StateTransition().Resource.Kind != exp.ResourceGoroutine {
			continue
		}
		st := ev.StateTransition()
		id := st.Resource.Goroutine()
		from, to := st.Goroutine()
		g := gs[id]
		if g == nil {
			g = &eventGoroutine{at: site{place: stacks.NotRecorded}}
			gs[id] = g
		}
		switch {
		case from == exp.GoNotExist:
			g.at = siteOf(stacks.Created, ev.Stack())
		case from == exp.GoRunning:
			g.at = siteOf(stacks.Stopped, st.Stack)
			if to == exp.GoWaiting {
				g.blocked = ev.Time()
			}
		}
		switch {
		case from == to: // told again at the begin of a generation
		case to == exp.GoRunnable:
			if g.blocked != 0 {
				book(g.at, 0, 0, ev.Time()-g.blocked)
			}
			g.ready, g.blocked = ev.Time(), 0
		case to == exp.GoRunning && g.ready != 0:
			book(g.at, 1, ev.Time()-g.ready, 0)
			g.ready = 0
		case to == exp.GoNotExist:
			delete(gs, id)
		}
	}
	for _, g := range gs {
		if g.blocked != 0 {
			book(g.at, 0, 0, last-g.blocked)
		}
	}
	return out
}

// siteOf is a stack of the public reader as a site.
func siteOf(place stacks.Place, s exp.Stack) site {
	var b strings.Builder
	for f := range s.Frames() {
		fmt.Fprintf(&b, "%s %s:%d\n", f.Func, f.File, f.Line)
	}
	if b.Len() == 0 {
		place = stacks.NotRecorded
	}
	return site{place, b.String()}
}

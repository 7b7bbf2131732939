package analyze_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/requests"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// annotated is what an independent loop over the public reader says of a type.
type annotated struct{ Count, TotalNs, Open, Before int64 }

// annotations are the tasks and regions of a trace, by that loop.
type annotations struct {
	tasks, regions map[string]annotated
	began          map[trace.TaskID]trace.Time
	types          map[trace.TaskID]string
	open           map[trace.GoID][]trace.Event
}

// byReader counts the tasks and regions of a trace.
func byReader(t *testing.T, name string) *annotations {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	a := &annotations{
		tasks: map[string]annotated{}, regions: map[string]annotated{},
		began: map[trace.TaskID]trace.Time{}, types: map[trace.TaskID]string{}, open: map[trace.GoID][]trace.Event{},
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		a.add(ev)
	}
	for id := range a.began {
		x := a.tasks[a.types[id]]
		x.Open++
		a.tasks[a.types[id]] = x
	}
	for g := range a.open {
		a.leave(g)
	}
	return a
}

func (a *annotations) add(ev trace.Event) {
	switch ev.Kind() {
	case trace.EventTaskBegin:
		a.began[ev.Task().ID], a.types[ev.Task().ID] = ev.Time(), ev.Task().Type
	case trace.EventTaskEnd:
		id := ev.Task().ID
		x := a.tasks[ev.Task().Type]
		if at, ok := a.began[id]; ok {
			x.Count++
			x.TotalNs += int64(ev.Time() - at)
		} else {
			x.Before++
		}
		a.tasks[ev.Task().Type] = x
		delete(a.began, id)
	case trace.EventRegionBegin:
		a.open[ev.Goroutine()] = append(a.open[ev.Goroutine()], ev)
	case trace.EventRegionEnd:
		s, x := a.open[ev.Goroutine()], a.regions[ev.Region().Type]
		if n := len(s) - 1; n >= 0 {
			x.Count++
			x.TotalNs += int64(ev.Time() - s[n].Time())
			a.open[ev.Goroutine()] = s[:n]
		} else {
			x.Before++
		}
		a.regions[ev.Region().Type] = x
	case trace.EventStateTransition:
		if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
			if _, to := st.Goroutine(); to == trace.GoNotExist {
				a.leave(st.Resource.Goroutine())
			}
		}
	}
}

// leave is for a goroutine that ended in regions.
func (a *annotations) leave(g trace.GoID) {
	for _, b := range a.open[g] {
		x := a.regions[b.Region().Type]
		x.Open++
		a.regions[b.Region().Type] = x
	}
	delete(a.open, g)
}

// TestRequests holds tasks and regions by type against the public reader. The split of
// each region is its length.
func TestRequests(t *testing.T) {
	name := filepath.Join("..", "testdata", "traces", "real", "annot-go1.26-p4to8.trace.gz")
	res, err := focusOn(t, name, focus.Focus{})
	if err != nil {
		t.Fatal(err)
	}
	want := byReader(t, name)
	got := func(types []requests.Type) map[string]annotated {
		out := map[string]annotated{}
		for _, x := range types {
			out[x.Name] = annotated{x.Count, x.TotalNs, x.Open, x.Before}
		}
		return out
	}
	if d := cmp.Diff(want.tasks, got(res.Requests.Tasks)); d != "" {
		t.Errorf("tasks (-reader +got):\n%s", d)
	}
	if d := cmp.Diff(want.regions, got(res.Requests.Regions)); d != "" {
		t.Errorf("regions (-reader +got):\n%s", d)
	}
	for _, x := range res.Requests.Regions {
		if x.LifeNs() != x.TotalNs {
			t.Errorf("region %s: split of %d ns, is %d ns long", x.Name, x.LifeNs(), x.TotalNs)
		}
		if sum := total(x.Causes[:]); sum != x.RunnableNs {
			t.Errorf("region %s: causes of %d ns, runnable for %d", x.Name, sum, x.RunnableNs)
		}
	}
	for _, x := range res.Requests.Tasks {
		if sum := total(x.Causes[:]); sum > x.RunnableNs {
			t.Errorf("task %s: causes of %d ns, runnable for %d", x.Name, sum, x.RunnableNs)
		}
	}
}

// TestSlowestTasks holds the slowest tasks among the units of work against those among the
// requests: they have the same numbers and logs.
func TestSlowestTasks(t *testing.T) {
	res, err := focusOn(t, filepath.Join("..", "testdata", "traces", "real", "annot-go1.26-p4to8.trace.gz"), focus.Focus{})
	if err != nil {
		t.Fatal(err)
	}
	want, got, logs := map[string][]work.Slow{}, map[string][]work.Slow{}, 0
	for _, of := range res.Requests.Tasks {
		for _, x := range of.Slowest {
			s := work.Slow{G: x.G, BeginNs: x.FromNs, EndNs: x.ToNs, Task: x.Task, MoreLogs: x.MoreLogs}
			for _, l := range x.Logs {
				s.Logs = append(s.Logs, work.Log{AtNs: l.AtNs, G: l.G, Text: l.Text})
				logs++
			}
			want[of.Name] = append(want[of.Name], s)
		}
	}
	for _, k := range res.Work.Kinds {
		for _, s := range k.Slowest {
			switch s.Segments = nil; k.How {
			case "task":
				got[k.Name] = append(got[k.Name], s)
			case "region":
				if s.Logs != nil || k.Name == "lock" && s.Task == 0 {
					t.Errorf("region %s: %+v", k.Name, s)
				}
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" || logs == 0 {
		t.Errorf("%d logs (-requests +work):\n%s", logs, d)
	}
}

func total(ns []int64) (sum int64) {
	for _, n := range ns {
		sum += n
	}
	return sum
}

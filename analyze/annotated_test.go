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
	"github.com/gmpscope/gmpscope/analyze/work"
)

// annotated is what an independent loop over the public reader says of a type.
type annotated struct{ Count, TotalNs, Open int64 }

// annotations are the tasks and regions of a trace, by that loop.
type annotations struct {
	tasks, regions map[string]annotated
	began          map[trace.TaskID]trace.Time
	types          map[trace.TaskID]string
	open           map[trace.GoID][]trace.Event
	logs           map[int64][]work.Log
	parts          map[int64][]work.TaskRegion
	from           trace.Time
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
		logs: map[int64][]work.Log{}, parts: map[int64][]work.TaskRegion{},
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if a.from == 0 {
			a.from = ev.Time()
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
			x.Open++
		}
		a.tasks[ev.Task().Type] = x
		delete(a.began, id)
	case trace.EventLog:
		l := ev.Log()
		a.logs[int64(l.Task)] = append(a.logs[int64(l.Task)], work.Log{AtNs: int64(ev.Time() - a.from), G: int64(ev.Goroutine()), Text: l.Category + ": " + l.Message})
	case trace.EventRegionBegin:
		a.open[ev.Goroutine()] = append(a.open[ev.Goroutine()], ev)
	case trace.EventRegionEnd:
		s, x := a.open[ev.Goroutine()], a.regions[ev.Region().Type]
		if n := len(s) - 1; n >= 0 {
			x.Count++
			x.TotalNs += int64(ev.Time() - s[n].Time())
			task := int64(ev.Region().Task)
			a.parts[task] = append(a.parts[task], work.TaskRegion{Name: ev.Region().Type, G: int64(ev.Goroutine()), BeginNs: int64(s[n].Time() - a.from), EndNs: int64(ev.Time() - a.from)})
			a.open[ev.Goroutine()] = s[:n]
		} else {
			x.Open++
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

// TestAnnotated holds tasks and regions, and what is kept of the slowest tasks, against the public
// reader.
func TestAnnotated(t *testing.T) {
	name := filepath.Join("..", "testdata", "traces", "real", "annot-go1.26-p4to8.trace.gz")
	res, err := focusOn(t, name, focus.Focus{})
	if err != nil {
		t.Fatal(err)
	}
	want := byReader(t, name)
	got := map[string]map[string]annotated{"task": {}, "region": {}}
	said := 0
	for _, k := range res.Work.Kinds {
		if got[k.How] == nil {
			continue
		}
		x := got[k.How][k.Name]
		got[k.How][k.Name] = annotated{x.Count + k.Count, x.TotalNs + k.TotalNs, x.Open + k.Open}
		for _, s := range k.Slowest {
			if k.How == "region" {
				if s.Logs != nil || s.Regions != nil {
					t.Errorf("region %s: %+v", k.Name, s)
				}
				continue
			}
			said += len(s.Logs)
			if d := cmp.Diff(want.logs[s.Task], s.Logs); d != "" {
				t.Errorf("logs of task %d (-reader +got):\n%s", s.Task, d)
			}
			if d := cmp.Diff(want.parts[s.Task], s.Regions); d != "" {
				t.Errorf("regions of task %d (-reader +got):\n%s", s.Task, d)
			}
		}
	}
	if d := cmp.Diff(map[string]map[string]annotated{"task": want.tasks, "region": want.regions}, got); d != "" || said == 0 {
		t.Errorf("%d logs (-reader +got):\n%s", said, d)
	}
}

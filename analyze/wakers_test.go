package analyze_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// wakeUp is a pair of classes: a goroutine of one woke one of the other.
type wakeUp struct{ woken, by string }

// wakeUpsByReader counts wake-ups of goroutines that then ran, in an independent loop over
// the public reader. class gives the class of a goroutine.
func wakeUpsByReader(t *testing.T, name string, class func(g trace.GoID) string) map[wakeUp]int64 {
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
	out, pending := map[wakeUp]int64{}, map[trace.GoID]trace.GoID{}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind() != trace.EventStateTransition {
			continue
		}
		st := ev.StateTransition()
		if st.Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		g := st.Resource.Goroutine()
		switch from, to := st.Goroutine(); {
		case from == trace.GoWaiting && to == trace.GoRunnable && ev.Goroutine() != trace.NoGoroutine:
			pending[g] = ev.Goroutine()
		case from == trace.GoRunnable && to == trace.GoRunning:
			if by, ok := pending[g]; ok {
				out[wakeUp{class(g), class(by)}]++
			}
			delete(pending, g)
		default:
			delete(pending, g)
		}
	}
}

// TestWakers holds who woke whom against the public reader.
func TestWakers(t *testing.T) {
	for _, pattern := range []string{"mutex-go1.26-p4*", "network-go1.26-p4*", "pingpong-starve-go1.26*", "real/annot-go1.26*"} {
		names, err := filepath.Glob(filepath.Join("..", "testdata", "traces", pattern))
		if err != nil || len(names) == 0 {
			t.Fatal("no trace ", pattern, err)
		}
		for _, name := range names {
			t.Run(filepath.Base(name), func(t *testing.T) {
				src, err := input.Open(t.Context(), name, input.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				classes := map[trace.GoID]int32{}
				res, err := analyze.Run(t.Context(), src, analyze.Options{OnDecision: func(d *reference.Decision) error {
					if d.G >= 0 && d.Class != 0 {
						classes[trace.GoID(d.G)] = d.Class
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				named := map[int32]string{}
				for i := range res.Waits.Classes {
					named[res.Waits.Classes[i].ID] = res.Waits.Classes[i].Name
				}
				got := map[wakeUp]int64{}
				for i := range res.Waits.Classes {
					c := &res.Waits.Classes[i]
					for _, w := range c.WokenBy {
						if w.Why != reference.WhyCreate.String() && w.Class != 0 {
							got[wakeUp{c.Name, w.Name}] += w.Count
						}
					}
				}
				want := wakeUpsByReader(t, name, func(g trace.GoID) string { return named[classes[g]] })
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("(-reader +got):\n%s", d)
				}
			})
		}
	}
}

// TestWakersAddUp has what woke the goroutines of a class, and what they were blocked on
// before, sum to their waits, also in a window.
func TestWakersAddUp(t *testing.T) {
	for _, name := range someTraces(t) {
		for _, f := range []focus.Focus{{}, {From: 3e6, To: 9e6}} {
			res, err := focusOn(t, name, f)
			if err != nil {
				t.Fatal(err)
			}
			for i := range res.Waits.Classes {
				c := &res.Waits.Classes[i]
				type sum struct{ Count, Ns int64 }
				var by, before sum
				for _, w := range c.WokenBy {
					by.Count += w.Count
					by.Ns += w.WaitNs
				}
				for _, b := range c.BlockedBefore {
					before.Count += b.Count
					before.Ns += b.WaitNs
				}
				if want := (sum{c.Waits.Count, c.Waits.TotalNs}); by != want || before != want {
					t.Errorf("%s, %+v, %s: woken %+v, blocked before %+v, want %+v", name, f, c.Name, by, before, want)
				}
			}
		}
	}
}

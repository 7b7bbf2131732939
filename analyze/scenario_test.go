package analyze_test

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/reference"
)

// The tests of these files hold the reconstruction against what each scenario
// of testdata/traces must show. What it must show follows from the program and
// the runtime's rules; classes of goroutines and counts of events are taken
// from the trace with x/exp/trace alone.

// scenario is a trace's events and the decisions found in it.
type scenario struct {
	*testing.T
	minor, procs int // of the file's name
	events       []happening
	class        map[int64]string // start function of each goroutine that the trace sees created
	decisions    []reference.Decision
	result       *analyze.Result
}

// happening is an event as x/exp/trace shows it.
type happening struct {
	at         int64
	g          int64 // whose state changes
	p          int32 // whose state changes
	byG, byM   int64 // context
	byP        int32
	from, to   string
	why        string // reason of a transition, name of a label
	procs      int    // GOMAXPROCS metric
	isG, isP   bool
	isLabel    bool
	isMetric   bool
	rangeBegin string
}

func (h *happening) isGo(from, to string) bool   { return h.isG && h.from == from && h.to == to }
func (h *happening) isProc(from, to string) bool { return h.isP && h.from == from && h.to == to }

// isRetake reports whether sysmon took a P: the event has neither P nor goroutine.
func (h *happening) isRetake() bool {
	return h.isProc("Running", "Idle") && h.byP == reference.NoP && h.byG == reference.NoG
}

var recordedAs = regexp.MustCompile(`-go1\.(\d+)(?:-p(\d+))?`)

func load(t *testing.T, path string) *scenario {
	t.Helper()
	s := &scenario{T: t, class: map[int64]string{}}
	if m := recordedAs.FindStringSubmatch(path); m != nil {
		s.minor, _ = strconv.Atoi(m[1])
		s.procs, _ = strconv.Atoi(m[2])
	}
	s.readEvents(path)
	var err error
	s.result, err = analyze.Run(t.Context(), open(t, path), analyze.Options{OnDecision: func(d *reference.Decision) error {
		s.decisions = append(s.decisions, *d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scenario) readEvents(path string) {
	src := open(s.T, path)
	var whole []byte
	for {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			s.Fatal(err)
		}
		data := gen.Data
		if len(whole) > 0 {
			data = data[16:] // each comes with the file's header
		}
		whole = append(whole, data...)
	}
	r, err := trace.NewReader(strings.NewReader(string(whole)))
	if err != nil {
		s.Fatal(err)
	}
	var began trace.Time
	for first := true; ; first = false {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return
		}
		if err != nil {
			s.Fatal(err)
		}
		if first {
			began = ev.Time()
		}
		h := happening{at: int64(ev.Time() - began), byG: int64(ev.Goroutine()), byM: int64(ev.Thread()), byP: int32(ev.Proc())}
		switch ev.Kind() {
		case trace.EventStateTransition:
			st := ev.StateTransition()
			h.why = st.Reason
			switch st.Resource.Kind {
			case trace.ResourceGoroutine:
				from, to := st.Goroutine()
				h.isG, h.g, h.from, h.to = true, int64(st.Resource.Goroutine()), from.String(), to.String()
				if from == trace.GoNotExist {
					for f := range st.Stack.Frames() {
						s.class[h.g] = f.Func
					}
				}
			case trace.ResourceProc:
				from, to := st.Proc()
				h.isP, h.p, h.from, h.to = true, int32(st.Resource.Proc()), from.String(), to.String()
			}
		case trace.EventLabel:
			h.isLabel, h.why = true, ev.Label().Label
		case trace.EventRangeBegin:
			h.rangeBegin = ev.Range().Name
		case trace.EventMetric:
			if m := ev.Metric(); m.Name == "/sched/gomaxprocs:threads" {
				h.isMetric, h.procs = true, int(m.Value.Uint64())
			}
		}
		s.events = append(s.events, h)
	}
}

// name is a goroutine's class without its package main.
func (s *scenario) name(g int64) string { return strings.TrimPrefix(s.class[g], "main.") }

// ours reports whether the scenario's own program started the goroutine.
func (s *scenario) ours(g int64) bool { return strings.HasPrefix(s.class[g], "main.") }

// of lists the decisions of a kind about goroutines of the named classes, or
// about any if none is named.
func (s *scenario) of(kind reference.Kind, names ...string) []reference.Decision {
	var out []reference.Decision
	for _, d := range s.decisions {
		if d.Kind == kind && (len(names) == 0 || s.ours(d.G) && slices.Contains(names, s.name(d.G))) {
			out = append(out, d)
		}
	}
	return out
}

// because keeps the decisions with this cause.
func because(ds []reference.Decision, why reference.Why) []reference.Decision {
	return slices.DeleteFunc(slices.Clone(ds), func(d reference.Decision) bool { return d.Why != why })
}

// count counts events.
func (s *scenario) count(f func(*happening) bool) int {
	n := 0
	for i := range s.events {
		if f(&s.events[i]) {
			n++
		}
	}
	return n
}

// want reports that a number is not what the scenario must show.
func (s *scenario) want(got, want int, format string, args ...any) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %d, must be %d", fmt.Sprintf(format, args...), got, want)
	}
}

func (s *scenario) atLeast(got, want int, format string, args ...any) {
	s.Helper()
	if got < want {
		s.Errorf("%s: %d, must be at least %d", fmt.Sprintf(format, args...), got, want)
	}
}

// firstErrors reports errors of one kind, the first of them in full.
type firstErrors struct {
	s    *scenario
	what string
	n    int
}

func (f *firstErrors) errorf(format string, args ...any) {
	f.s.Helper()
	if f.n++; f.n <= 3 {
		f.s.Errorf("%s: %s", f.what, fmt.Sprintf(format, args...))
	}
}

func (f *firstErrors) done() {
	f.s.Helper()
	if f.n > 3 {
		f.s.Errorf("%s: %d such errors in all", f.what, f.n)
	}
}

// eachTrace runs check on all recordings of a scenario.
func eachTrace(t *testing.T, name string, check func(*scenario)) {
	t.Helper()
	paths, err := filepath.Glob("../testdata/traces/" + name + "-go1.*.trace.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no trace of scenario %s: %v", name, err)
	}
	for _, path := range light(t, paths) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".trace.gz"), func(t *testing.T) {
			check(load(t, path))
		})
	}
}

func TestScenarios(t *testing.T) {
	for _, sc := range []struct {
		name  string
		check func(*scenario)
	}{
		{"blocking-syscalls", (*scenario).blockingSyscalls},
		{"forever", (*scenario).forever},
		{"gc", (*scenario).gc},
		{"gosched", (*scenario).gosched},
		{"locked-threads", (*scenario).lockedThreads},
		{"mutex", (*scenario).mutex},
		{"network", (*scenario).network},
		{"overflow", (*scenario).overflow},
		{"pingpong-starve", (*scenario).pingpongStarve},
		{"preempt-small", (*scenario).preemptSmall},
		{"put-take", (*scenario).putTake},
		{"retake-small", (*scenario).retakeSmall},
		{"single", (*scenario).single},
		{"steal-small", (*scenario).stealSmall},
		{"thousand", (*scenario).thousand},
		{"thousand-by-thousand", (*scenario).thousandByThousand},
		{"timers", (*scenario).timers},
		{"uneven", (*scenario).uneven},
	} {
		eachTrace(t, sc.name, func(s *scenario) {
			s.common()
			sc.check(s)
		})
	}
}

// common is what every scenario must show.
func (s *scenario) common() {
	changes := s.of(reference.KindProcs)
	if len(changes) != 1 || int(changes[0].Batch) != s.procs {
		s.Errorf("GOMAXPROCS must be %d throughout, found %v", s.procs, changes)
	}
	sources := firstErrors{s: s, what: "where each goroutine of the program came from must be known"}
	for _, d := range s.of(reference.KindStart) {
		if s.ours(d.G) && d.Src == reference.SrcUnknown {
			sources.errorf("start of %s (goroutine %d) at %d ns from %v, %v", s.name(d.G), d.G, d.Time, d.Src, d.Basis)
		}
	}
	sources.done()
	s.batches()
	s.overflows()
	if s.procs == 1 {
		s.onlyP()
	}
}

// batches checks takes from the global queue against globrunqget. The length
// that the taker saw can differ from the one known by a put or two that were
// under way on other threads, and the size by one; with one P there are none.
func (s *scenario) batches() {
	sizes := firstErrors{s: s, what: "a take from the global queue moves min(n, n/GOMAXPROCS+1, 128)"}
	for _, d := range s.of(reference.KindStart) {
		if d.Src != reference.SrcGlobal || d.Flags&reference.FlagTaken != 0 { // taken earlier, at another length
			continue
		}
		n := int(d.Global + d.Batch)
		want := min(n, n/s.procs+1, 128)
		if off := int(d.Batch) - want; off < -1 || off > 1 || off != 0 && s.procs == 1 {
			sizes.errorf("of %d on %d Ps at %d ns: %d, must be %d", n, s.procs, d.Time, d.Batch, want)
		}
	}
	sizes.done()
}

// overflows checks that each overflow moves the older half of a full ring and
// the goroutine that found no room, in this order.
func (s *scenario) overflows() {
	moves := firstErrors{s: s, what: "an overflow moves 128 goroutines of the ring, and then the one that found it full"}
	for i, d := range s.decisions {
		if d.Kind != reference.KindOverflow {
			continue
		}
		if d.Batch != 129 {
			moves.errorf("at %d ns it moves %d", d.Time, d.Batch)
		}
		if d.Local != 256 && d.Local != 257 {
			moves.errorf("at %d ns P%d's queue holds %d before it: the ring's 256 must be full, besides runnext", d.Time, d.P, d.Local)
		}
		for j := 1; j <= 129; j++ {
			if i+j >= len(s.decisions) {
				moves.errorf("at %d ns: only %d follow", d.Time, j-1)
				break
			}
			m := s.decisions[i+j]
			if last := j == 129; last && m.Kind == reference.KindReady && m.To == reference.QueueGlobal && m.G == d.G {
				continue // it had not been in a queue before
			}
			if m.Kind != reference.KindMove || m.Why != reference.WhyOverflow || m.To != reference.QueueGlobal || m.Time != d.Time || (m.G == d.G) != (j == 129) {
				moves.errorf("at %d ns the %d. to move is %v of goroutine %d to %v because of %v", d.Time, j, m.Kind, m.G, m.To, m.Why)
				break
			}
		}
	}
	moves.done()
}

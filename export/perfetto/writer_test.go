package perfetto_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/export/perfetto"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// recordings are traces of different kinds.
var recordings = []string{"mutex-go1.26-p4", "steal-small-go1.24-p2", "gc-go1.25-p4", "blocking-syscalls-go1.22-p4", "locked-threads-go1.26-p2", "real/annot-go1.26-p4to8", "real/flightrec-memberlist-go1.26-p4", "real/v1-context-go1.21"}

// message is a message of protocol buffers: its fields by their numbers, in order.
type message map[protowire.Number][]any // uint64, []byte

func parse(t testing.TB, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has wire type %d", num, typ)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m[num] = append(m[num], v)
		b = b[n:]
	}
	return m
}

func (m message) num(f protowire.Number) int64 {
	if len(m[f]) == 0 {
		return 0
	}
	return int64(m[f][0].(uint64))
}

func (m message) text(f protowire.Number) string {
	if len(m[f]) == 0 {
		return ""
	}
	return string(m[f][0].([]byte))
}

// point is a value of a counter, slice one on a track.
type (
	point struct{ at, value int64 }
	slice struct {
		name     string
		from, to int64
		flows    []any // that end in it
	}
)

// contents is what a trace holds, by the names of the tracks.
type contents struct {
	counters map[string][]point
	slices   map[string][]slice // with their parents' names before them
	begun    map[any]int64      // flows, and when
}

// read decodes a trace, and checks that it is well-formed.
func read(t testing.TB, b []byte) contents {
	t.Helper()
	c := contents{counters: map[string][]point{}, slices: map[string][]slice{}, begun: map[any]int64{}}
	tracks, names, notes := map[int64]string{}, map[int64]string{}, map[int64]string{}
	open := map[int64]bool{}
	last := map[int64]int64{}
	for i, raw := range parse(t, b)[1] {
		p := parse(t, raw.([]byte))
		if flags := p.num(13); p.num(10) != 1 || i == 0 != (flags == 1) || i > 0 && flags != 2 {
			t.Fatalf("packet %d: sequence %d, flags %d", i, p.num(10), flags)
		}
		for _, d := range p[60] {
			d := parse(t, d.([]byte))
			name := d.text(2)
			if parent := d.num(5); parent != 0 {
				if tracks[parent] == "" {
					t.Fatalf("track %q: its parent comes later", name)
				}
				name = tracks[parent] + "/" + name
			}
			if tracks[d.num(1)] != "" || d.num(1) == 0 {
				t.Fatalf("track %q: its number %d is another's", name, d.num(1))
			}
			tracks[d.num(1)] = name
		}
		for _, x := range p[12] {
			x := parse(t, x.([]byte))
			for field, to := range map[protowire.Number]map[int64]string{2: names, 3: notes} {
				for _, n := range x[field] {
					n := parse(t, n.([]byte))
					to[n.num(1)] = n.text(2)
				}
			}
		}
		for _, e := range p[11] {
			e := parse(t, e.([]byte))
			at, on := p.num(8), e.num(11)
			name := tracks[on]
			if name == "" {
				t.Fatalf("packet %d is of track %d, which is none", i, on)
			}
			for _, n := range e[4] {
				if notes[parse(t, n.([]byte)).num(1)] == "" {
					t.Fatalf("packet %d has an annotation without a name", i)
				}
			}
			what := e.text(23)
			if iid := e.num(10); iid != 0 {
				what = names[iid]
			}
			switch kind := e.num(9); kind {
			case 1, 2:
				if open[on] == (kind == 1) || at < last[on] {
					t.Fatalf("track %q at %d: begin after begin, or end after end", name, at)
				}
				open[on], last[on] = kind == 1, at
				if kind == 1 {
					c.slices[name] = append(c.slices[name], slice{name: what, from: at, flows: e[48]})
				} else {
					c.slices[name][len(c.slices[name])-1].to = at
				}
			case 3:
				for _, f := range e[47] {
					if _, ok := c.begun[f]; ok {
						t.Errorf("flow %d begins twice", f)
					}
					c.begun[f] = at
				}
			case 4:
				c.counters[name] = append(c.counters[name], point{at, e.num(30)})
			default:
				t.Fatalf("packet %d: an event of type %d", i, kind)
			}
		}
	}
	for on, is := range open {
		if is {
			t.Errorf("a slice of track %q does not end", tracks[on])
		}
	}
	return c
}

// exported returns the trace of a recording, the result and the decisions.
func exported(t testing.TB, name string, f focus.Focus) (contents, *analyze.Result, []reference.Decision) {
	t.Helper()
	var out bytes.Buffer
	var ds []reference.Decision
	w := perfetto.NewWriter(&out)
	res, err := analyze.Reader(t.Context(), bytes.NewReader(tracetest.Recorded(t, name)), name, analyze.Options{
		Observer: w, Focus: f,
		OnDecision: func(d *reference.Decision) error { ds = append(ds, *d); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(res); err != nil {
		t.Fatal(err)
	}
	return read(t, out.Bytes()), res, ds
}

// lengths are the changes of the queues that dump tells, by the names of counters.
func lengths(ds []reference.Decision) map[string][]point {
	out := map[string][]point{}
	add := func(name string, at int64, n int32) {
		if l := out[name]; len(l) == 0 || l[len(l)-1].value != int64(n) {
			out[name] = append(l, point{at, int64(n)})
		}
	}
	for i := range ds {
		d := &ds[i]
		if d.P >= 0 {
			add(fmt.Sprintf("queues/P %d run queue", d.P), d.Time, d.Local)
		}
		add("queues/global run queue", d.Time, d.Global)
	}
	return out
}

// TestCounters holds the counters against the lengths that decisions have.
func TestCounters(t *testing.T) {
	for _, name := range recordings {
		c, res, ds := exported(t, name, focus.Focus{})
		runnable := c.counters["queues/runnable"]
		delete(c.counters, "queues/runnable")
		want := lengths(ds)
		if res.Trace.Reduced {
			want = map[string][]point{}
		}
		if d := cmp.Diff(want, c.counters, cmp.AllowUnexported(point{})); d != "" {
			t.Errorf("%s (-decisions +counters):\n%.3000s", name, d)
		}
		if len(runnable) < 2 || slices.ContainsFunc(runnable, func(p point) bool { return p.value < 0 }) {
			t.Errorf("%s: runnable: %v", name, runnable)
		}
	}
}

// TestRuns holds the slices against the running time of the classes.
func TestRuns(t *testing.T) {
	for _, name := range recordings {
		for _, f := range []focus.Focus{{}, {From: 2_000_000, To: 7_000_000}} {
			c, res, _ := exported(t, name, f)
			want := map[string]int64{}
			for i := range res.Waits.Classes {
				k := &res.Waits.Classes[i]
				want[nameOf(k.Name)] += k.RunningNs
			}
			maps.DeleteFunc(want, func(_ string, ns int64) bool { return ns == 0 })
			for _, group := range []string{"Ps/", "threads/"} {
				if res.Trace.Reduced && group == "threads/" {
					continue // such a trace has none
				}
				if d := cmp.Diff(want, running(c, group)); d != "" {
					t.Errorf("%s, %+v, %s (-result +slices):\n%s", name, f, group, d)
				}
			}
			if got := c.slices["trace"]; len(got) != 1 || got[0].from != res.BeginNs() || got[0].to != res.EndNs() {
				t.Errorf("%s, %+v: %v", name, f, got)
			}
		}
	}
}

func nameOf(class string) string {
	if class == "" {
		return "(unknown function)"
	}
	return class
}

// running is how long the slices of a group of tracks last, by their names.
func running(c contents, group string) map[string]int64 {
	out := map[string]int64{}
	for track, list := range c.slices {
		for _, s := range list {
			if strings.HasPrefix(track, group) && s.to > s.from {
				out[s.name] += s.to - s.from
			}
		}
	}
	return out
}

// TestFlows follows the arrows: each steal and each wake-up by a goroutine that ran has
// one, to where the goroutine starts.
func TestFlows(t *testing.T) {
	for _, name := range []string{"steal-small-go1.24-p2", "mutex-go1.26-p4", "blocking-syscalls-go1.26-p4", "network-go1.26-p4"} {
		c, _, ds := exported(t, name, focus.Focus{})
		var ended, late int
		for _, list := range c.slices {
			for _, s := range list {
				for _, f := range s.flows {
					if at, ok := c.begun[f]; ok && at <= s.from {
						ended++
					} else {
						late++
					}
				}
			}
		}
		steals, wakes := 0, 0
		on := map[int64]bool{} // goroutines that run
		by := map[int64]bool{} // by whom a goroutine was woken that has not started
		for i := range ds {
			d := &ds[i]
			switch d.Kind {
			case reference.KindReady:
				by[d.G] = on[d.By]
			case reference.KindStart:
				if d.Victim >= 0 && (d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext) {
					steals++
				}
				if by[d.G] {
					wakes++
				}
				on[d.G] = true
			case reference.KindStop, reference.KindSyscall:
				delete(on, d.G)
			case reference.KindSyscallExit:
				on[d.G] = d.P >= 0
			}
		}
		if ended != steals+wakes || late > 0 || steals == 0 || wakes == 0 {
			t.Errorf("%s: %d arrows end, %d of them before they begin; there are %d steals and %d wake-ups", name, ended, late, steals, wakes)
		}
	}
}

// TestFindings has a slice for each finding.
func TestFindings(t *testing.T) {
	for _, name := range []string{"pingpong-starve-go1.26-p1", "thousand-go1.26-p1"} {
		c, res, _ := exported(t, name, focus.Focus{})
		var want, got []slice
		for _, f := range res.Findings {
			want = append(want, slice{name: f.ID, from: f.FromNs, to: f.ToNs})
		}
		got = c.slices["findings"]
		byName := func(x, y slice) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
		slices.SortFunc(want, byName)
		slices.SortFunc(got, byName)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(slice{})); d != "" || len(want) == 0 {
			t.Errorf("%s (-result +slices):\n%s", name, d)
		}
	}
}

// TestSelection has only the goroutines of a class.
func TestSelection(t *testing.T) {
	c, _, _ := exported(t, "mutex-go1.26-p4", focus.Focus{Classes: []string{"main.locker"}})
	if got := running(c, "Ps/"); len(got) != 1 || got["main.locker"] == 0 {
		t.Errorf("%v", got)
	}
}

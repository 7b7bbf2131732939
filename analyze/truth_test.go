package analyze_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// summary is what the analysis tells of a trace.
type summary struct {
	res   *analyze.Result
	stats events.Stats
	real  int64 // ns from the first event that happened to the last
	waits map[int64][]wait
	n     int
}

// wait is a wait of a goroutine that ended: when it began and ended, as the trace has it.
type wait struct{ from, to int64 }

// summaryOf analyses a trace and checks what must hold of any result; nil if there is none.
func summaryOf(t testing.TB, trace []byte) *summary {
	t.Helper()
	return summaryWith(t, trace, analyze.Options{Workers: 2})
}

// summaryWith is summaryOf with options, of which it sets OnDecision.
func summaryWith(t testing.TB, trace []byte, o analyze.Options) *summary {
	t.Helper()
	x := &summary{waits: map[int64][]wait{}}
	src, err := input.New(bytes.NewReader(trace), "damaged")
	if err != nil {
		return nil
	}
	stream := events.New(t.Context(), src, events.Options{Workers: 1})
	first, last := int64(-1), int64(0)
	for {
		evs, err := stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil
		}
		for i := range evs {
			if k := evs[i].Kind; k != events.Sync && k != events.Lost {
				if first < 0 {
					first = evs[i].Time
				}
				last = evs[i].Time
			}
		}
	}
	x.stats = stream.Stats()
	stream.Close()
	x.real = max(last, x.stats.End) - first

	if src, err = input.New(bytes.NewReader(trace), "damaged"); err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	open := map[int64]bool{} // waits that began before the goroutine was first told of: they are marked
	o.OnDecision = func(d *reference.Decision) error {
		if d.Kind == reference.KindReady {
			open[d.G] = d.Flags&reference.FlagFirst != 0
		}
		if d.Kind == reference.KindStart && d.Wait >= 0 && !open[d.G] {
			at := x.stats.Start + d.Time
			x.waits[d.G] = append(x.waits[d.G], wait{at - d.Wait, at})
			x.n++
		}
		return nil
	}
	x.res, err = analyze.Run(t.Context(), src, o)
	if err != nil {
		if bug := (*analyze.Bug)(nil); errors.As(err, &bug) {
			t.Fatal(err)
		}
		oneLine(t, err.Error())
		return nil
	}
	for _, w := range x.res.Trace.Warnings {
		oneLine(t, w)
		if strings.Contains(w, "a mistake of the decoder") {
			t.Error(w)
		}
	}
	x.addsUp(t, int64(len(trace)))
	return x
}

// slack is how much the times of an event can differ where others are missing: events of one tick
// are set apart by a ns each.
const slack = 2000

// holds checks what is told of a damaged trace against what is told of the whole one: each wait is
// one of those.
func (x *summary) holds(t testing.TB, whole *summary) {
	t.Helper()
	bad := 0
	for g, ws := range x.waits {
		for _, w := range ws {
			if !slices.ContainsFunc(whole.waits[g], func(v wait) bool { return near(v.from, w.from) && near(v.to, w.to) }) {
				if bad++; bad <= 3 {
					t.Errorf("goroutine %d waits %d ns from %d on, in the whole trace it does not: %v", g, w.to-w.from, w.from-whole.stats.Start, x.res.Trace.Warnings)
				}
			}
		}
	}
	if bad > 3 {
		t.Errorf("%d of %d waits are false", bad, x.n)
	}
}

func near(a, b int64) bool { return a-b <= slack && b-a <= slack }

// farSync is how long before the first event the trace may begin.
const farSync = 10_000_000_000

// addsUp checks what must hold of what is lost.
func (x *summary) addsUp(t testing.TB, size int64) {
	t.Helper()
	tr := &x.res.Trace
	addsUp(t, x.res, size)
	if most := x.real + tr.LostNs + farSync; tr.DurationNs > most {
		t.Errorf("%d ns, of which there are events for %d, and %d are lost", tr.DurationNs, x.real, tr.LostNs)
	}
	if tr.LostNs > tr.DurationNs {
		t.Errorf("%d of %d ns are lost", tr.LostNs, tr.DurationNs)
	}
	if tr.LostBytes > size-16 {
		t.Errorf("%d of %d bytes are lost", tr.LostBytes, size)
	}
}

// salvageable are small traces of all formats. Their order is part of the fuzz corpus: append only.
var salvageable = []string{
	"retake-small-go1.22-p2", "steal-small-go1.24-p2", "mutex-go1.24-p4", "overflow-go1.25-p1", "steal-small-go1.25-p2",
	"steal-small-go1.26-p2", "gosched-go1.26-p2", "locked-threads-go1.27-p2", "timers-go1.26-p4", "uneven-go1.22-p4",
	"real/v1-context-go1.21", "real/cgo-zstd-go1.25-p4", "several generations",
}

// small are those of them that are sound, small and of Go 1.22 and later; in a short test one
// of each release.
func small() []string {
	if tracetest.Long() {
		return salvageable[:10]
	}
	var out []string
	for _, i := range []int{0, 2, 3, 5, 7} {
		out = append(out, salvageable[i])
	}
	return out
}

// several is one of them that is made: the first generations of a trace that has many.
const several, firstGenerations = "several generations", 4

// undamaged is a trace of salvageable and what is told of it.
type undamaged struct {
	trace []byte
	*summary
}

var undamagedTraces sync.Map // by name

func undamagedTrace(t testing.TB, name string) undamaged {
	if u, ok := undamagedTraces.Load(name); ok {
		return u.(undamaged)
	}
	var trace []byte
	if name == several {
		tr := damage.Parse(tracetest.Recorded(t, "real/manygens-io-go1.23-p4"))
		first := tr.Blocks[0].Gen
		tr.Blocks = slices.DeleteFunc(tr.Blocks, func(b damage.Block) bool { return b.Gen >= first+firstGenerations })
		trace = tr.Bytes()
	} else {
		trace = tracetest.Recorded(t, name)
	}
	u := undamaged{trace, summaryOf(t, trace)}
	if u.summary == nil {
		t.Fatalf("%s: there is no result", name)
	}
	undamagedTraces.Store(name, u)
	return u
}

// tables returns where the entries of tables of a kind stand in a trace.
func tables(trace []byte, kind byte) [][2]int {
	parts := damage.Parse(trace).Data(kind)
	for i := range parts {
		parts[i][0]++ // what says that it is a table
	}
	return parts
}

// threads returns where the events of threads stand.
func threads(trace []byte) (parts [][2]int) {
	tr := damage.Parse(trace)
	for kind, n := range wire.TimedArgs {
		if n > 0 {
			parts = append(parts, tr.Data(byte(kind))...)
		}
	}
	return parts
}

// TestOneBadEntry flips bits in tables: that costs no event, no wait, and no more than some entries.
func TestOneBadEntry(t *testing.T) {
	for _, name := range small() {
		base := undamagedTrace(t, name)
		for _, kind := range []byte{wire.Stacks, wire.Strings} {
			noted := 0
			for _, p := range tables(base.trace, kind) {
				for k := range 4 {
					at := p[0] + (p[1]-p[0])*k/4
					b := slices.Clone(base.trace)
					b[at] ^= 0x40 >> (k % 8)
					x := summaryOf(t, b)
					if x == nil {
						t.Fatalf("%s: a bit at byte %d: there is no result", name, at)
					}
					x.holds(t, base.summary)
					tr := &x.res.Trace
					if x.stats.Events != base.stats.Events || x.n != base.n || tr.LostNs != 0 || tr.LostBytes > 1500 {
						t.Errorf("%s: a bit at byte %d: %d events and %d waits, without it %d and %d; %d bytes lost; %q", name, at, x.stats.Events, x.n, base.stats.Events, base.n, tr.LostBytes, tr.Warnings)
					}
					if len(tr.Warnings) > 0 && tr.Incomplete {
						noted++
					}
				}
			}
			if noted == 0 {
				t.Errorf("%s: none of the flips in tables of kind %d was noted", name, kind)
			}
		}
	}
}

// TestCut cuts traces: what is told of the last generation is true, and all of it once its events
// are there.
func TestCut(t *testing.T) {
	for _, name := range small() {
		base := undamagedTrace(t, name)
		whole := len(base.trace)
		for _, p := range tables(base.trace, wire.Stacks) {
			whole = min(whole, p[1])
		}
		used := 0
		for k := range 8 {
			n := len(base.trace) * (k + 1) / 9
			x := summaryOf(t, base.trace[:n])
			if x == nil {
				continue
			}
			used++
			x.holds(t, base.summary)
			if n >= whole && (x.n != base.n || x.res.Trace.LostNs > 0) {
				t.Errorf("%s: the first %d bytes have %d waits of %d; %q", name, n, x.n, base.n, x.res.Trace.Warnings)
			}
			if !x.res.Trace.Incomplete {
				t.Errorf("%s: the first %d bytes are taken for a whole trace", name, n)
			}
		}
		if used < 6 {
			t.Errorf("%s: only %d of 8 pieces are of use", name, used)
		}
	}
}

// longEvent is more bytes than an event has: a hole may begin within one.
const longEvent = 64

// TestHole makes the end of a batch unreadable: the thread is missing from there on, and what is
// told of the others is true.
func TestHole(t *testing.T) {
	for _, name := range append([]string{several, "real/manygens-io-go1.23-p4"}, small()...) {
		base := undamagedTrace(t, name)
		for i, p := range threads(base.trace) {
			if i == 12 {
				break
			}
			at := p[0] + (p[1]-p[0])*(i%3)/3
			b := slices.Clone(base.trace)
			for j := at; j < p[1]; j++ {
				b[j] = 0xff
			}
			x := summaryOf(t, b)
			if x == nil {
				t.Errorf("%s: a hole at byte %d: there is no result", name, at)
				continue
			}
			x.holds(t, base.summary)
			if lost := x.res.Trace.LostBytes; lost < int64(p[1]-at) || !x.res.Trace.Incomplete {
				t.Errorf("%s: a hole of %d bytes: %d are lost; %q", name, p[1]-at, lost, x.res.Trace.Warnings)
			} else if lost > int64(p[1]-at+longEvent) && x.stats.FailCount == 0 {
				t.Errorf("%s: a hole of %d bytes, and though the others' events were used, %d are lost", name, p[1]-at, lost)
			}
		}
	}
}

// FuzzSalvage damages traces in ways that leave no false event: what is told of them then is true.
// After other damage at least the sums are right.
func FuzzSalvage(f *testing.F) {
	for i := range salvageable {
		f.Add(byte(i), []byte(nil))
		for op := range byte(9) {
			if !tracetest.Long() && (i+int(op))%3 != 0 { // each operation on some traces, on each trace some operations
				continue
			}
			f.Add(byte(i), []byte{op, 1 + 20*op, 77, op, byte(i % 5), 1 + 25*op, 3, op})
		}
		f.Add(byte(i), []byte{3, 100, 0, 0})
		f.Add(byte(i), []byte{0, 30, 1, 3, 1, 200, 9, 5, 4, 100, 40, 0})
		f.Add(byte(i), []byte{3, 200, 40, 0, 4, 100, 40, 0})
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		if len(edits) > 40 {
			return // more damage says nothing new
		}
		base := undamagedTrace(t, salvageable[int(which)%len(salvageable)])
		b, sound := edit(base.trace, edits)
		all := len(edits)%8 == 4 // it costs many times as much
		x := summaryWith(t, b, analyze.Options{Workers: 2, DecisionsOnly: !all})
		if x != nil && sound {
			x.holds(t, base.summary)
		}
		if all {
			if one, two := outcome(t, b, 1), outcome(t, b, 2); one != two {
				t.Errorf("with one worker: %s\nwith two: %s", one, two)
			}
		}
	})
}

// edit damages a trace, four bytes an edit: what is done, where, and with what. Sound tells that no
// event that is left can be read as another one.
func edit(trace, edits []byte) (b []byte, sound bool) {
	v1 := damage.Parse(trace).V1()
	b, sound = slices.Clone(trace), true
	cut := len(b)
	for ; len(edits) >= 4; edits = edits[4:] {
		place, x := int(edits[1])<<8|int(edits[2]), edits[3]
		// in returns a place in one of the parts, and where the part ends.
		in := func(parts [][2]int) (at, end int) {
			if len(parts) == 0 {
				return 0, 0
			}
			p := parts[place%len(parts)]
			return p[0] + place*(p[1]-p[0])>>16, p[1]
		}
		op := edits[0] % 9
		if v1 && op < 5 && op != 3 {
			op += 5
		}
		switch op {
		case 0, 1, 2: // an entry of a table
			if at, end := in(tables(trace, [...]byte{wire.Stacks, wire.Strings, wire.CPUSamples}[op])); at < end {
				b[at] ^= 1 << (x % 8)
			}
		case 3:
			cut = min(cut, 16+place*(len(b)-16)>>16)
		case 4: // the end of a batch
			at, end := in(threads(trace))
			for i := at; i < end; i++ {
				b[i] = 0xff
			}
		default: // anything, anywhere
			sound = false
			at := 16 + place*(len(b)-16)>>16
			switch op {
			case 5, 6:
				b[at] ^= 1 << (x % 8)
			case 7:
				clear(b[at:min(len(b), at+int(x))])
			case 8:
				b[at] = x
			}
		}
	}
	return b[:cut], sound
}

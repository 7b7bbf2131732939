package stretch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// recorded is a recording of lab/bench/load: -load mixed -periods 8 -size 40.
func recorded(t *testing.T) []byte {
	t.Helper()
	return tracetest.Unpacked(t, "testdata/mixed.trace.gz")
}

// seen is what x/exp/trace says of a trace.
type seen struct {
	events, syncs, gcs int
	created            map[trace.GoID]int // how often
	last               time.Duration      // from the first event to the last
	clocks             []uint64           // ns: the monotonic clock of each snapshot
	walls              []time.Time
}

func look(t *testing.T, data []byte) seen {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	s := seen{created: make(map[trace.GoID]int)}
	var first trace.Time
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.events == 0 {
			first = ev.Time()
		}
		s.events++
		s.last = time.Duration(ev.Time() - first)
		switch ev.Kind() {
		case trace.EventSync:
			s.syncs++
			if c := ev.Sync().ClockSnapshot; c != nil {
				s.clocks = append(s.clocks, c.Mono)
				s.walls = append(s.walls, c.Wall)
			}
		case trace.EventRangeBegin:
			if ev.Range().Name == "GC concurrent mark phase" {
				s.gcs++
			}
		case trace.EventStateTransition:
			tr := ev.StateTransition()
			if tr.Resource.Kind != trace.ResourceGoroutine {
				continue
			}
			if from, to := tr.Goroutine(); from == trace.GoNotExist && to != trace.GoNotExist {
				s.created[tr.Resource.Goroutine()]++
			}
		}
	}
}

func TestWrite(t *testing.T) {
	l, err := Find(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	if l.gcs == 0 || len(l.born.ids) == 0 {
		t.Fatalf("the repeated part has %d ends of GC cycles and creates %d goroutines: it tests too little", l.gcs, len(l.born.ids))
	}
	write := func(n int) []byte {
		var b bytes.Buffer
		if err := l.Write(&b, n); err != nil {
			t.Fatal(err)
		}
		if want := l.Start.Bytes + int64(n)*l.Turn.Bytes; math.Abs(float64(int64(b.Len())-want)) > 0.2*float64(want) {
			t.Errorf("%d repetitions make %d bytes, want about %d", n, b.Len(), want)
		}
		return b.Bytes()
	}
	none, one, many := look(t, write(0)), look(t, write(1)), look(t, write(40))
	if got, want := many.events-none.events, 40*(one.events-none.events); got != want {
		t.Errorf("40 repetitions add %d events, want %d", got, want)
	}
	if got, want := many.syncs-none.syncs, 40*(l.to-l.from); got != want {
		t.Errorf("40 repetitions add %d generations, want %d", got, want)
	}
	if got, want := many.gcs-none.gcs, 40*(one.gcs-none.gcs); got != want || want == 0 {
		t.Errorf("40 repetitions add %d GC cycles, want %d", got, want)
	}
	if got, want := len(many.created)-len(none.created), 40*len(l.born.ids); got != want {
		t.Errorf("40 repetitions create %d goroutines, want %d", got, want)
	}
	for g, n := range many.created {
		if n != 1 {
			t.Fatalf("goroutine %d was created %d times", g, n)
		}
	}
	if got, want := (many.last - one.last).Seconds(), 39*l.Turn.Duration.Seconds(); math.Abs(got-want) > 1e-6 {
		t.Errorf("39 more repetitions last %.9f s, want %.9f", got, want)
	}
	// A snapshot is moved up as much as the events are.
	turn, n := l.Turn.Duration, len(one.clocks)-1
	step := l.to - l.from
	if got := time.Duration(one.clocks[n] - one.clocks[n-step]); got != turn {
		t.Errorf("the clock goes on by %v, want %v", got, turn)
	}
	if got := one.walls[n].Sub(one.walls[n-step]); got != turn {
		t.Errorf("the wall clock goes on by %v, want %v", got, turn)
	}
}

func TestNothingToRepeat(t *testing.T) {
	data := recorded(t)
	gens, err := split(data)
	if err != nil {
		t.Fatal(err)
	}
	two := headerSize + gens[0].bytes + gens[1].bytes
	if _, err := Find(data[:two]); !errors.Is(err, ErrNoLoop) {
		t.Errorf("two generations: %v, want %v", err, ErrNoLoop)
	}
	for name, bad := range map[string][]byte{
		"empty":            nil,
		"of an older Go":   append([]byte("go 1.25 trace\x00\x00\x00"), data[headerSize:]...),
		"cut in a batch":   data[:two-100],
		"without its end":  data[:two-1],
		"no batch at once": append([]byte(header), 99),
	} {
		if _, err := Find(bad); err == nil || errors.Is(err, ErrNoLoop) {
			t.Errorf("a trace %s: %v, want an error that says what is wrong", name, err)
		}
	}
}

// TestCut fills a batch with events whose goroutine needs two more bytes after
// it was moved up: one batch cannot hold them all.
func TestCut(t *testing.T) {
	start := event{kind: 16, args: [maxArgs]uint64{3, 100, 1}} // GoStart
	b := batch{thread: 7, time: 1000}
	count := 0
	for len(b.data) < wire.MaxBatchSize-10 {
		b.data = appendEvent(b.data, start)
		count++
	}
	end := event{kind: 17, args: [maxArgs]uint64{5}} // GoDestroy
	b.data = appendEvent(b.data, end)

	l := &Loop{gens: []generation{{}, {number: 1, batches: []batch{b}}}, from: 1, to: 2, ticks: 50}
	l.born.ids = map[uint64]bool{}
	l.born.add(100)
	l.born.add(100_000)
	var out bytes.Buffer
	if err := l.Write(&out, 1); err != nil {
		t.Fatal(err)
	}
	gens, err := split(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	pieces := gens[2].batches
	if len(pieces) < 2 {
		t.Fatalf("%d batches", len(pieces))
	}
	now, seen := uint64(0), 0
	for _, p := range pieces {
		if len(p.data) > wire.MaxBatchSize {
			t.Errorf("a batch of %d bytes", len(p.data))
		}
		now = p.time
		if err := p.events(func(e event) {
			now += e.args[0]
			if e.kind == start.kind {
				seen++
				if want := 1050 + 3*uint64(seen); now != want || e.args[1] != 100+99_901 {
					t.Fatalf("event %d is of goroutine %d at %d, want %d at %d", seen, e.args[1], now, 100+99_901, want)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if seen != count || now != 1050+3*uint64(count)+5 {
		t.Errorf("%d events until %d, want %d until %d", seen, now, count, 1050+3*count+5)
	}
}

// TestShapes holds the table of events against a real trace: read by it, the
// events of each batch must end where the batch does.
func TestShapes(t *testing.T) {
	gens, err := split(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gens {
		for _, b := range g.batches {
			if !b.ofThread() {
				continue
			}
			var again []byte
			if err := b.events(func(e event) { again = appendEvent(again, e) }); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, b.data) {
				t.Fatal("a batch is not the same when it was read and written")
			}
		}
	}
}

func TestNoCPUSamples(t *testing.T) {
	data := recorded(t)
	samples := appendBatch(nil, 3, math.MaxUint64, 1, []byte{wire.CPUSamples})
	gens, err := split(data)
	if err != nil {
		t.Fatal(err)
	}
	at := headerSize
	for _, g := range gens[:2] {
		at += g.bytes
	}
	if x, _ := binary.Uvarint(data[at+1:]); x != gens[2].number {
		t.Fatalf("generation %d at byte %d, want %d", x, at, gens[2].number)
	}
	with := append(append(bytes.Clone(data[:at]), samples...), data[at:]...)
	gens, err = split(with)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newLoop(gens, 2, 3); err == nil {
		t.Error("CPU samples are repeated at their old times")
	}
}

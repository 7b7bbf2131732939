package events_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// tied makes up a v1 trace in which Ps start and stop in the same tick, and
// goroutines exist of which nothing else is known.
func tied() []byte {
	const ( // runtime/trace.go, Go 1.21
		evBatch      = 1
		evFrequency  = 2
		evGomaxprocs = 4
		evProcStart  = 5
		evProcStop   = 6
		evGoCreate   = 13
	)
	b := []byte("go 1.21 trace\x00\x00\x00")
	add := func(kind byte, args ...uint64) {
		var data []byte
		for _, x := range args {
			data = binary.AppendUvarint(data, x)
		}
		if n := byte(len(args) - 1); n < 3 {
			b = append(b, kind|n<<6)
		} else {
			b = binary.AppendUvarint(append(b, kind|3<<6), uint64(len(data)))
		}
		b = append(b, data...)
	}
	add(evBatch, 0, 1000)
	add(evFrequency, 50_000_000)
	for g := range uint64(10) {
		add(evGoCreate, 1, 100+g, 0, 0)
	}
	add(evGomaxprocs, 1, 8, 0)
	for p := range uint64(8) {
		add(evBatch, p, 2000)
		for range 3 {
			add(evProcStart, 50, 10+p)
			add(evProcStop, 50)
		}
	}
	return b
}

// TestSameOrderV1 reads such a trace several times: the events are always the
// same, which the public reader alone does not give.
func TestSameOrderV1(t *testing.T) {
	data := tied()
	order := func() (out []trace.ResourceID) {
		r, err := trace.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for {
			ev, err := r.ReadEvent()
			if err == io.EOF {
				return out
			}
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind() == trace.EventStateTransition {
				out = append(out, ev.StateTransition().Resource)
			}
		}
	}
	const runs = 20
	first, same := order(), true
	for range runs {
		same = same && slices.Equal(first, order())
	}
	if same {
		t.Fatal("the public reader gives the same order, too: this trace tests nothing")
	}
	var want []events.Event
	for range runs {
		src, err := input.New(bytes.NewReader(data), "memory")
		if err != nil {
			t.Fatal(err)
		}
		s := events.New(t.Context(), src, events.Options{})
		got := all(t, s)
		s.Close()
		if want == nil {
			want = got
		} else if !slices.Equal(want, got) {
			t.Fatal("the same trace gives other events")
		}
		if n := len(got); n < 8*3*2+10 {
			t.Fatalf("%d events", n)
		}
	}
}

package events

import (
	"io"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// TestGenerationBehindTheOneBefore reads every generation of a trace a second
// time behind the one before it, as is done with those that cannot be read on
// their own: the events must be the same, whatever was handed on already. (Statuses then
// name the state before, and the reader moves the first times behind the last
// of the generation before.)
func TestGenerationBehindTheOneBefore(t *testing.T) {
	src, err := input.Open(t.Context(), "../../testdata/traces/real/manygens-io-go1.25-p4.trace.gz", input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	read := func(data []byte, behind bool, skip emitted) (events []Event, had emitted) {
		d := newDecoder(anyWork(), false, nil)
		d.emitted = skip
		err := d.run(data, behind, func(b *block) bool {
			events = append(events, b.events...)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return append(events, d.cur.events...), d.emitted
	}
	same := func(a, b Event) bool {
		return a.Kind == b.Kind && a.M == b.M && a.Res == b.Res && a.To == b.To
	}
	var before []byte
	n := 0
	for {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			alone, had := read(gen.Data, false, emitted{})
			both := append(slices.Clip(before), gen.Data[headerSize:]...)
			if again, _ := read(both, true, emitted{}); !slices.EqualFunc(alone, again, same) {
				t.Errorf("generation %d: %d events on its own, %d behind the one before", gen.Number, len(alone), len(again))
			}
			if rest, _ := read(both, true, had); !slices.EqualFunc(alone[had.n:], rest, same) {
				t.Errorf("generation %d: after the first %d events, %d are left, want %d", gen.Number, had.n, len(rest), len(alone)-int(had.n))
			}
			n++
		}
		before = gen.Data
	}
	if n < 3 {
		t.Errorf("%d generations compared", n)
	}
}

// TestMemoryIsUsedAgain: what the caller is done with goes back to a decoder.
func TestMemoryIsUsedAgain(t *testing.T) {
	src, err := input.Open(t.Context(), "../../testdata/traces/gc-go1.25-p4.trace.gz", input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := New(t.Context(), src, Options{Workers: 1})
	defer s.Close()
	var last []Event
	for {
		evs, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = evs
	}
	if len(last) == 0 || len(s.free) == 0 {
		t.Fatalf("%d events came last, %d blocks were given back", len(last), len(s.free))
	}
	var again []Event
	d := newDecoder(anyWork(), false, s.free)
	for range cap(s.free) {
		if again = d.newEvents(); &again[:1][0] == &last[0] {
			return
		}
	}
	t.Error("the events handed out last are not used again")
}

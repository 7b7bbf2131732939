package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A generation that takes more memory than is allowed is left out; the limit is
// said to be the reason, and the others are given.
func TestLeavesOutWhatTakesTooMuch(t *testing.T) {
	f := newFile(26).generation(1, 4).generation(2, 100).generation(3, 4)
	open := func(r io.Reader, most int64) *Source {
		s, err := New(r, "test")
		if err != nil {
			t.Fatal(err)
		}
		s.memory = most
		return s
	}
	const most = 50 * batchMemory
	s := open(bytes.NewReader(f.b), most)
	gens := all(t, s)
	if got := outline(gens); got != "1 3" {
		t.Errorf("generations %s", got)
	}
	checkBytes(t, s, gens, len(f.b))
	st := s.Stats()
	if st.LossCount != 1 || !strings.HasPrefix(st.Losses[0].Why, "generation 2 is left out: ") || st.Losses[0].Why != st.OverLimit || st.Losses[0].Generation != 2 ||
		!strings.Contains(st.OverLimit, "more memory than the limit of 0 MiB: raise it (--max-memory") || strings.Contains(st.OverLimit, "damaged") {
		t.Errorf("%+v", st)
	}
	// It is enough, in formats without an end of generations too.
	old := newFile(22).generation(1, 4).generation(2, 100).generation(3, 4)
	if got := outline(all(t, open(bytes.NewReader(old.b), most))); got != "1 3" {
		t.Errorf("generations %s", got)
	}
	if got := outline(all(t, open(bytes.NewReader(f.b), 200*batchMemory))); got != "1 2 3" {
		t.Errorf("generations %s", got)
	}
}

// What unpacks without measure ends the trace there, and what was read before is
// given.
func TestEndsWhereItUnpacksTooMuch(t *testing.T) {
	f := newFile(26).generation(1, 4)
	for range 400 {
		f.batch(2, 1, 2000, make([]byte, 60_000))
	}
	s, err := New(bytes.NewReader(gzipped(t, f.b)), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.grace = 4 << 20
	gens := all(t, s)
	if got := outline(gens); got != "1 2!" {
		t.Errorf("generations %s", got)
	}
	st := s.Stats()
	checkBytes(t, s, gens, int(st.Bytes))
	if st.Bytes > int64(len(f.b))*9/10 || st.LossCount != 2 || !strings.Contains(st.Losses[0].Why, "unpacks more than 200-fold, which no trace does; what follows is left out") {
		t.Errorf("%+v", st)
	}
}

// Batches count as what x/exp/trace takes for them, not as their few bytes.
func TestCountsBatches(t *testing.T) {
	f := newFile(26)
	const n = 1000
	for range n {
		f.batch(1, 1, 1, []byte{37, 10, 5})
	}
	s, err := New(bytes.NewReader(f.b), "test")
	if err != nil {
		t.Fatal(err)
	}
	if g := all(t, s)[0]; g.Memory < n*batchMemory || g.Memory > n*batchMemory+generationFactor*int64(len(f.b)) {
		t.Errorf("%d bytes for %d batches", g.Memory, n)
	}
}

// CPU samples count as what becomes of them.
func TestCountsSamples(t *testing.T) {
	f := newFile(26).batch(1, 1, 1, append([]byte{6}, bytes.Repeat([]byte{7, 1, 1, 0, 1, 0}, 1000)...))
	s, err := New(bytes.NewReader(f.b), "test")
	if err != nil {
		t.Fatal(err)
	}
	if g := all(t, s)[0]; g.Memory < 2*40*1000 {
		t.Errorf("%d bytes for 1000 samples", g.Memory)
	}
}

// What a trace may take without a limit grows with its size as stored, which does
// not depend on the pieces that it comes in.
func TestMemoryBySize(t *testing.T) {
	f := newFile(26)
	for gen := range uint64(20) {
		f.generation(gen+1, 2000)
	}
	for name, b := range map[string][]byte{"plain": f.b, "gzip": gzipped(t, f.b), "zstd": zstded(t, f.b)} {
		var want string
		for i, r := range []io.Reader{bytes.NewReader(b), iotest.HalfReader(bytes.NewReader(b)), iotest.OneByteReader(bytes.NewReader(b))} {
			s, err := New(r, "test")
			if err != nil {
				t.Fatal(err)
			}
			var stored []int64
			for _, g := range all(t, s) {
				stored = append(stored, g.Stored)
				if g.Stored > int64(len(b)) {
					t.Errorf("%s: %d bytes of %d", name, g.Stored, len(b))
				}
			}
			if got := fmt.Sprint(stored); i == 0 {
				want = got
			} else if got != want {
				t.Errorf("%s: %s, then %s", name, want, got)
			}
		}
	}
	s := &Source{}
	if a, b := s.Memory(smallStored), s.Memory(smallStored+1000); a != smallMemory || b != a+1000*storedFactor || s.Memory(1<<62) < b {
		t.Errorf("%d, %d", a, b)
	}
}

// encodedV1 is an event of the old format with a text behind its arguments.
func encodedV1(b []byte, kind byte, text string, args ...uint64) []byte {
	if kind == evStringV1 {
		b = binary.AppendUvarint(append(b, kind), args[0])
	} else {
		var data []byte
		for _, x := range args {
			data = binary.AppendUvarint(data, x)
		}
		b = append(binary.AppendUvarint(append(b, kind|3<<6), uint64(len(data))), data...)
	}
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Long names of the old format are cut, and nothing else is changed, in whatever
// pieces the trace comes.
func TestCutsNamesV1(t *testing.T) {
	long := strings.Repeat("ü", 450_000)
	build := func(name string) []byte {
		b := append([]byte("go 1.21 trace\x00\x00\x00"), 1|1<<6, 0, 1)
		b = encodedV1(b, evStringV1, "short", 1)
		b = encodedV1(b, evStringV1, name, 2)
		b = append(b, 6, 1) // a P stops
		b = encodedV1(b, evUserLogV1, name, 1, 0, 1, 0)
		b = encodedV1(b, evUserLogV1, "", 1, 0, 1, 0)
		return append(b, 6, 1, 6, 1)
	}
	whole := build(long)
	want := build(long[:maxName-4] + cutMark) // not within a character
	for _, r := range []io.Reader{bytes.NewReader(whole), iotest.HalfReader(bytes.NewReader(whole)), iotest.OneByteReader(bytes.NewReader(whole))} {
		s, err := New(r, "test")
		if err != nil {
			t.Fatal(err)
		}
		g := all(t, s)[0]
		if !bytes.Equal(g.Data, want) {
			t.Errorf("%d bytes, want %d", len(g.Data), len(want))
		}
		if st := s.Stats(); st.CutNames != 2 || st.LossCount != 0 || g.Bytes != int64(len(whole)-headerSize) {
			t.Errorf("%+v", st)
		}
	}
	// Names as long as allowed stay, and so does what makes no sense, from there on.
	for _, b := range [][]byte{
		build(long[:maxName]),
		append(build("x"), 0x25, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		whole[:len(whole)/2],
		encodedV1(build("x"), evStringV1, strings.Repeat("x", maxTextV1+1), 9),
	} {
		s, err := New(bytes.NewReader(b), "test")
		if err != nil {
			t.Fatal(err)
		}
		if g := all(t, s)[0]; !bytes.Equal(g.Data, b) || s.Stats().CutNames != 0 {
			t.Errorf("%d bytes became %d", len(b), len(g.Data))
		}
	}
}

// A trace of the old format whose Ps the reader would ask over and over is refused.
func TestManyPsV1(t *testing.T) {
	b := []byte("go 1.21 trace\x00\x00\x00")
	for p := range uint64(30_000) {
		b = append(binary.AppendUvarint(append(b, 1|1<<6), p), 1, 6, 1)
	}
	s, err := New(bytes.NewReader(b), "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "to put the first 60000 events, of 30000 Ps, in order takes more than") {
		t.Error(err)
	}
}

// A limit of memory is named where a trace of the old format is refused.
func TestLimitV1(t *testing.T) {
	old := append([]byte("go 1.21 trace\x00\x00\x00\x41\x00\x01"), bytes.Repeat([]byte("\x06\x01"), 400)...)
	s, err := New(bytes.NewReader(old), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.memory = 400 * v1EventMemory
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "401 events of this one, in 803 bytes, take more memory than the limit of 0 MiB: raise it (--max-memory, analyze.Options.MaxMemory); or record a shorter one") {
		t.Error(err)
	}
}

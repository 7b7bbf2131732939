package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// all reads a trace to its end.
func all(t testing.TB, s *Source) []*Generation {
	t.Helper()
	var gens []*Generation
	for {
		g, err := s.Next()
		if errors.Is(err, io.EOF) {
			if _, err := s.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("Next after io.EOF: %v", err)
			}
			return gens
		}
		if err != nil {
			t.Fatal(err)
		}
		if g.Index != len(gens) {
			t.Fatalf("index %d of generation %d", g.Index, len(gens))
		}
		gens = append(gens, g)
	}
}

// outline is "1 2! 3": numbers of generations, ! if incomplete.
func outline(gens []*Generation) string {
	var w strings.Builder
	for i, g := range gens {
		if i > 0 {
			w.WriteByte(' ')
		}
		fmt.Fprint(&w, g.Number)
		if !g.Complete {
			w.WriteByte('!')
		}
	}
	return w.String()
}

// checkBytes verifies that every byte is in a generation or lost.
func checkBytes(t testing.TB, s *Source, gens []*Generation, total int) {
	t.Helper()
	st := s.Stats()
	sum := int64(headerSize) + st.LostBytes
	end := int64(headerSize)
	for _, g := range gens {
		sum += g.Bytes
		if g.Offset < end {
			t.Errorf("generation %d at %d begins before %d", g.Number, g.Offset, end)
		}
		end = g.Offset + g.Bytes
	}
	if sum != int64(total) || st.Bytes != int64(total) {
		t.Errorf("%d bytes accounted for, %d read, of %d; %+v", sum, st.Bytes, total, st)
	}
	if st.LossCount < len(st.Losses) || len(st.Losses) > maxLosses {
		t.Errorf("%d of %d losses", len(st.Losses), st.LossCount)
	}
}

var minors = []int{22, 23, 25, 26}

func eachMinor(t *testing.T, test func(t *testing.T, minor int)) {
	for _, minor := range minors {
		t.Run(fmt.Sprintf("1.%d", minor), func(t *testing.T) { test(t, minor) })
	}
}

func TestWholeTrace(t *testing.T) {
	eachMinor(t, func(t *testing.T, minor int) {
		f := newFile(minor).generation(7, 5).generation(8, 1).generation(9, 0)
		for _, r := range []io.Reader{bytes.NewReader(f.b), iotest.OneByteReader(bytes.NewReader(f.b)), iotest.DataErrReader(bytes.NewReader(f.b))} {
			s, err := New(r, "test")
			if err != nil {
				t.Fatal(err)
			}
			gens := all(t, s)
			if got := outline(gens); got != "7 8 9" {
				t.Errorf("generations %s", got)
			}
			checkBytes(t, s, gens, len(f.b))
			if st := s.Stats(); st.LossCount != 0 {
				t.Errorf("losses %+v", st.Losses)
			}
			if h := s.Header(); h != (Header{Minor: minor}) {
				t.Errorf("header %+v", h)
			}
			at := int64(headerSize)
			for i, g := range gens {
				if g.Offset != at {
					t.Errorf("generation %d at %d, want %d", g.Number, g.Offset, at)
				}
				at += g.Bytes
				n, err := countEvents(g.Data)
				if want := []int{5, 1, 0}[i]; n != want || err != nil {
					t.Errorf("generation %d: %d events, want %d; %v", g.Number, n, want, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestHeaderOnly(t *testing.T) {
	eachMinor(t, func(t *testing.T, minor int) {
		s, err := New(bytes.NewReader(newFile(minor).b), "test")
		if err != nil {
			t.Fatal(err)
		}
		if gens := all(t, s); len(gens) != 0 || s.Stats().LossCount != 0 {
			t.Errorf("%d generations, %+v", len(gens), s.Stats())
		}
	})
}

// The batches of generation(gen, 4) are sync, 0, 1, 2, 3, strings, and from 1.26 a marker.
func TestDamage(t *testing.T) {
	type damaged struct {
		name  string
		minor int
		how   func(f *file, b []byte) []byte
		want  string
		lost  int64  // -1: not compared
		why   string // of the first loss
	}
	per := map[int]int{22: 6, 23: 6, 25: 6, 26: 7} // batches and marker in a generation
	var tests []damaged
	for _, minor := range minors {
		n := per[minor]
		// batch k of generation i (1, 2, 3)
		at := func(f *file, i, k int) int { return f.at[(i-1)*n+k] }
		size := func(f *file, i, k int) int64 {
			j := (i-1)*n + k
			if j+1 == len(f.at) {
				return int64(len(f.b) - f.at[j])
			}
			return int64(f.at[j+1] - f.at[j])
		}
		probe := newFile(minor).generation(1, 4).generation(2, 4).generation(3, 4)
		tests = append(tests,
			damaged{"kind byte in the middle", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 2)] = 0xff
				return b
			}, "1 2! 3", size(probe, 2, 2), "no batch starts here"},
			damaged{"generation number zero", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 2)+1] = 0
				return b
			}, "1 2! 3", size(probe, 2, 2), "generation number 0"},
			damaged{"generation number one too high", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 2)+1]++
				return b
			}, "1 2! 3", size(probe, 2, 2), "a batch of generation 3 amid generation 2"},
			damaged{"generation number too low", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 2)+1]--
				return b
			}, "1 2! 3", size(probe, 2, 2), "a batch of generation 1 amid generation 2"},
			damaged{"generation number far too high", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 2)+1] = 99
				return b
			}, "1 2! 3", size(probe, 2, 2), "a batch of generation 99 amid generation 2"},
			damaged{"first batch of the file", minor, func(f *file, b []byte) []byte {
				b[at(f, 1, 0)] = 0
				return b
			}, "1! 2 3", size(probe, 1, 0), "no batch starts here"},
			damaged{"size too large, within the limit", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 3)-5-9] += 40 // lowest byte of the padded size before 4 bytes of data
				return b
			}, "1 2! 3", size(probe, 2, 2), "a batch with a wrong size"},
			damaged{"size beyond the limit", minor, func(f *file, b []byte) []byte {
				b[at(f, 2, 3)-5-3] = 0xff
				return b
			}, "1 2! 3", size(probe, 2, 2), "batch size beyond the limit of 65536"},
			damaged{"a hole over a border", minor, func(f *file, b []byte) []byte {
				clear(b[at(f, 1, 3):at(f, 2, 2)])
				return b
			}, "1! 2! 3", int64(at(probe, 2, 2) - at(probe, 1, 3)), "no batch starts here"},
			damaged{"a hole that swallows a generation", minor, func(f *file, b []byte) []byte {
				clear(b[at(f, 1, 3):at(f, 3, 2)])
				return b
			}, "1! 3!", int64(at(probe, 3, 2) - at(probe, 1, 3)), "no batch starts here"},
			damaged{"bytes inserted", minor, func(f *file, b []byte) []byte {
				i := at(f, 2, 1)
				return append(b[:i:i], append([]byte("hello, world"), b[i:]...)...)
			}, "1 2! 3", 12, "no batch starts here"},
			damaged{"cut inside a batch header", minor, func(f *file, b []byte) []byte {
				return b[:at(f, 3, 2)+2]
			}, "1 2 3!", 2, "the trace ends inside a batch"},
			damaged{"cut inside batch data", minor, func(f *file, b []byte) []byte {
				return b[:at(f, 3, 3)-1]
			}, "1 2 3!", 0, "the trace ends inside a batch, of which 75 % are there"},
			damaged{"cut inside the first batch of a generation", minor, func(f *file, b []byte) []byte {
				return b[:at(f, 3, 1)-1]
			}, "1 2 3!", 0, "the trace ends inside a batch, of which "},
			damaged{"cut between batches", minor, func(f *file, b []byte) []byte {
				return b[:at(f, 3, 3)]
			}, "1 2 3!", 0, "the trace ends inside the generation"},
			damaged{"cut between generations", minor, func(f *file, b []byte) []byte {
				return b[:at(f, 3, 0)]
			}, "1 2", 0, ""},
			damaged{"another trace behind it", minor, func(f *file, b []byte) []byte {
				return append(b, newFile(minor).generation(3, 9).generation(4, 9).b...)
			}, map[bool]string{false: "1 2 3!", true: "1 2 3"}[minor == 26], -1, "another trace begins here"},
			damaged{"zeros behind it", minor, func(f *file, b []byte) []byte {
				return append(b, make([]byte, 3<<20)...)
			}, map[bool]string{false: "1 2 3!", true: "1 2 3"}[minor == 26], 3 << 20, "no batch starts here; no batch follows"},
		)
	}
	tests = append(tests,
		damaged{"a lost end marker", 26, func(f *file, b []byte) []byte {
			i := f.at[13]
			return append(b[:i:i], b[i+1:]...)
		}, "1 2! 3", 0, "the generation has no end marker"},
		damaged{"a stray end marker", 26, func(f *file, b []byte) []byte {
			i := f.at[14]
			return append(b[:i:i], append([]byte{wire.EndOfGeneration}, b[i:]...)...)
		}, "1 2 3", 1, "an end-of-generation marker without a generation"},
		damaged{"an end marker in an old format", 25, func(f *file, b []byte) []byte {
			i := f.at[12]
			return append(b[:i:i], append([]byte{wire.EndOfGeneration}, b[i:]...)...)
		}, "1 2! 3!", 1, "no batch starts here"},
	)
	for _, tt := range tests {
		t.Run(fmt.Sprintf("1.%d/%s", tt.minor, tt.name), func(t *testing.T) {
			f := newFile(tt.minor).generation(1, 4).generation(2, 4).generation(3, 4)
			b := f.damage(func(b []byte) []byte { return tt.how(f, b) })
			s, err := New(bytes.NewReader(b), "test")
			if err != nil {
				t.Fatal(err)
			}
			gens := all(t, s)
			st := s.Stats()
			if got := outline(gens); got != tt.want {
				t.Errorf("generations %s, want %s; %+v", got, tt.want, st.Losses)
			}
			if tt.lost >= 0 && st.LostBytes != tt.lost {
				t.Errorf("lost %d bytes, want %d; %+v", st.LostBytes, tt.lost, st.Losses)
			}
			if tt.why == "" && st.LossCount != 0 || tt.why != "" && (st.LossCount == 0 || !strings.HasPrefix(st.Losses[0].Why, tt.why)) {
				t.Errorf("losses %+v, want %q", st.Losses, tt.why)
			}
			checkBytes(t, s, gens, len(b))
			for _, g := range gens {
				_, err := countEvents(g.Data)
				if g.Complete && err != nil {
					t.Errorf("generation %d: %v", g.Number, err)
				}
				if tt.minor == 26 && g.Data[len(g.Data)-1] != wire.EndOfGeneration {
					t.Errorf("generation %d has no end marker", g.Number)
				}
			}
		})
	}
}

// A hole over many generations does not end the trace.
func TestLargeHole(t *testing.T) {
	eachMinor(t, func(t *testing.T, minor int) {
		f := newFile(minor)
		for gen := range uint64(60) {
			f.generation(gen+1, 200)
		}
		from, to := len(f.b)/10, len(f.b)*9/10
		b := f.damage(func(b []byte) []byte {
			for i := from; i < to; i++ {
				b[i] = byte(i * i >> 3)
			}
			return b
		})
		s, err := New(bytes.NewReader(b), "test")
		if err != nil {
			t.Fatal(err)
		}
		gens := all(t, s)
		checkBytes(t, s, gens, len(b))
		if got := outline(gens); got != "1 2 3 4 5 6 7! 55! 56 57 58 59 60" {
			t.Errorf("generations %s; %+v", got, s.Stats())
		}
	})
}

func TestManyLosses(t *testing.T) {
	f := newFile(26)
	for gen := range uint64(300) {
		f.generation(gen+1, 8)
	}
	b := f.damage(func(b []byte) []byte {
		for i := 4; i < len(f.at); i += 11 {
			b[f.at[i]] = 0
		}
		return b
	})
	s, err := New(bytes.NewReader(b), "test")
	if err != nil {
		t.Fatal(err)
	}
	gens := all(t, s)
	checkBytes(t, s, gens, len(b))
	if st := s.Stats(); len(gens) != 300 || len(st.Losses) != maxLosses || st.LossCount != 300 {
		t.Errorf("%d generations, %d of %d losses", len(gens), len(st.Losses), st.LossCount)
	}
}

func TestUvarint(t *testing.T) {
	tests := []struct {
		in string
		x  uint64
		n  int
	}{
		{"", 0, 0},
		{"\x05", 5, 1},
		{"\x80", 0, 0},
		{"\x85\x00", 5, 2},
		{"\x85\x80\x80\x80\x80\x80\x80\x80\x80\x00", 5, 10},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1<<64 - 1, 10},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0, -1},
		{"\x85\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0, -1},
	}
	for _, tt := range tests {
		if x, n := wire.Uvarint([]byte(tt.in)); x != tt.x || n != tt.n {
			t.Errorf("uvarint(%x) = %d, %d, want %d, %d", tt.in, x, n, tt.x, tt.n)
		}
	}
}

func TestLimits(t *testing.T) {
	f := newFile(26).generation(1, 4).generation(2, 4)
	s, err := New(bytes.NewReader(f.b), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.maxGen = 100
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "generation 1 is larger than") {
		t.Error(err)
	}
	if _, again := s.Next(); again == nil {
		t.Error("an error does not last")
	}

	old := append([]byte("go 1.21 trace\x00\x00\x00"), make([]byte, 1000)...)
	s, err = New(bytes.NewReader(old), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.maxV1 = 999
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "record a shorter one") {
		t.Error(err)
	}

	// As few bytes, but many events: 400 that a P stops.
	s, err = New(bytes.NewReader(append([]byte("go 1.21 trace\x00\x00\x00\x41\x00\x01"), bytes.Repeat([]byte("\x06\x01"), 400)...)), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.maxV1 = 3000
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "401 events, more than 375") {
		t.Error(err)
	}

	// A scan that finds nothing ends, and what was found before it is given.
	endless := io.MultiReader(bytes.NewReader(f.b[:f.at[8]]), zeros{})
	s, err = New(endless, "test")
	if err != nil {
		t.Fatal(err)
	}
	s.maxScan = 5 << 20
	if got := outline(all(t, s)); got != "1 2!" {
		t.Errorf("generations %s", got)
	}
	if st := s.Stats(); !strings.Contains(st.Losses[0].Why, "gave up after 5 MiB") {
		t.Errorf("%+v", st)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A size in the input allocates nothing by itself.
func TestNoTrustInLengths(t *testing.T) {
	f := newFile(26)
	for range 1000 {
		f.b = append(f.b, wire.EventBatch, 1, 1, 1, 0x80, 0x80, 4) // 65536 bytes that never come
	}
	var s *Source
	var gens []*Generation
	allocations := testing.AllocsPerRun(1, func() {
		var err error
		if s, err = New(bytes.NewReader(f.b), "test"); err != nil {
			t.Fatal(err)
		}
		gens = all(t, s)
	})
	checkBytes(t, s, gens, len(f.b))
	kept := 0
	for _, g := range gens {
		kept += cap(g.Data)
	}
	t.Logf("%v allocations, %d bytes kept", allocations, kept)
	if allocations > 100 || kept > 1<<20 {
		t.Errorf("%v allocations, and %d bytes kept, for %d", allocations, kept, len(f.b))
	}
}

func TestCompressed(t *testing.T) {
	f := newFile(26)
	for gen := range uint64(400) {
		f.generation(gen+1, 200)
	}
	for _, c := range []struct {
		name string
		pack func(testing.TB, []byte) []byte
	}{{"gzip", gzipped}, {"zstd", zstded}} {
		packed := c.pack(t, f.b)
		// A zstd block unpacks as a whole: what is lost is up to 128 KiB.
		tests := []struct {
			name string
			in   []byte
			min  int    // generations at least
			why  string // of the last loss
		}{
			{"whole", packed, 400, ""},
			{"in two parts", append(c.pack(t, f.b[:9999]), c.pack(t, f.b[9999:])...), 400, ""},
			{"something behind it", append(bytes.Clone(packed), "trailing bytes"...), 400, "is followed by something else"},
			{"cut", packed[:len(packed)*3/4], 1, "the " + c.name + " data is truncated"},
			{"last byte missing", packed[:len(packed)-1], 300, "the " + c.name + " data is truncated"},
			{"damaged", flip(packed, len(packed)*3/4), 1, ""},
		}
		for _, tt := range tests {
			t.Run(c.name+"/"+tt.name, func(t *testing.T) {
				s, err := New(bytes.NewReader(tt.in), "test")
				if err != nil {
					t.Fatal(err)
				}
				gens := all(t, s)
				st := s.Stats()
				if s.Header().Compression != c.name || len(gens) < tt.min || st.Stored != int64(len(tt.in)) && tt.why == "" && tt.min == 400 {
					t.Errorf("%+v, %d generations, %+v", s.Header(), len(gens), st)
				}
				if tt.min == 400 {
					checkBytes(t, s, gens, len(f.b))
				}
				if tt.why != "" && (st.LossCount == 0 || !strings.Contains(st.Losses[len(st.Losses)-1].Why, tt.why)) {
					t.Errorf("losses %+v, want %q", st.Losses, tt.why)
				}
				if tt.why == "" && tt.min == 400 && st.LossCount > 0 {
					t.Errorf("losses %+v", st.Losses)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func flip(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 0xff
	return b
}

// A small file that unpacks to a large one is refused before it is a large one.
// The library refuses a frame that asks for more memory than any trace needs, see
// TestNotATrace; so does the opening what is compressed twice.
func TestBomb(t *testing.T) {
	const grace = 4 << 20
	data := make([]byte, wire.MaxBatchSize)
	data[0] = 13
	batches := newFile(26)
	for len(batches.b) < 2*grace {
		batches.batch(1, 1, 1, data)
	}
	header := func(minor string) []byte { return []byte("go 1." + minor + " trace\x00\x00\x00") }
	for name, b := range map[string][]byte{
		"batches":    batches.b,
		"no batches": append(header("26"), make([]byte, 2*grace)...),
		"v1":         append(header("21"), make([]byte, 2*grace)...),
	} {
		for kind, packed := range map[string][]byte{
			"gzip":           gzipped(t, b),
			"zstd":           zstded(t, b),
			"gzip in pieces": append(gzipped(t, b[:len(b)/2]), gzipped(t, b[len(b)/2:])...),
			"zstd in pieces": append(zstded(t, b[:len(b)/2]), zstded(t, b[len(b)/2:])...),
		} {
			s, err := New(bytes.NewReader(packed), "test")
			if err != nil {
				t.Fatal(err)
			}
			s.grace = grace
			var refused error
			for refused == nil {
				_, refused = s.Next()
			}
			if !strings.Contains(refused.Error(), "unpacks more than 200-fold") {
				t.Errorf("%s, %s: %v", name, kind, refused)
			}
			if n := s.Stats().Bytes; n > grace+(4<<20) {
				t.Errorf("%s, %s: %d bytes were unpacked", name, kind, n)
			}
			s.Close()
		}
	}
}

func TestV1(t *testing.T) {
	b := append([]byte("go 1.19 trace\x00\x00\x00"), bytes.Repeat([]byte("events"), 1<<20)...)
	for name, in := range map[string][]byte{"": b, "gzip": gzipped(t, b), "zstd": zstded(t, b)} {
		s, err := New(bytes.NewReader(in), "test")
		if err != nil {
			t.Fatal(err)
		}
		gens := all(t, s)
		if h := s.Header(); h != (Header{Minor: 19, V1: true, Compression: name}) {
			t.Errorf("%+v", h)
		}
		if len(gens) != 1 || !bytes.Equal(gens[0].Data, b) || !gens[0].Complete {
			t.Errorf("%s: %d generations", name, len(gens))
		}
		checkBytes(t, s, gens, len(b))
	}
	in := gzipped(t, b)
	s, err := New(bytes.NewReader(in[:len(in)-20]), "test")
	if err != nil {
		t.Fatal(err)
	}
	if gens := all(t, s); len(gens) != 1 || gens[0].Complete || s.Stats().LossCount != 1 {
		t.Errorf("%d generations, %+v", len(gens), s.Stats())
	}
}

// A read error in the middle is a loss; one at the start is an error.
func TestReadError(t *testing.T) {
	disk := errors.New("disk is on fire")
	f := newFile(25).generation(1, 4).generation(2, 4).generation(3, 4)
	for _, tt := range []struct {
		n    int
		want string
	}{{0, "opening error"}, {5, "opening error"}, {headerSize, "error"}, {f.at[6] + 3, "1!"}, {f.at[8], "1 2!"}, {len(f.b), "1 2 3!"}} {
		r := io.MultiReader(bytes.NewReader(f.b[:tt.n]), iotest.ErrReader(disk))
		s, err := New(r, "test")
		if tt.want == "opening error" {
			if !errors.Is(err, disk) {
				t.Errorf("cut at %d: %v", tt.n, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("cut at %d: %v", tt.n, err)
			continue
		}
		if tt.want == "error" {
			if _, err := s.Next(); !errors.Is(err, disk) {
				t.Errorf("cut at %d: %v", tt.n, err)
			}
			continue
		}
		gens := all(t, s)
		if got := outline(gens); got != tt.want || s.Stats().LossCount == 0 {
			t.Errorf("cut at %d: generations %s, %+v", tt.n, got, s.Stats())
		}
	}
}

func TestClose(t *testing.T) {
	s, err := New(bytes.NewReader(newFile(26).generation(1, 3).b), "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	f := newFile(26).generation(1, 3).generation(2, 3)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(ctx, "-", Options{Stdin: bytes.NewReader(f.b)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzSplit checks that no input makes the splitter panic, hang, lose count of bytes, or give a
// generation that is no input for trace.NewReader.
func FuzzSplit(f *testing.F) {
	for _, minor := range minors {
		whole := newFile(minor).generation(1, 4).generation(2, 1).experimental(2, []byte("xyz"))
		f.Add(whole.b)
		f.Add(whole.b[:len(whole.b)-5])
		f.Add(flip(whole.b, whole.at[3]))
		f.Add(flip(whole.b, whole.at[4]-10))
	}
	f.Add([]byte("go 1.19 trace\x00\x00\x00abc"))
	f.Add([]byte("go 1.26 trace\x00\x00\x004444"))
	f.Add([]byte("go 1.021 trace\x00\x0000000"))
	f.Add(gzipped(f, newFile(26).generation(1, 2).b))
	f.Add(zstded(f, newFile(25).generation(1, 2).b))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := New(bytes.NewReader(b), "fuzz")
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Errorf("not one line: %q", err)
			}
			return
		}
		defer s.Close()
		s.maxGen, s.maxV1, s.maxScan = 16<<20, 16<<20, 16<<20
		var gens []*Generation
		for {
			g, err := s.Next()
			if err != nil {
				break
			}
			gens = append(gens, g)
			h := s.Header()
			if !bytes.HasPrefix(g.Data, fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", h.Minor)) {
				t.Fatalf("header %q", g.Data[:16])
			}
			if h.Minor >= 26 && g.Data[len(g.Data)-1] != wire.EndOfGeneration {
				t.Fatal("no end marker")
			}
			if g.Number == 0 && !h.V1 {
				t.Fatal("generation 0")
			}
		}
		if s.Header().Compression == "" && errors.Is(s.end, io.EOF) && len(b) < 16<<20 {
			checkBytes(t, s, gens, len(b))
		}
	})
}

package events

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// decoded is all that decode gives of a generation.
type decoded struct {
	events  []Event
	stacks  [][]Frame
	strings []string
	blocks  []string // what came with each block: numbers of events, stacks and strings, and the clock
	err     string
}

// collect decodes a generation as a Stream does, but for salvaging; or, if public, with the
// public reader alone.
func collect(gen *input.Generation, before []byte, public bool) (out decoded) {
	decodeStrict(anyWork(), gen, before, public, func(b *block) bool {
		out.events = append(out.events, b.events...)
		from := int32(0)
		for _, end := range b.stacks.ends {
			var frames []Frame
			for _, i := range b.stacks.frames[from:end] {
				frames = append(frames, b.stacks.places[i])
			}
			out.stacks, from = append(out.stacks, frames), end
		}
		out.strings = append(out.strings, b.strings...)
		out.blocks = append(out.blocks, fmt.Sprintf("%d events, %d stacks, %d strings, %v %d", len(b.events), len(b.stacks.ends), len(b.strings), b.wall, b.wallAt))
		if b.err != nil {
			out.err, _, _ = strings.Cut(b.err.Error(), "\n") // the lines after it depend on map order
		}
		return true
	})
	return out
}

// decodeStrict is decode without salvaging; with public, by the public reader alone.
func decodeStrict(w *work, gen *input.Generation, before []byte, public bool, emit func(*block) bool) {
	d, err := validate(w, gen, before, false, public, nil, emit)
	if errors.Is(err, errStopped) {
		return
	}
	d.cur.err = err
	emit(d.cur)
}

// differ reports what is not the same; "" if all is.
func differ(own, public *decoded) string {
	for i := range min(len(own.events), len(public.events)) {
		if own.events[i] != public.events[i] {
			return fmt.Sprintf("event %d: own %+v, public %+v", i, own.events[i], public.events[i])
		}
	}
	if n, m := len(own.events), len(public.events); n != m {
		return fmt.Sprintf("own has %d events (%s), public %d (%s)", n, own.err, m, public.err)
	}
	if n, m := len(own.stacks), len(public.stacks); n != m {
		return fmt.Sprintf("own has %d stacks, public %d", n, m)
	}
	for i := range own.stacks {
		if !slices.Equal(own.stacks[i], public.stacks[i]) {
			return fmt.Sprintf("stack %d: own %v, public %v", i, own.stacks[i], public.stacks[i])
		}
	}
	if !slices.Equal(own.strings, public.strings) {
		return fmt.Sprintf("strings: own %q, public %q", own.strings, public.strings)
	}
	if !slices.Equal(own.blocks, public.blocks) {
		return fmt.Sprintf("blocks: own %q, public %q", own.blocks, public.blocks)
	}
	if withoutDigits(own.err) != withoutDigits(public.err) {
		return fmt.Sprintf("error: own %q, public %q", own.err, public.err)
	}
	return ""
}

// withoutDigits leaves out of an error the ids: which of several bad entries of
// a table the public reader names depends on map order.
func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// why is why the own decoder declines a generation; "" if it does not.
func why(gen *input.Generation) string {
	err := newDecoder(anyWork(), false, nil).decodeOwn(gen.Data, func(*block) bool { return true })
	if err == nil {
		return ""
	}
	return err.Error()
}

const mistake = "declined: a mistake of the decoder"

// both holds the own decoder against the public reader in every generation of a
// trace, alone and behind the one before. It returns the number of generations
// and events and why some were declined that the public reader reads on their own.
func both(t testing.TB, src *input.Source) (generations, events int, declines []string) {
	t.Helper()
	var before []byte
	for {
		gen, err := src.Next()
		if err != nil {
			return generations, events, declines
		}
		if src.Header().V1 {
			return 0, 0, nil
		}
		generations++
		if w := why(gen); w == mistake {
			t.Errorf("generation %d: the own decoder panics", gen.Number)
		} else if w != "" && collect(gen, nil, true).err == "" {
			declines = append(declines, fmt.Sprintf("generation %d: %s", gen.Number, w))
		}
		own, public := collect(gen, before, false), collect(gen, before, true)
		if d := differ(&own, &public); d != "" {
			t.Errorf("generation %d: %s", gen.Number, d)
		}
		events += len(public.events)
		before = nil
		if gen.Complete {
			before = gen.Data
		}
	}
}

// healthy are generations of the repository's traces that the own decoder
// leaves to the public reader though nothing is wrong with them.
var healthy = map[string]string{}

// TestSameAsPublicReader decodes the traces of the repository in both ways; or
// those in the directory that the environment variable TRACES names.
func TestSameAsPublicReader(t *testing.T) {
	dir := os.Getenv("TRACES")
	mine := dir == ""
	if mine {
		dir = "../../testdata/traces"
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".trace.gz") || !mine && strings.HasSuffix(path, ".trace")) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	generations, events, declined := 0, 0, 0
	for i, file := range files {
		if !tracetest.Long() && mine && i%8 != 0 {
			continue
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".trace.gz"), func(t *testing.T) {
			src, err := input.Open(t.Context(), file, input.Options{})
			if err != nil {
				t.Skip(err)
			}
			defer src.Close()
			n, m, declines := both(t, src)
			generations += n
			events += m
			declined += len(declines)
			for _, d := range declines {
				t.Log(d)
				if mine && healthy[filepath.ToSlash(name)] == "" {
					t.Errorf("a healthy generation is left to the public reader: %s", d)
				}
			}
		})
	}
	t.Logf("%d traces, %d generations, %d events; %d generations declined", len(files), generations, events, declined)
	if mine && tracetest.Long() && generations < 300 {
		t.Errorf("only %d generations", generations)
	}
}

// victims are small traces of every format. Their order is part of the fuzz
// corpus: append only.
var victims = []string{
	"retake-small-go1.22-p2", "mutex-go1.24-p4", "overflow-go1.25-p1", "steal-small-go1.26-p2",
	"locked-threads-go1.27-p2", "gosched-go1.26-p2", "timers-go1.22-p4", "cases/gc-displacement-near-miss-go1.26-p2",
}

// badStacks damages victim 1 so that several stacks have unknown strings.
const badStacks = "BZY9CX%\xdfc#017C))z2"

// TestSameError reads a trace in which several stacks are bad.
func TestSameError(t *testing.T) {
	data := damage.Apply(tracetest.Recorded(t, victims[1]), []byte(badStacks))
	said := map[string]bool{}
	for range 30 {
		src, err := input.New(bytes.NewReader(data), "damaged")
		if err != nil {
			t.Fatal(err)
		}
		for {
			gen, err := src.Next()
			if err != nil {
				break
			}
			if out := collect(gen, nil, true); strings.Contains(out.err, "stack") {
				said[out.err] = true
			}
		}
		src.Close()
	}
	if len(said) != 1 {
		t.Errorf("errors: %v", said)
	}
}

// FuzzDecode damages real traces and decodes what is left in both ways.
func FuzzDecode(f *testing.F) {
	var traces [][]byte
	for _, name := range victims {
		traces = append(traces, tracetest.Recorded(f, name))
	}
	for i := range byte(4) { // a version of the format each, with events of all kinds
		data, _ := invent(append([]byte{i}, random(rand.New(rand.NewPCG(5, uint64(i))), 3000)...))
		traces = append(traces, data)
	}
	for i := range byte(len(traces)) {
		f.Add(i, []byte(nil))
	}
	f.Add(byte(25), []byte(badStacks))
	for op := range byte(26) {
		f.Add(op%byte(len(traces)), []byte{op, 0, 2, 0, 9, 2, 3})
		f.Add((op+3)%byte(len(traces)), []byte{op, 1, 7, 1, 2, 3, 5, op, 0, 40, 0, 17, 1, 7})
	}
	f.Fuzz(func(t *testing.T, which byte, program []byte) {
		if len(program) > 200 {
			return
		}
		src, err := input.New(bytes.NewReader(damage.Apply(traces[int(which)%len(traces)], program)), "damaged")
		if err != nil {
			return
		}
		defer src.Close()
		both(t, src)
	})
}

package reconstruct_test

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/reference"
)

const traces = "../../testdata/traces"

// large are large traces of the repository, each of another character.
var large = []string{
	"blocking-syscalls-go1.26-p4", "gc-go1.25-p4", "network-go1.26-p4", "pingpong-starve-go1.26-p1",
	"thousand-by-thousand-go1.26-p4", "real/manygens-io-go1.25-p4", "real/regexp-cpuprof-go1.22-p2",
}

// decoded is a trace in memory, as bytes and as events.
type decoded struct {
	tb     testing.TB
	data   []byte // not compressed
	blocks [][]events.Event
	count  int
	tables *events.Tables
	opt    reconstruct.Options
}

func load(tb testing.TB, path string) *decoded {
	tb.Helper()
	src, err := input.Open(tb.Context(), path, input.Options{})
	if err != nil {
		tb.Skipf("not readable: %v", err)
	}
	defer src.Close()
	tr := &decoded{tb: tb}
	for {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		data := gen.Data
		if len(tr.data) > 0 {
			data = data[16:] // the header stands once
		}
		tr.data = append(tr.data, data...)
	}
	if len(tr.data) == 0 {
		return tr
	}
	tr.stream(func(evs []events.Event) {
		tr.blocks = append(tr.blocks, slices.Clone(evs))
		tr.count += len(evs)
	})
	return tr
}

// stream decodes the trace and returns what a Reconstructor needs to know.
func (tr *decoded) stream(f func([]events.Event)) {
	src, err := input.New(bytes.NewReader(tr.data), "memory")
	if err != nil {
		tr.tb.Fatal(err)
	}
	defer src.Close()
	s := events.New(tr.tb.Context(), src, events.Options{})
	defer s.Close()
	tr.tables = s.Tables
	tr.opt = reconstruct.Options{
		Rules: reference.RulesFor(src.Header().Minor), Reduced: src.Header().V1,
		Emit: func(ds []reference.Decision) []reference.Decision { return ds[:0] },
	}
	for {
		evs, err := s.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			tr.tb.Fatal(err)
		}
		f(evs)
	}
}

// reconstruct does without decoding.
func (tr *decoded) reconstruct() {
	rec := reconstruct.New(tr.tables, tr.opt)
	for _, evs := range tr.blocks {
		rec.Add(evs)
	}
	rec.Finish()
}

// TestAllocations bounds what the reconstruction allocates: tables that grow,
// and the takes that are settled before their starts, but nothing for each
// event.
func TestAllocations(t *testing.T) {
	const perEvent = 0.05
	for _, name := range large {
		tr := load(t, filepath.Join(traces, name+".trace.gz"))
		if n := testing.AllocsPerRun(1, tr.reconstruct) / float64(tr.count); n > perEvent {
			t.Errorf("%s: %.3f allocations for each of %d events, more than %v", name, n, tr.count, perEvent)
		}
	}
}

//go:build unix

package events

import (
	"bytes"
	"io"
	"math"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// BenchmarkDecode decodes a trace of the repository, or that which the
// environment variable TRACE names: with the own decoder, with the public reader
// to Events, and by the plain loop of ReadEvent. They take turns; the least CPU
// time of each counts.
func BenchmarkDecode(b *testing.B) {
	file := os.Getenv("TRACE")
	if file == "" {
		file = "../../testdata/traces/real/manygens-io-go1.25-p4.trace.gz"
	}
	src, err := input.Open(b.Context(), file, input.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	var generations []*input.Generation
	for {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		generations = append(generations, gen)
	}
	free := make(chan []Event, 1)
	toEvents := func(public bool) func([]byte) int {
		return func(data []byte) (n int) {
			decode(anyWork(), &input.Generation{Data: data}, nil, public, free, func(blk *block) bool {
				n += len(blk.events)
				select {
				case free <- blk.events: // as a Stream does
				default:
				}
				return true
			})
			return n
		}
	}
	plain := func(data []byte) (n int) {
		r, err := trace.NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for ; ; n++ {
			if _, err := r.ReadEvent(); err != nil {
				return n
			}
		}
	}
	ways := []struct {
		name   string
		decode func([]byte) int
		cpu    float64 // ns an event
		allocs float64 // an event
	}{
		{name: "own", decode: toEvents(false)},
		{name: "public", decode: toEvents(true)},
		{name: "plain", decode: plain},
	}
	for i := range ways {
		ways[i].cpu = math.Inf(1)
	}
	for b.Loop() {
		for i := range ways {
			w := &ways[i]
			runtime.GC()
			cpu, allocs, events := cpuTime(b), mallocs(), 0
			for _, gen := range generations {
				events += w.decode(gen.Data)
			}
			w.cpu = min(w.cpu, float64(cpuTime(b)-cpu)/float64(events))
			w.allocs = float64(mallocs()-allocs) / float64(events)
		}
	}
	b.ReportMetric(0, "ns/op") // of all three
	for _, w := range ways {
		b.ReportMetric(w.cpu, w.name+"-cpu-ns/event")
		b.ReportMetric(w.allocs, w.name+"-allocs/event")
	}
	b.ReportMetric(ways[0].cpu/ways[2].cpu, "own/plain")
	b.ReportMetric(ways[1].cpu/ways[2].cpu, "public/plain")
}

func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

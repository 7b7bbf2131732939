//go:build unix

package reconstruct_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/reference"
)

// BenchmarkReconstruct compares the reconstruction, without consumers, with the
// decoding of the same events, by the public reader and by ours, in CPU time: ours
// has several workers.
// Besides the large traces of the repository it takes those in the directories
// that GMPSCOPE_TRACES names, separated as in PATH.
func BenchmarkReconstruct(b *testing.B) {
	var files []string
	for _, name := range large {
		files = append(files, filepath.Join(traces, name+".trace.gz"))
	}
	for _, dir := range filepath.SplitList(os.Getenv("GMPSCOPE_TRACES")) {
		for _, pattern := range []string{"*.trace.gz", "*.trace"} {
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				b.Fatal(err)
			}
			files = append(files, names...)
		}
	}
	for _, path := range files {
		name, _, _ := strings.Cut(filepath.Base(path), ".trace")
		b.Run(name, func(b *testing.B) {
			tr := load(b, path)
			if tr.count == 0 {
				b.Skip("no events")
			}
			b.Run("decode", func(b *testing.B) {
				var c cost
				for b.Loop() {
					c.add(tr.decode)
				}
				c.report(b, tr)
			})
			b.Run("both", func(b *testing.B) {
				var c cost
				for b.Loop() {
					c.add(tr.both)
				}
				c.report(b, tr)
			})
			b.Run("reconstruct", func(b *testing.B) {
				var c, decoding, reading cost
				for b.Loop() {
					c.add(tr.reconstruct)
					b.StopTimer()
					decoding.add(tr.decode)
					reading.add(tr.read)
					b.StartTimer()
				}
				c.report(b, tr)
				b.ReportMetric(float64(c.cpu)/float64(decoding.cpu), "reconstruct/decode")
				b.ReportMetric(float64(c.cpu)/float64(reading.cpu), "reconstruct/reader")
			})
		})
	}
}

func (tr *decoded) decode() { tr.stream(func([]events.Event) {}) }

// read decodes with the public reader.
func (tr *decoded) read() {
	r, err := trace.NewReader(bytes.NewReader(tr.data))
	for err == nil {
		_, err = r.ReadEvent()
	}
	if err != io.EOF {
		tr.tb.Fatal(err)
	}
}

// both reconstructs while it decodes.
func (tr *decoded) both() {
	var rec *reconstruct.Reconstructor
	tr.stream(func(evs []events.Event) {
		if rec == nil {
			rec = reconstruct.New(tr.tables, tr.opt)
		}
		rec.Add(evs)
	})
	rec.Finish()
}

// BenchmarkUnlucky queues many goroutines globally that start in an order which
// no rule explains, or which were queued before the trace began. The time for an
// event must not grow with their number.
func BenchmarkUnlucky(b *testing.B) {
	for _, order := range []string{"backwards", "at random", "queued before"} {
		for _, n := range []int64{8_000, 64_000} {
			b.Run(fmt.Sprintf("%s/%d", order, n), func(b *testing.B) {
				evs := unlucky(order, n)
				opt := reconstruct.Options{Rules: reference.RulesFor(26), Emit: func(ds []reference.Decision) []reference.Decision { return ds[:0] }}
				for b.Loop() {
					rec := reconstruct.New(events.NewTables(), opt)
					rec.Add(evs)
					rec.Finish()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(evs)), "ns/event")
			})
		}
	}
}

func unlucky(order string, n int64) (evs []events.Event) {
	const procs = 4
	add := func(kind events.Kind, g, m int64, p int32, res int64, from, to events.State) {
		evs = append(evs, events.Event{Time: int64(len(evs)) * 100, Kind: kind, G: g, M: m, P: p, Res: res, From: from, To: to})
	}
	add(events.Procs, events.None, 1, events.None, procs, 0, 0)
	for p := range int64(procs) {
		add(events.Proc, events.None, p, events.None, p, events.Undetermined, events.Running)
	}
	from, m := events.NotExist, int64(procs)
	if order == "queued before" {
		from, m = events.Undetermined, events.None
	}
	queue := make([]int64, n)
	for i := range queue {
		queue[i] = 1 + int64(i)
		add(events.Go, events.None, m, events.None, queue[i], from, events.Runnable)
	}
	if order == "at random" {
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
	} else {
		slices.Reverse(queue)
	}
	for i, g := range queue {
		p := int32(i % procs)
		add(events.Go, events.None, int64(p), p, g, events.Runnable, events.Running)
		add(events.Go, g, int64(p), p, g, events.Running, events.NotExist)
	}
	return evs
}

// cost sums what runs of one thing took.
type cost struct {
	runs   int
	cpu    int64 // ns of CPU time of all threads
	allocs uint64
}

func (c *cost) add(f func()) {
	runtime.GC() // what came before pays for its garbage itself
	allocs, cpu := mallocs(), cpuTime()
	f()
	c.cpu += cpuTime() - cpu
	c.allocs += mallocs() - allocs
	c.runs++
}

func (c *cost) report(b *testing.B, tr *decoded) {
	n := float64(c.runs) * float64(tr.count)
	b.ReportMetric(0, "ns/op") // wall time of a whole trace, and the collections in between
	b.ReportMetric(float64(c.cpu)/n, "cpu-ns/event")
	b.ReportMetric(float64(c.allocs)/n, "allocs/event")
}

func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

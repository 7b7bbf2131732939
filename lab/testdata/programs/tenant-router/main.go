// Tenant-router hands the events of a stream to a search index, to statistics
// and to an archive, each with a goroutine of its own.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const phase = 1100 * time.Millisecond

type event struct {
	ID     int
	Tenant string
	Body   string
	due    time.Time
}

type sink interface{ consume(<-chan event) }

type indexSink struct {
	terms map[uint64]int
	delay []time.Duration
}

func (s *indexSink) consume(in <-chan event) {
	for e := range in {
		h := fnv.New64a()
		h.Write([]byte(e.Body))
		s.terms[h.Sum64()%1000]++
		s.delay = append(s.delay, time.Since(e.due))
	}
}

type statsSink struct {
	counts map[string]int
	delay  []time.Duration
}

func (s *statsSink) consume(in <-chan event) {
	for e := range in {
		s.counts[e.Tenant]++
		s.delay = append(s.delay, time.Since(e.due))
	}
}

type archiveSink struct {
	file   *os.File
	zip    *gzip.Writer
	stored int
	busy   time.Duration
}

func (s *archiveSink) consume(in <-chan event) {
	for e := range in {
		begin := time.Now()
		s.store(e)
		s.busy += time.Since(begin)
		s.stored++
	}
}

func (s *archiveSink) store(e event) {
	record, err := json.Marshal(e)
	check(err)
	var out bytes.Buffer
	s.zip.Reset(&out)
	s.zip.Write(record)
	check(s.zip.Close())
	_, err = s.file.Write(out.Bytes())
	check(err)
	check(s.file.Sync())
	time.Sleep(3 * time.Millisecond) // the remote volume
}

type router struct {
	in    chan event
	sinks []chan event
}

func (r *router) route() {
	for e := range r.in {
		for _, s := range r.sinks {
			s <- e
		}
	}
	for _, s := range r.sinks {
		close(s)
	}
}

func (r *router) publish(id int, end time.Time) (n int) {
	for due := time.Now(); time.Now().Before(end); due = due.Add(3 * time.Millisecond) {
		time.Sleep(time.Until(due))
		r.in <- event{n, fmt.Sprintf("tenant-%d", id), "an event with a body of the usual length", due}
		n++
	}
	return n
}

func main() {
	file, err := os.CreateTemp("", "archive")
	check(err)
	defer os.Remove(file.Name())
	index, stats, archive := &indexSink{terms: map[uint64]int{}}, &statsSink{counts: map[string]int{}}, &archiveSink{file: file, zip: gzip.NewWriter(nil)}
	r := &router{in: make(chan event, 16)}
	stop := startTrace()
	begin := time.Now()
	var consumers, publishers sync.WaitGroup
	for _, s := range []sink{index, stats, archive} {
		queue := make(chan event, 16)
		r.sinks = append(r.sinks, queue)
		consumers.Go(func() { s.consume(queue) })
	}
	go r.route()
	for id := range 3 {
		publishers.Go(func() { r.publish(id, begin.Add(phase)) })
	}
	publishers.Wait()
	took := time.Since(begin)
	close(r.in)
	consumers.Wait()
	stop()
	slices.Sort(stats.delay)
	slices.Sort(index.delay)
	n := archive.stored
	fmt.Fprintf(os.Stderr, "proof: %d events, due at 1 a ms, in %v; the archive is busy for %v of it, %v each; delay at the index p50 %v, at the statistics p50 %v\n",
		n, took.Round(time.Millisecond), archive.busy.Round(time.Millisecond), (archive.busy / time.Duration(n)).Round(10*time.Microsecond), index.delay[n/2].Round(time.Millisecond), stats.delay[n/2].Round(time.Millisecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Pdf-stamper signs the pages of documents as they come from the printer's
// queue, with a converter that has been started beside it.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	phase  = time.Second
	period = 5 * time.Millisecond
)

type page struct {
	number int
	data   []byte
	due    time.Time
}

type stamper struct {
	pages  chan page
	stamps chan [32]byte
	mu     sync.Mutex
	took   []time.Duration
	late   []time.Duration
}

func (s *stamper) feed(data []byte, end time.Time) {
	n := 0
	for due := time.Now(); due.Before(end); due = due.Add(period) {
		time.Sleep(time.Until(due))
		s.pages <- page{n, data, due}
		n++
	}
}

func (s *stamper) stamp() {
	for p := range s.pages {
		begin := time.Now()
		sum := sign(p)
		s.mu.Lock()
		s.took = append(s.took, time.Since(begin))
		s.late = append(s.late, time.Since(p.due))
		s.mu.Unlock()
		s.stamps <- sum
	}
}

func sign(p page) (sum [32]byte) {
	for range 4 {
		sum = sha256.Sum256(append(sum[:0:0], p.data...))
	}
	return sum
}

func (s *stamper) archive() (count int) {
	for range s.stamps {
		count++
	}
	return count
}

// convert is the converter, which has a lot to do.
func convert() {
	text := strings.Repeat("page ", 2000)
	for begin := time.Now(); time.Since(begin) < phase; {
		sha256.Sum256([]byte(text))
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	if os.Getenv("PDF_CONVERT") != "" {
		convert()
		return
	}
	s := &stamper{pages: make(chan page, 64), stamps: make(chan [32]byte, 64)}
	data := make([]byte, 300_000)
	var alone []time.Duration
	for range 30 {
		begin := time.Now()
		sign(page{data: data})
		alone = append(alone, time.Since(begin))
	}
	slices.Sort(alone)
	stop := startTrace()
	var converters []*exec.Cmd
	for range 5 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "PDF_CONVERT=1", "GOMAXPROCS=1")
		check(c.Start())
		converters = append(converters, c)
	}
	cpu := cpuTime()
	end := time.Now().Add(phase)
	var feeders, stampers, archiver sync.WaitGroup
	for range 2 {
		feeders.Go(func() { s.feed(data, end) })
		stampers.Go(s.stamp)
	}
	archiver.Go(func() { s.archive() })
	feeders.Wait()
	close(s.pages)
	stampers.Wait()
	close(s.stamps)
	archiver.Wait()
	cpu = cpuTime() - cpu
	stop()
	for _, c := range converters {
		c.Wait()
	}
	slices.Sort(s.took)
	slices.Sort(s.late)
	var sum time.Duration
	for _, d := range s.took {
		sum += d
	}
	fmt.Fprintf(os.Stderr, "proof: %d pages, a stamp alone takes %v, beside the converters p50 %v, p99 %v; stamping for %v with %v of CPU time; pages late by p50 %v\n",
		len(s.took), alone[15].Round(10*time.Microsecond), s.took[len(s.took)/2].Round(10*time.Microsecond), s.took[len(s.took)*99/100].Round(10*time.Microsecond),
		sum.Round(time.Millisecond), cpu.Round(time.Millisecond), s.late[len(s.late)/2].Round(10*time.Microsecond))
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

// Loom-control throws the shuttles of looms on time, and compiles the patterns
// that customers send meanwhile, all on one CPU.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/loom-control/weave"
)

const (
	looms = 4
	beat  = 2 * time.Millisecond
	phase = 800 * time.Millisecond
)

type lateness struct{ compiling, idle []time.Duration }

// throwShuttle throws the shuttle of a loom at each beat.
func throwShuttle(begin time.Time, compiling func() bool) (l lateness) {
	for due := begin; due.Before(begin.Add(phase)); due = due.Add(beat) {
		busy := compiling()
		time.Sleep(time.Until(due))
		if late := time.Since(due); busy || compiling() {
			l.compiling = append(l.compiling, late)
		} else {
			l.idle = append(l.idle, late)
		}
	}
	return l
}

func main() {
	var drawings []*weave.Pattern
	for seed := range 3 {
		drawings = append(drawings, weave.Draw(60, 50, 17+seed))
	}
	var mu sync.Mutex
	under := 0
	compiling := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return under > 0
	}
	count := func(n int) {
		mu.Lock()
		under += n
		mu.Unlock()
	}
	all := make([]lateness, looms)
	var spent time.Duration
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for id := range looms {
		open.Go(func() { all[id] = throwShuttle(begin, compiling) })
	}
	for n := range 3 {
		time.Sleep(time.Until(begin.Add(time.Duration(n)*phase/3 + 50*time.Millisecond)))
		count(len(drawings))
		start := time.Now()
		var compile sync.WaitGroup
		for _, p := range drawings {
			compile.Go(p.Compile)
		}
		compile.Wait()
		spent += time.Since(start)
		count(-len(drawings))
	}
	open.Wait()
	rec.Stop()
	var l lateness
	for _, one := range all {
		l.compiling, l.idle = append(l.compiling, one.compiling...), append(l.idle, one.idle...)
	}
	slices.Sort(l.compiling)
	slices.Sort(l.idle)
	fmt.Fprintf(os.Stderr, "proof: 3 lots of %d patterns compiled in %v each; shuttles late by p50 %v, p90 %v meanwhile (n=%d), and by p50 %v, p90 %v otherwise (n=%d)\n",
		len(drawings), (spent / 3).Round(time.Millisecond), l.compiling[len(l.compiling)/2], l.compiling[len(l.compiling)*9/10], len(l.compiling),
		l.idle[len(l.idle)/2], l.idle[len(l.idle)*9/10], len(l.idle))
}

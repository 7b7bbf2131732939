// The workloads program runs one of a set of small programs of different
// scheduling character while the execution tracer is on. It has to build with
// every Go release from 1.22 on and uses the standard library only.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"runtime/trace"
	"sort"
	"time"
)

// A load is what a workload gets: a seeded source of parameters and a factor
// for the amount of work. Two seeds give two different programs of one kind.
type load struct {
	rng   *rand.Rand
	scale float64
}

// between returns a random number in [lo, hi].
func (l *load) between(lo, hi int) int { return lo + l.rng.Intn(hi-lo+1) }

// count returns a random number in [lo, hi], scaled, at least 1.
func (l *load) count(lo, hi int) int {
	return max(1, int(float64(l.between(lo, hi))*l.scale))
}

// micros returns a random duration in [lo, hi] microseconds.
func (l *load) micros(lo, hi int) time.Duration {
	return time.Duration(l.between(lo, hi)) * time.Microsecond
}

// A workload is a program and the factor that makes it run for about half a
// second to a second and a half.
type workload struct {
	run    func(*load)
	factor float64
}

// workloads holds every program by name. Files with build constraints add theirs.
var workloads = map[string]workload{
	"single":     {single, 1},
	"thousand":   {thousand, 8},
	"fanout":     {fanout, 1},
	"uneven":     {uneven, 6},
	"pipeline":   {pipeline, 6},
	"syscalls":   {syscalls, 3},
	"spinners":   {spinners, 0.5},
	"tree":       {tree, 3},
	"gosched":    {goschedStorm, 3},
	"http":       {httpLoopback, 5},
	"timers":     {timers, 2},
	"gc":         {garbage, 6},
	"mutex":      {mutexes, 8},
	"locked":     {lockedThreads, 6},
	"mixed":      {mixed, 6},
	"pingpong":   {pingpong, 3},
	"workerpool": {workerPool, 6},
	"procs":      {changingProcs, 5},
	"churn":      {churn, 5},
}

func main() {
	log.SetFlags(0)
	name := flag.String("workload", "", "`name` of the workload; with -list, all names are printed")
	list := flag.Bool("list", false, "print the names")
	out := flag.String("trace", "", "`file` for the trace")
	seed := flag.Int64("seed", 1, "chooses the parameters")
	scale := flag.Float64("scale", 1, "amount of work")
	flag.Parse()
	if *list {
		var names []string
		for n := range workloads {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			fmt.Println(n)
		}
		return
	}
	w, ok := workloads[*name]
	if !ok {
		log.Fatalf("no workload %q", *name)
	}
	f, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}
	w.run(&load{rng: rand.New(rand.NewSource(*seed)), scale: *scale * w.factor})
	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}

// burn keeps the processor busy for about d.
func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
		spin(200)
	}
}

// spin is a loop without a function call: only a signal can preempt it.
//
//go:noinline
func spin(n int) {
	x := uint64(n) | 1
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 { // never, but the compiler must not drop the loop
		panic("xorshift at zero")
	}
}

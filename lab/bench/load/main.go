// The load program records an execution trace of itself at work: the raw
// material of the benchmark's traces.
//
// It works in periods. After each one all goroutines that the period started
// have ended, and the trace begins a new generation. So the scheduler is at rest
// wherever a period's generations end. Where nothing lasts from one period to the
// next, it is mostly in one of few states, and package stretch finds two of them
// that are the same, between which it can repeat the trace. Of the other loads a
// long trace is one of many periods.
//
// A flight recorder runs beside the trace, because asking one for its window is
// the public way to begin a generation; the window is thrown away.
package main

import (
	"flag"
	"io"
	"log"
	"maps"
	"os"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"time"
)

// loads are the kinds of work. Each sets up, for an amount of work in a period,
// what lasts as long as the recording, and returns what a period does.
var loads = map[string]func(size int) (period func()){
	"annotations": passing(annotate),
	"channels":    passing(channels),
	"churn":       passing(churn),
	"crews":       passing(crews),
	"crowd":       passing(crowd),
	"deep":        passing(deepStacks),
	"dense":       passing(dense),
	"forks":       passing(forks),
	"https":       https,
	"idle":        passing(idle),
	"locks":       passing(contend),
	"mixed":       passing(mixed),
	"parked":      parked,
	"service":     service,
	"sleepers":    passing(sleepers),
	"stacks":      passing(stacks),
	"steady":      passing(steady),
	"store":       store,
}

// passing is a load of which nothing lasts.
func passing(work func(size int)) func(size int) func() {
	return func(size int) func() {
		return func() { work(size) }
	}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("load: ")
	names := slices.Sorted(maps.Keys(loads))
	name := flag.String("load", names[0], "the `kind` of work: "+strings.Join(names, ", "))
	out := flag.String("o", "", "`file` for the trace")
	periods := flag.Int("periods", 8, "how many periods to record")
	size := flag.Int("size", 1000, "amount of work in a period")
	flag.Parse()
	load, ok := loads[*name]
	if !ok || *out == "" || flag.NArg() > 0 || *periods < 1 || *size < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := record(*out, *periods, load(*size)); err != nil {
		log.Fatal(err)
	}
}

func record(file string, periods int, period func()) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	// The one goroutine that runs at every boundary keeps to its thread.
	runtime.LockOSThread()
	flight := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: time.Millisecond, MaxBytes: 1 << 20})
	if err := flight.Start(); err != nil {
		return err
	}
	if err := trace.Start(f); err != nil {
		return err
	}
	for range periods {
		done := make(chan struct{})
		go func() {
			defer close(done)
			period()
		}()
		<-done
		time.Sleep(rest)
		if _, err := flight.WriteTo(io.Discard); err != nil {
			return err
		}
	}
	trace.Stop()
	flight.Stop()
	return f.Close()
}

// rest is how long a period's last threads and timers get to come to rest.
const rest = 5 * time.Millisecond

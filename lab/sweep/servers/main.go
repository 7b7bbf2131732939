// Program servers is servers of many kinds, each under load from clients in the same process. It is called as "servers NAME
// TRACE", records itself for a few seconds, prints how long a request took as a benchmark does, and is a module of its own:
// gmpscope needs none of what it is made of.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

var (
	clients  = flag.Int("clients", 32, "how many there are")
	duration = flag.Duration("for", 3*time.Second, "how long they make requests")
	think    = flag.Duration("think", 4*time.Millisecond, "what a client waits between requests, at most: it bounds the load")
)

// A server makes clients of itself. Each client is a function that makes a request and waits for the answer.
type server func() (client func() error, err error)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || servers[args[0]] == nil {
		return fmt.Errorf("usage: servers NAME TRACE; the names are %v", slices.Sorted(maps.Keys(servers)))
	}
	connect, err := servers[args[0]]()
	if err != nil {
		return err
	}
	requests := make([]func() error, *clients)
	for i := range requests {
		if requests[i], err = connect(); err != nil {
			return err
		}
	}
	file, err := os.Create(args[1])
	if err != nil {
		return err
	}
	if err := trace.Start(file); err != nil {
		return err
	}
	var all sync.WaitGroup
	failed := make([]error, *clients)
	var count, nanos atomic.Int64
	end := time.Now().Add(*duration)
	for i, request := range requests {
		all.Go(func() {
			for failed[i] == nil && time.Now().Before(end) {
				began := time.Now()
				failed[i] = request()
				nanos.Add(int64(time.Since(began)))
				count.Add(1)
				time.Sleep(rand.N(*think))
			}
		})
	}
	all.Wait()
	trace.Stop()
	fmt.Printf("BenchmarkRequest %d %d ns/op\n", count.Load(), nanos.Load()/max(1, count.Load()))
	return errors.Join(append(failed, file.Close())...)
}

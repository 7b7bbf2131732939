// Program servers is servers of many kinds, each under load from clients in the same process. It is called as "servers NAME
// TRACE", records itself for a few seconds, and is a module of its own: gmpscope needs none of what it is made of.
package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	clients  = 32
	duration = 3 * time.Second
	think    = 4 * time.Millisecond // at most, between requests: it bounds the load
)

// A server makes clients of itself. Each client is a function that makes a request and waits for the answer.
type server func() (client func() error, err error)

func main() {
	if err := run(os.Args[1:]); err != nil {
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
	requests := make([]func() error, clients)
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
	failed := make([]error, clients)
	end := time.Now().Add(duration)
	for i, request := range requests {
		all.Go(func() {
			for failed[i] == nil && time.Now().Before(end) {
				failed[i] = request()
				time.Sleep(rand.N(think))
			}
		})
	}
	all.Wait()
	trace.Stop()
	return errors.Join(append(failed, file.Close())...)
}

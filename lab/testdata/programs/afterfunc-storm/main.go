// Afterfunc-storm moves the sessions of a node to others when it is given up.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/trace"
	"slices"
	"sync/atomic"
	"time"
)

type cluster struct {
	ctx    context.Context
	cancel context.CancelFunc
	moved  atomic.Int64
}

// watch has a session moved when the node is given up.
func (c *cluster) watch(session int) {
	context.AfterFunc(c.ctx, func() { c.move(session) })
}

func (c *cluster) move(session int) {
	digest(30)
	c.moved.Add(1)
}

// failover gives up the node; its sessions move.
func (c *cluster) failover() {
	c.cancel()
	c.ctx, c.cancel = context.WithCancel(context.Background())
}

func main() {
	c := &cluster{}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	stop := startTrace()
	var late []time.Duration
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 700 {
			s := time.Now()
			time.Sleep(time.Millisecond)
			late = append(late, time.Since(s)-time.Millisecond)
		}
	}()
	for range 4 {
		for n := range 7000 {
			c.watch(n)
		}
		time.Sleep(150 * time.Millisecond)
		c.failover()
		time.Sleep(40 * time.Millisecond)
	}
	<-done
	stop()
	slices.Sort(late)
	fmt.Fprintf(os.Stderr, "proof: %d moved; probes late by %v in the median, %v at most\n", c.moved.Load(), late[len(late)/2], late[len(late)-1])
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

// digest computes for a while.
func digest(n int) byte {
	var x [64]byte
	for range n {
		s := sha256.Sum256(x[:])
		copy(x[:], s[:])
	}
	return x[0]
}

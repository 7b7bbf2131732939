package replay_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/replay"
)

// What if a program with one P had two?
func ExampleSimulate() {
	src, err := input.Open(context.Background(), "../testdata/traces/pingpong-starve-go1.26-p1.trace.gz", input.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	res, err := replay.Simulate(context.Background(), src, replay.SimulateOptions{WhatIf: []replay.Change{{Procs: 2}}})
	if err != nil {
		log.Fatal(err)
	}
	was := res.Simulated.Simulated
	for _, x := range res.Simulated.WhatIf {
		fmt.Printf("%s: waits less: %t\n", x.Change, x.Simulated.Waits.TotalNs < was.Waits.TotalNs)
	}
	fmt.Printf("the model is off by less than 10 %%: %t\n", *res.Simulated.Error.Makespan < 0.1)
	// Output:
	// GOMAXPROCS 2: waits less: true
	// the model is off by less than 10 %: true
}

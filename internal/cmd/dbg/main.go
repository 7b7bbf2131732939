package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

func main() {
	for _, n := range os.Args[1:] {
		src, _ := input.Open(context.Background(), n, input.Options{})
		var last int64
		analyze.Run(context.Background(), src, analyze.Options{DecisionsOnly: true, OnDecision: func(d *reference.Decision) error {
			if d.Time-last > 5e6 {
				fmt.Println(n, "silence", float64(last)/1e6, float64(d.Time-last)/1e6, d.Kind, d.Why, d.G, d.P)
			}
			last = d.Time
			return nil
		}})
	}
}

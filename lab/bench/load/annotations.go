package main

import (
	"context"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync"
)

// annotate has goroutines write tasks, regions and messages in masses.
func annotate(size int) {
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range size / 8 {
				ctx, task := trace.NewTask(context.Background(), "task "+strconv.Itoa(i%40))
				trace.WithRegion(ctx, "outer", func() {
					trace.WithRegion(ctx, "inner "+strconv.Itoa(i%16), func() { trace.Log(ctx, "worker", strconv.Itoa(worker)) })
				})
				task.End()
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	all.Wait()
}

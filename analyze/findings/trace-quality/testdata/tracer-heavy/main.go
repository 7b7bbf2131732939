// Tracer-heavy writes so many user log messages into its trace that the tracer
// needs a good part of the P-time to read them out.
//
// That the tracer disturbs what it shows is worth a note.
//
//gmpscope:case procs=1 go=go1.26.8 want=trace-quality
package main

import (
	"context"
	"runtime/trace"
	"strings"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	message := strings.Repeat("x", 800)
	rec.Start()
	for i := 0; i < 12000; i++ {
		trace.Log(context.Background(), "step", message)
	}
	rec.Work(120000)
	rec.Stop()
}

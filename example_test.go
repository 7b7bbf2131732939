package gmpscope_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

// A program analyses a trace, prints what is wrong, and writes the report.
func Example() {
	trace := filepath.Join("testdata", "traces", "pingpong-starve-go1.26-p1.trace.gz")
	res, err := analyze.File(context.Background(), trace, analyze.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range res.Findings {
		class, _ := f.Subject()
		fmt.Printf("%s: %s: class %q lost %v\n", f.Severity, f.ID, class, time.Duration(f.CostNs).Round(time.Millisecond))
	}
	out, err := os.Create(filepath.Join(os.TempDir(), "gmpscope-example.html"))
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(out.Name())
	if err := html.Write(out, report.Build(res, "example"), html.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// warning: runnext-monopoly: class "main.waiter" lost 39ms
	// note: trace-quality: class "" lost 0s
	// note: starvation: class "main.waiter" lost 22ms
	// note: global-queue-neglect: class "main.waiter" lost 22ms
}

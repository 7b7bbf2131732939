package analyze_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/reference"
)

// Two goroutines hand a value back and forth, and keep the only P from all others.
func ExampleFile() {
	res, err := analyze.File(context.Background(), "../testdata/traces/pingpong-starve-go1.26-p1.trace.gz", analyze.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rules of Go %s, GOMAXPROCS %d\n", res.Trace.Rules.GoVersion, res.Trace.GOMAXPROCS)
	for _, f := range res.Findings {
		class, _ := f.Subject()
		fmt.Printf("%s: %s: class %q lost %v of %s\n", f.Severity, f.ID, class, time.Duration(f.CostNs).Round(time.Millisecond), f.CostOf)
	}
	// Output:
	// rules of Go 1.26, GOMAXPROCS 1
	// warning: runnext-monopoly: class "main.waiter" lost 39ms of waiting
	// note: trace-quality: class "" lost 0s of waiting
	// note: starvation: class "main.waiter" lost 22ms of waiting
	// note: global-queue-neglect: class "main.waiter" lost 22ms of waiting
}

// A handler that analyses what a client sends: too much of it is the client's error, and no
// result of a part.
func ExampleReader() {
	handler := func(w http.ResponseWriter, req *http.Request) {
		body := http.MaxBytesReader(w, req.Body, 64<<10)
		res, err := analyze.Reader(req.Context(), body, "upload", analyze.Options{MaxMemory: 256 << 20})
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, "the trace is too large", http.StatusRequestEntityTooLarge)
		case errors.Is(err, analyze.ErrNotTrace), errors.Is(err, analyze.ErrEmpty):
			http.Error(w, "send a trace", http.StatusUnsupportedMediaType)
		case err != nil:
			http.Error(w, "the trace cannot be analysed", http.StatusUnprocessableEntity)
		default:
			fmt.Fprintln(w, res.Trace.Goroutines, "goroutines")
		}
	}
	for _, name := range []string{"steal-small-go1.26-p2.trace.gz", "thousand-by-thousand-go1.26-p4.trace.gz", "../../go.mod"} {
		body, err := os.Open("../testdata/traces/" + name)
		if err != nil {
			log.Fatal(err)
		}
		w := httptest.NewRecorder()
		handler(w, httptest.NewRequest("POST", "/", body))
		body.Close()
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 16 goroutines
	// 413 the trace is too large
	// 415 send a trace
}

// Every decision of the scheduler is there to be looked at, too: here, how many
// goroutines were stolen.
func ExampleOptions() {
	steals, moved := 0, int32(0)
	_, err := analyze.File(context.Background(), "../testdata/traces/steal-small-go1.26-p2.trace.gz", analyze.Options{
		DecisionsOnly: true,
		OnDecision: func(d *reference.Decision) error {
			if d.Kind == reference.KindSteal {
				steals++
				moved += d.Batch
			}
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(steals, "steals moved", moved, "goroutines")
	// Output: 4 steals moved 5 goroutines
}

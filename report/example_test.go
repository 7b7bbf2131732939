package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/report"
)

// The verdict in words, and the same in JSON.
func ExampleBuild() {
	res, err := analyze.File(context.Background(), "../testdata/traces/pingpong-starve-go1.26-p1.trace.gz", analyze.Options{})
	if err != nil {
		log.Fatal(err)
	}
	doc := report.Build(res, "example 1.0")
	fmt.Println("status:", doc.Verdict.Status)
	var js bytes.Buffer
	if err := report.WriteJSON(&js, doc, report.JSONOptions{}); err != nil {
		log.Fatal(err)
	}
	var read struct {
		Schema  int
		Verdict struct{ Headline string }
	}
	if err := json.Unmarshal(js.Bytes(), &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println("schema:", read.Schema)
	fmt.Println("the same headline:", read.Verdict.Headline == doc.Verdict.Headline)
	// Output:
	// status: warning
	// schema: 3
	// the same headline: true
}

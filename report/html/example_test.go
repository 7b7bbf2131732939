package html_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

// The report as a page that needs nothing else.
func ExampleWrite() {
	res, err := analyze.File(context.Background(), "../../testdata/traces/pingpong-starve-go1.26-p1.trace.gz", analyze.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var page bytes.Buffer
	if err := html.Write(&page, report.Build(res, "example 1.0"), html.Options{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.HasPrefix(page.Bytes(), []byte("<!doctype html>")), page.Len() < html.DefaultMaxBytes)
	// Output: true true
}

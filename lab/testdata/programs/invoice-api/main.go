// Invoice-api renders invoices as JSON and HTML, 250 a second. Each makes some
// hundred kilobytes of garbage, so that the collector runs now and then.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const invoices = 180

type line struct {
	Text   string `json:"text"`
	Amount int    `json:"amount"`
}

type invoice struct {
	Number int    `json:"number"`
	To     string `json:"to"`
	Lines  []line `json:"lines"`
}

var page = template.Must(template.New("invoice").Parse(
	`<h1>Invoice {{.Number}}</h1><p>{{.To}}</p><ul>{{range .Lines}}<li>{{.Text}}: {{.Amount}}</li>{{end}}</ul>`))

func main() {
	renderInvoice(0)
	took := make([]time.Duration, invoices)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(4 * time.Millisecond)
	for number := range invoices {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			renderInvoice(number)
			took[number] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d invoices, %d collections, p50 %v, p99 %v\n", invoices, after.NumGC-before.NumGC-1,
		took[invoices/2], took[invoices*99/100])
}

func renderInvoice(number int) []byte {
	in := invoice{Number: number, To: "Example Ltd, 1 High Street"}
	for i := range 60 {
		in.Lines = append(in.Lines, line{fmt.Sprintf("Position %d", i), 100 * i})
	}
	var out bytes.Buffer
	archive, err := json.MarshalIndent(in, "", "\t")
	if err == nil {
		err = page.Execute(&out, in)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	preview := make([]byte, 120<<10)
	copy(preview, out.Bytes())
	return append(archive, preview...)
}

// Trigger writes lines to a file, field by field. Near-miss has a buffer between.
//
//gmpscope:case procs=2 go=go1.26.8 want=unbuffered-io
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want=
package main

import (
	"bufio"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	file, err := os.CreateTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())
	rec.Start()
	if rec.Case() == "near-miss" {
		w := bufio.NewWriter(file)
		writeRows(w, 200_000)
		err = w.Flush()
	} else {
		writeRows(file, 4_000)
	}
	rec.Stop()
	if err != nil {
		log.Fatal(err)
	}
}

func writeRows(w io.Writer, rows int) {
	for id := range rows {
		for field := range 4 {
			io.WriteString(w, strconv.Itoa(id*field))
			io.WriteString(w, "\t")
		}
	}
}

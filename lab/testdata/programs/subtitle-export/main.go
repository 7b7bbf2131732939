// Subtitle-export renders the pages of subtitles of a film with several
// goroutines, and packs them into one file.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/subtitle-export/emit"
)

const (
	renderers = 6
	pages     = 250
)

// renderPage sets the lines of a page.
func renderPage(number int) []byte {
	var text []byte
	for line := range 300 {
		text = fmt.Appendf(text, "%02d:%02d:%02d.%03d - speaker %d says line %d of page %d\n",
			number/60, number%60, line%60, line*7%1000, line%5, line*31%977, number)
	}
	return text
}

func main() {
	var next, rendering, handing atomic.Int64
	rec.Start()
	begin := time.Now()
	sequencer := emit.NewSequencer(io.Discard)
	var open sync.WaitGroup
	for range renderers {
		open.Go(func() {
			for number := int(next.Add(1) - 1); number < pages; number = int(next.Add(1) - 1) {
				start := time.Now()
				text := renderPage(number)
				rendering.Add(int64(time.Since(start)))
				start = time.Now()
				sequencer.Add(emit.Page{Number: number, Text: text})
				handing.Add(int64(time.Since(start)))
			}
		})
	}
	open.Wait()
	sequencer.Close()
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d pages in %v, of which the sequencer packed for %v (%.0f%%); the renderers rendered for %v, and handed over for %v (summed)\n",
		pages, took.Round(time.Millisecond), sequencer.Busy.Round(time.Millisecond), 100*sequencer.Busy.Seconds()/took.Seconds(),
		time.Duration(rendering.Load()).Round(time.Millisecond), time.Duration(handing.Load()).Round(time.Millisecond))
}

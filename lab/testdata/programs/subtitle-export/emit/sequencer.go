// Package emit puts pages that are ready in any order into a file in theirs.
package emit

import (
	"compress/flate"
	"hash/crc32"
	"io"
	"time"
)

type Page struct {
	Number int
	Text   []byte
}

type Sequencer struct {
	pages chan Page
	done  chan struct{}
	Busy  time.Duration
	Sum   uint32
}

// NewSequencer starts a sequencer that packs the pages for w.
func NewSequencer(w io.Writer) *Sequencer {
	s := &Sequencer{pages: make(chan Page, 4), done: make(chan struct{})}
	packer, _ := flate.NewWriter(w, flate.BestCompression)
	go func() {
		defer close(s.done)
		early := make(map[int]Page)
		next := 0
		for page := range s.pages {
			early[page.Number] = page
			for page, ok := early[next]; ok; page, ok = early[next] {
				begin := time.Now()
				packer.Write(page.Text)
				packer.Flush()
				s.Sum = crc32.Update(s.Sum, crc32.IEEETable, page.Text)
				s.Busy += time.Since(begin)
				delete(early, next)
				next++
			}
		}
		packer.Close()
	}()
	return s
}

func (s *Sequencer) Add(p Page) { s.pages <- p }

func (s *Sequencer) Close() {
	close(s.pages)
	<-s.done
}

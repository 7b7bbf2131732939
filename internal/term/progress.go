package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Progress shows on one line of a terminal how far an analysis is: how much of
// its input has been read, and how many events that were. It
// draws from a goroutine of its own until Done. A nil Progress shows nothing.
type Progress struct {
	w     io.Writer
	width func() int
	start time.Time

	read, total, events atomic.Int64
	done, all           atomic.Int64 // simulated time, ns
	files, allFiles     atomic.Int64

	shown bool
	stop  chan struct{}
	over  sync.WaitGroup
}

const (
	firstShown = 300 * time.Millisecond // what is over sooner needs no progress
	nextShown  = 100 * time.Millisecond
)

// NewProgress returns a Progress on w, which must be a terminal that takes
// control codes. Done must be called.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w, width: func() int { return Columns(w) }, start: time.Now(), stop: make(chan struct{})}
	p.over.Go(p.run)
	return p
}

// Columns returns the width of a terminal in characters, 80 if w is none.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// Update records that read bytes of total have been read; total is 0 if it is not known.
func (p *Progress) Update(read, total int64) {
	if p != nil {
		p.read.Store(read)
		p.total.Store(total)
	}
}

// Events records that n more events have been read.
func (p *Progress) Events(n int) {
	if p != nil {
		p.events.Add(int64(n))
	}
}

// Simulated records that done of all ns of simulated time are over.
func (p *Progress) Simulated(done, all int64) {
	if p != nil {
		p.done.Store(done)
		p.all.Store(all)
	}
}

// Files records that done of all input files have been read.
func (p *Progress) Files(done, all int) {
	if p != nil {
		p.files.Store(int64(done))
		p.allFiles.Store(int64(all))
	}
}

// Done stops the drawing and removes the line from the terminal.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	close(p.stop)
	p.over.Wait()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *Progress) run() {
	timer := time.NewTimer(firstShown)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-timer.C:
			p.draw(time.Since(p.start))
			timer.Reset(nextShown)
		}
	}
}

func (p *Progress) draw(elapsed time.Duration) {
	s := progressLine(p.read.Load(), p.total.Load(), p.events.Load(), elapsed)
	if all := p.all.Load(); all > 0 {
		s = barLine("simulating", p.done.Load(), all, elapsed)
	}
	if all := p.allFiles.Load(); all > 0 {
		s = barLine(quantity.Plural(all, "file", "files"), p.files.Load(), all, elapsed)
	}
	if n := p.width() - 1; utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:max(n, 0)])
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r%s\x1b[K", s)
}

const barWidth = 10

func barLine(what string, done, all int64, elapsed time.Duration) string {
	return fmt.Sprintf("%s %s  %s", what, bar(done, all), elapsed.Round(time.Second))
}

func bar(done, all int64) string {
	share := min(max(float64(done)/float64(all), 0), 1)
	full := int(share * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), share*100)
}

func progressLine(read, total, events int64, elapsed time.Duration) string {
	s := quantity.Size(read)
	if total > 0 {
		s = fmt.Sprintf("%s  %s of %s", bar(read, total), s, quantity.Size(total))
	}
	if events > 0 {
		s += fmt.Sprintf("  %.1f M events  %.1f M/s", float64(events)/1e6, float64(events)/1e6/max(elapsed.Seconds(), 1e-9))
	}
	if total > read && read > 0 {
		if left := time.Duration(float64(elapsed) * float64(total-read) / float64(read)).Round(time.Second); left > 0 {
			return s + fmt.Sprintf("  %s left", left)
		}
	}
	return s + fmt.Sprintf("  %s", elapsed.Round(time.Second))
}

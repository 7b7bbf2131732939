package legaltest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/reference"
)

var (
	legalRuns = flag.Int("legal", 40, "how many runs TestLegal makes up")
	legalFrom = flag.Uint64("legal-from", 0, "the number of the first of them")
)

// checker follows the decisions on one run.
type checker struct {
	run       *Run
	waiting   map[int64]bool // goroutines that are runnable
	time      int64
	decisions int
	starts    int
	exact     int // starts from where they were in truth
	err       error
}

// take looks at decisions: times do not fall, and a goroutine starts once after it became runnable.
func (c *checker) take(ds []reference.Decision) []reference.Decision {
	c.decisions += len(ds)
	for i := range ds {
		d := &ds[i]
		if d.Time < c.time {
			c.fail("%v of G%d at %d ns comes after one at %d ns", d.Kind, d.G, d.Time, c.time)
		}
		c.time = d.Time
		if d.Local < 0 || d.Global < 0 {
			c.fail("%v of G%d leaves queues of %d and %d", d.Kind, d.G, d.Local, d.Global)
		}
		switch d.Kind {
		case reference.KindReady:
			if c.waiting[d.G] {
				c.fail("G%d becomes runnable twice", d.G)
			}
			c.waiting[d.G] = true
		case reference.KindMove:
			if !c.waiting[d.G] {
				c.fail("G%d is moved and not runnable", d.G)
			}
		case reference.KindStart:
			if !c.waiting[d.G] && d.Flags&reference.FlagFirst == 0 {
				c.fail("G%d starts and is not runnable", d.G)
			}
			delete(c.waiting, d.G)
			c.start(d)
		}
	}
	return ds[:0]
}

func (c *checker) start(d *reference.Decision) {
	if d.Flags&reference.FlagFirst != 0 {
		return
	}
	if c.starts == len(c.run.Starts) || c.run.Starts[c.starts].G != d.G {
		c.fail("start %d is one of G%d", c.starts, d.G)
		return
	}
	if c.run.Starts[c.starts].Src == d.Src {
		c.exact++
	}
	c.starts++
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// reconstructRun reconstructs a run that was made up.
func reconstructRun(t testing.TB, run *Run) (c *checker, err error) {
	src, err := input.New(bytes.NewReader(run.Trace), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := events.New(t.Context(), src, events.Options{Workers: 1})
	defer s.Close()
	c = &checker{run: run, waiting: map[int64]bool{}}
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	rec := reconstruct.New(s.Tables, reconstruct.Options{Rules: reference.RulesFor(run.Format), Emit: c.take})
	n := 0
	for {
		evs, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n += len(evs)
		rec.Add(evs)
	}
	rec.Finish()
	rec.Annotated()
	if f := s.Stats().Failures; len(f) > 0 {
		t.Fatalf("not legal: %v", f[0].Err)
	}
	if c.err == nil && c.starts != len(run.Starts) {
		c.fail("%d of %d starts", c.starts, len(run.Starts))
	}
	return c, c.err
}

// TestLegal reconstructs runs that are made up at random.
func TestLegal(t *testing.T) {
	starts, exact := 0, 0
	for i := range *legalRuns {
		n := *legalFrom + uint64(i)
		choices := random(n)
		hang := time.AfterFunc(5*time.Minute, func() { panic(fmt.Sprintf("run %d (%x) does not end", n, choices)) })
		c, err := reconstructRun(t, MakeUp(choices, 1<<16))
		hang.Stop()
		starts += c.starts
		exact += c.exact
		if err != nil {
			t.Errorf("run %d (%x), after %d decisions: %v", n, choices, c.decisions, err)
		}
	}
	t.Logf("%d of %d starts come from where they did (%.1f%%)", exact, starts, 100*float64(exact)/float64(max(starts, 1)))
}

// random returns the choices of run n.
func random(n uint64) []byte {
	r := rand.New(rand.NewPCG(n, 1))
	choices := make([]byte, Params)
	for k := range choices {
		choices[k] = byte(r.Uint32())
	}
	return choices
}

// FuzzLegal reconstructs runs that are made up.
func FuzzLegal(f *testing.F) {
	for n := range uint64(16) {
		f.Add(random(n))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if _, err := reconstructRun(t, MakeUp(choices, 1<<13)); err != nil {
			t.Error(err)
		}
	})
}

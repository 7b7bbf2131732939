package fullsemaphore_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	fullsemaphore "github.com/gmpscope/gmpscope/analyze/findings/full-semaphore"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	send  = int32(7)
	leave = int32(8)
)

func detect(s *Stream, leaver string) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string {
		switch h {
		case send:
			return []string{"runtime.chansend1 (chan.go:161)", "main.(*pool).query (main.go:7)", "main.client (main.go:3)"}
		case leave:
			return []string{"runtime.chanrecv1 (chan.go:506)", leaver + " (main.go:9)", "main.client (main.go:3)"}
		}
		return nil
	}
	return s.DetectWith(fullsemaphore.New(fullsemaphore.Default()), f)
}

// line has goroutines 1 to n pass one place round and round: each holds it, as hold
// says, and then wakes the next.
func line(n, rounds int64, hold func(s *Stream, g int64)) *Stream {
	s := New(1)
	for g := int64(1); g <= n; g++ {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0)
		if g < n {
			s.Block(g, reference.ReasonChanSend)
			s.Decisions[len(s.Decisions)-1].Stack = send
		}
	}
	holder := n
	for range rounds {
		next := holder%n + 1
		hold(s, holder)
		s.Wake(next, holder)
		s.Decisions[len(s.Decisions)-1].Stack = leave
		s.Block(holder, reference.ReasonChanSend)
		s.Decisions[len(s.Decisions)-1].Stack = send
		s.Start(next, 0)
		holder = next
	}
	return s
}

// sleeps holds a place for 4 ms in which nothing runs.
func sleeps(s *Stream, g int64) {
	s.Block(g, reference.ReasonSleep).Pass(4*Ms).Next(g, 0, reference.WhyTimer).Start(g, 0)
}

// computes holds it for as long, running.
func computes(s *Stream, g int64) { s.Pass(4 * Ms) }

func TestFindsAPoolThatIsTooSmall(t *testing.T) {
	x := One(t, detect(line(6, 40, sleeps), "main.(*pool).query.func1"), fullsemaphore.ID, findings.Warning)
	if !strings.HasPrefix(x.Headline.String(), "main.(*pool).query lets 1 through at a time") {
		t.Error(x.Headline)
	}
	if !strings.Contains(x.Title.String(), "blocked in time.Sleep") {
		t.Error(x.Title)
	}
}

// A pool with a list of free places, as database/sql has it: they are taken in one
// function and given up in another.
func TestFindsAPoolWhosePlacesAreGivenUpElsewhere(t *testing.T) {
	x := One(t, detect(line(6, 40, sleeps), "main.(*pool).put"), fullsemaphore.ID, findings.Warning)
	if !strings.HasPrefix(x.Headline.String(), "main.(*pool).query lets 1 through at a time") {
		t.Error(x.Headline)
	}
}

// drained has goroutine 99 take what 1 to n send, each of it after a sleep.
func drained(n, rounds int64) *Stream {
	s := New(1)
	for g := int64(1); g <= n; g++ {
		s.Local(g, 0, reference.WhyCreate).Start(g, 0).Block(g, reference.ReasonChanSend)
		s.Decisions[len(s.Decisions)-1].Stack = send
	}
	s.Local(99, 0, reference.WhyCreate).Start(99, 0)
	for i := range rounds {
		g := i%n + 1
		sleeps(s, 99)
		s.Wake(g, 99)
		s.Decisions[len(s.Decisions)-1].Stack = leave
		s.Block(99, reference.ReasonSleep).Start(g, 0).Block(g, reference.ReasonChanSend)
		s.Decisions[len(s.Decisions)-1].Stack = send
		s.Next(99, 0, reference.WhyTimer).Start(99, 0)
	}
	return s
}

func TestSilent(t *testing.T) {
	for name, c := range map[string]struct {
		s      *Stream
		leaver string
	}{
		"a pipeline: who makes room had no place": {drained(6, 40), "main.(*pool).drain"},
		"who is through computes":                 {line(6, 40, computes), "main.(*pool).query.func1"},
		"nobody else in line":                     {line(2, 40, sleeps), "main.(*pool).query.func1"},
		"now and then":                            {line(6, 10, sleeps), "main.(*pool).query.func1"},
	} {
		t.Run(name, func(t *testing.T) { None(t, detect(c.s, c.leaver)) })
	}
}

// Who has a place wakes others and waits for them meanwhile: it still has it, and the function
// that does so is named.
func TestNamesWhoKeepsAPlaceWhileItWaits(t *testing.T) {
	const ask = int32(9)
	for _, c := range []struct{ in, want string }{
		{"main.charge", "main.charge, within main.place, keeps places of main.(*pool).acquire"},
		{"main.(*pool).acquire", "main.place keeps places of main.(*pool).acquire, which lets 1 through at a time, while it waits for another"},
	} {
		s := line(6, 200, func(s *Stream, g int64) {
			s.Wake(20, g).Block(g, reference.ReasonSelect)
			s.Decisions[len(s.Decisions)-1].Stack = ask
			s.Start(20, 0).Pass(4*Ms).Wake(g, 20)
			s.Decisions[len(s.Decisions)-1].Stack = leave
			s.Block(20, reference.ReasonNetwork).Start(g, 0)
		})
		f := s.Facts()
		f.Stack = func(h int32) []string {
			switch h {
			case send:
				return []string{"runtime.chansend1 (chan.go:161)", "main.(*pool).acquire (main.go:7)", "main.place (main.go:5)", "main.client (main.go:3)"}
			case leave:
				return []string{"runtime.chanrecv1 (chan.go:506)", "main.(*pool).acquire.func1 (main.go:9)", "main.place (main.go:6)", "main.client (main.go:3)"}
			case ask:
				return []string{"runtime.selectgo (select.go:351)", "net/http.(*persistConn).roundTrip (transport.go:2800)", c.in + " (main.go:20)", "main.check (main.go:19)", "main.place (main.go:6)", "main.client (main.go:3)"}
			}
			return nil
		}
		x := One(t, s.DetectWith(fullsemaphore.New(fullsemaphore.Default()), f), fullsemaphore.ID, findings.Warning)
		if !strings.HasPrefix(x.Title.String(), c.want) || !strings.Contains(x.Advice[0].String(), "main.place") {
			t.Errorf("%s; %s", x.Title, x.Advice[0])
		}
	}
}

// The places are those of a library, for which goroutines wait in several functions of the program:
// who keeps one again and again is named, not who waits.
func TestNamesWhoKeepsAConnection(t *testing.T) {
	const ask, mail = int32(9), int32(10)
	s := line(6, 100, func(s *Stream, g int64) {
		for range 8 {
			s.Block(g, reference.ReasonSleep)
			s.Decisions[len(s.Decisions)-1].Stack = mail
			s.Pass(Ms).Next(g, 0, reference.WhyTimer).Start(g, 0)
		}
	})
	f := s.Facts()
	f.Stack = func(h int32) []string {
		switch h {
		case send:
			return []string{"runtime.selectgo (select.go:1)", "database/sql.(*DB).conn (sql.go:7)", "database/sql.(*DB).Query (sql.go:5)", "main.invoices (main.go:4)", "main.remind (main.go:3)"}
		case leave:
			return []string{"runtime.chansend1 (chan.go:1)", "database/sql.(*DB).putConn (sql.go:9)", "main.invoices (main.go:6)", "main.remind (main.go:3)"}
		case mail:
			return []string{"time.Sleep (time.go:1)", "main.send (main.go:20)", "main.remind.func1 (main.go:8)", "main.invoices (main.go:5)", "main.remind (main.go:3)"}
		}
		return nil
	}
	x := One(t, s.DetectWith(fullsemaphore.New(fullsemaphore.Default()), f), fullsemaphore.ID, findings.Warning)
	if want := "main.send keeps places of database/sql.(*DB).conn"; !strings.HasPrefix(x.Headline.String(), want) {
		t.Errorf("%s, want %s", x.Headline, want)
	}
	if a := x.Actors[len(x.Actors)-1]; a.Role != findings.Cause || a.Short() != "main.send" {
		t.Errorf("%+v", a)
	}
}

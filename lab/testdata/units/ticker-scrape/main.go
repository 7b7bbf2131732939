// Ticker-scrape asks targets for their metrics at each tick.
package main

import (
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type scraper struct {
	target *textproto.Conn
	n      int
}

// fetch takes long where the target collects for the first time in a while.
func (s *scraper) fetch() {
	micros := 900
	if s.n++; s.n%14 == 0 {
		micros = 9000
	}
	mark.Check(s.target.PrintfLine("%d", micros))
	_, err := s.target.ReadLine()
	mark.Check(err)
}

func (s *scraper) parse() { mark.Work(250) }

func (s *scraper) run(period time.Duration, end time.Time) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for at := range ticker.C {
		if at.After(end) {
			return
		}
		u := mark.Begin("scrape")
		s.fetch()
		s.parse()
		u.End()
	}
}

func main() {
	mark.Start()
	end := time.Now().Add(1200 * time.Millisecond)
	var scrapers sync.WaitGroup
	for _, period := range []int{11, 12, 13, 14, 15} {
		s := &scraper{target: backend.Dial()}
		scrapers.Go(func() { s.run(time.Duration(period)*time.Millisecond, end) })
	}
	scrapers.Wait()
	mark.Stop()
}

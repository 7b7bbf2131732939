// Geo-enrich reads visits, adds the place of each, and saves them. The place
// service answers after some milliseconds.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type visit struct {
	id    int
	place string
}

type placeService struct{ asked time.Duration }

func (s *placeService) Find(id int) string {
	start := time.Now()
	time.Sleep(4 * time.Millisecond)
	s.asked += time.Since(start)
	return fmt.Sprint("place ", id%50)
}

func main() {
	read := make(chan visit, 8)
	placed := make(chan visit, 8)
	service := &placeService{}
	var readers, savers sync.WaitGroup
	var blocked [2]time.Duration
	var starved [2]time.Duration
	rec.Start()
	begin := time.Now()
	for i := range blocked {
		readers.Go(func() { blocked[i] = readVisits(read, i, 60) })
	}
	go lookupPlaces(service, read, placed)
	for i := range starved {
		savers.Go(func() { starved[i] = saveVisits(placed) })
	}
	readers.Wait()
	close(read)
	savers.Wait()
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: of %v, %v went by in lookups; readers blocked %v, savers starved %v\n", took, service.asked, blocked, starved)
}

func readVisits(out chan<- visit, first, n int) (blocked time.Duration) {
	for i := range n {
		rec.Work(200)
		start := time.Now()
		out <- visit{id: first + 2*i}
		blocked += time.Since(start)
	}
	return blocked
}

func lookupPlaces(s *placeService, in <-chan visit, out chan<- visit) {
	defer close(out)
	for v := range in {
		v.place = s.Find(v.id)
		out <- v
	}
}

func saveVisits(in <-chan visit) (starved time.Duration) {
	for {
		start := time.Now()
		_, ok := <-in
		starved += time.Since(start)
		if !ok {
			return starved
		}
		rec.Work(250)
	}
}

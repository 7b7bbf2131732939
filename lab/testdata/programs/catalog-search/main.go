// Catalog-search asks six shards for every search, and answers when all have.
package main

import (
	"fmt"
	"os"
	"runtime/trace"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	shards  = 6
	clients = 6
	phase   = time.Second
)

type query struct {
	title  string
	answer chan<- hit
}

type hit struct {
	shard, count int
	took         time.Duration
}

type shard struct {
	id      int
	titles  []string
	indexed bool
	queries chan query
}

func (s *shard) serve() {
	for q := range s.queries {
		begin := time.Now()
		count := 0
		if s.indexed {
			count = s.seek(q.title)
		} else {
			count = s.walk(q.title)
		}
		q.answer <- hit{s.id, count, time.Since(begin)}
	}
}

func (s *shard) seek(title string) (count int) {
	for i := sort.SearchStrings(s.titles, title); i < len(s.titles) && strings.HasPrefix(s.titles[i], title); i++ {
		count++
	}
	return count
}

// walk is for a shard whose index is not built yet.
func (s *shard) walk(title string) (count int) {
	for _, t := range s.titles {
		if strings.HasPrefix(strings.ToLower(t), title) {
			count++
		}
	}
	return count
}

type frontend struct {
	shards []*shard
	mu     sync.Mutex
	busy   [shards]time.Duration
	last   [shards]int
	took   []time.Duration
}

func (f *frontend) search(title string) (count int) {
	begin := time.Now()
	answers := make(chan hit, shards)
	for _, s := range f.shards {
		s.queries <- query{title, answers}
	}
	var last hit
	var hits [shards]hit
	for i := range hits {
		last = <-answers
		hits[i] = last
		count += last.count
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range hits {
		f.busy[h.shard] += h.took
	}
	f.last[last.shard]++
	f.took = append(f.took, time.Since(begin))
	return count
}

func (f *frontend) client(id int, end time.Time) {
	for n := id; time.Now().Before(end); n += 37 {
		f.search(fmt.Sprintf("title %d", n%9000))
		time.Sleep(2 * time.Millisecond)
	}
}

func main() {
	f := &frontend{}
	for id := range shards {
		s := &shard{id: id, queries: make(chan query, 8), indexed: id != 4}
		for n := range 60000 {
			s.titles = append(s.titles, fmt.Sprintf("title %d of shelf %d", n*7919%60000, id))
		}
		if s.indexed {
			slices.Sort(s.titles)
		}
		f.shards = append(f.shards, s)
	}
	stop := startTrace()
	for _, s := range f.shards {
		go s.serve()
	}
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range clients {
		open.Go(func() { f.client(1000*id, end) })
	}
	open.Wait()
	stop()
	slices.Sort(f.took)
	for id := range f.busy {
		f.busy[id] = (f.busy[id] / time.Duration(len(f.took))).Round(time.Microsecond)
	}
	fmt.Fprintf(os.Stderr, "proof: %d searches, p50 %v; the shards take %v for one, and are the last to answer %v times\n",
		len(f.took), f.took[len(f.took)/2].Round(10*time.Microsecond), f.busy, f.last)
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

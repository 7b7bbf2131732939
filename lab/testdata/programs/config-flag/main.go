// Config-flag serves logins, and loads its configuration anew every 60 ms.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type configStore struct {
	loading atomic.Bool
	version atomic.Int64
	loads   []time.Duration
}

func (s *configStore) Current() int64 {
	for s.loading.Load() {
	}
	return s.version.Load()
}

// reload reads the configuration in four steps.
func (s *configStore) reload() {
	start := time.Now()
	s.loading.Store(true)
	for range 4 {
		time.Sleep(200 * time.Microsecond)
		rec.Work(80)
	}
	s.version.Add(1)
	s.loading.Store(false)
	s.loads = append(s.loads, time.Since(start))
}

func main() {
	s := &configStore{}
	var stop atomic.Bool
	var spun atomic.Int64
	var wg sync.WaitGroup
	rec.Start()
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				handleLogin(s, &spun)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for range 4 {
		time.Sleep(60 * time.Millisecond)
		s.reload()
	}
	stop.Store(true)
	wg.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: loads with 1.2 ms of sleep and work took %v; logins spent %v looking at the flag\n", s.loads, time.Duration(spun.Load()))
}

func handleLogin(s *configStore, spun *atomic.Int64) {
	start := time.Now()
	version := s.Current()
	spun.Add(int64(time.Since(start)))
	rec.Work(100 + int(version))
}

//go:build guard && unix

package live

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/capture"
	"github.com/gmpscope/gmpscope/internal/testkit/hostile"
)

// TestGuardHostile is [TestHostile] at the sizes that the bounds of the command are stated for: minutes.
func TestGuardHostile(t *testing.T) { serveHostile(t, hostile.Full) }

// TestGuardBudget has a server under load be asked all the time, by many, and holds the CPU time and
// the memory that this costs against the budget.
func TestGuardBudget(t *testing.T) {
	r, err := capture.Start(capture.Options{})
	if err != nil {
		t.Skip("no flight recorder: ", err)
	}
	defer r.Stop()
	const cpus = 0.5
	s := handler(r, Options{CPU: cpus})
	mux := http.NewServeMux()
	mux.Handle("/debug/gmpscope/", s)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var served atomic.Int64
	for range 8 { // some 2,000 requests a second, whatever else goes on
		wg.Go(func() {
			for tick := time.NewTicker(4 * time.Millisecond); ; {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				if resp, err := http.Get(srv.URL); err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					served.Add(1)
				}
			}
		})
	}
	time.Sleep(r.Window()) // it is full then
	const long = 15 * time.Second
	idle := measure(long, &served)
	asking := make(chan struct{})
	var answers, refused atomic.Int64
	var clients sync.WaitGroup
	for i := range 200 {
		clients.Go(func() {
			for {
				select {
				case <-asking:
					return
				default:
				}
				resp, err := http.Get(srv.URL + "/debug/gmpscope/" + []string{"", "work", "wait"}[i%3])
				if err != nil {
					continue
				}
				io.Copy(io.Discard, resp.Body)
				if resp.Body.Close(); resp.StatusCode == 200 {
					answers.Add(1)
				} else {
					refused.Add(1)
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	busy := measure(long, &served)
	close(asking)
	clients.Wait()
	close(stop)
	wg.Wait()
	t.Logf("nobody asks: %v", idle)
	t.Logf("200 clients: %v; %d answers, %d refused", busy, answers.Load(), refused.Load())
	// What the 200 clients do with the answers is in it, too.
	if got := busy.cpus - idle.cpus; got > 2*cpus {
		t.Errorf("answers took %.2f CPUs, the budget is %.2f", got, cpus)
	}
	if got := busy.heap - idle.heap; got > s.o.MaxMemory {
		t.Errorf("answers took %d MiB, the budget is %d MiB", got>>20, s.o.MaxMemory>>20)
	}
	if answers.Load() == 0 {
		t.Error("nobody was answered")
	}
}

// use is what the process used.
type use struct {
	cpus     float64
	heap     int64 // bytes, at most
	requests int64
}

func (u use) String() string {
	return fmt.Sprintf("%.2f CPUs, heap at most %d MiB, %d requests", u.cpus, u.heap>>20, u.requests)
}

func measure(d time.Duration, served *atomic.Int64) (u use) {
	runtime.GC()
	cpu := func() time.Duration {
		var r syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &r)
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	began, before, requests := time.Now(), cpu(), served.Load()
	for time.Since(began) < d {
		u.heap = max(u.heap, heapSize())
		time.Sleep(5 * time.Millisecond)
	}
	u.cpus = (cpu() - before).Seconds() / time.Since(began).Seconds()
	u.requests = served.Load() - requests
	return u
}

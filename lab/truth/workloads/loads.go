package main

import (
	"io"
	"math"
	"math/rand"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// single: one goroutine that computes and now and then sleeps.
func single(l *load) {
	for i, n := 0, l.count(20, 60); i < n; i++ {
		burn(l.micros(100, 15000))
		if l.between(0, 2) == 0 {
			time.Sleep(l.micros(10, 2000))
		}
	}
}

// thousand: a thousand goroutines at once, each short, several rounds.
func thousand(l *load) {
	n, rounds := l.between(700, 1400), l.count(8, 20)
	work := l.between(200, 8000)
	for r := 0; r < rounds; r++ {
		var wg sync.WaitGroup
		for i := 0; i < n; i++ {
			wg.Add(1)
			go func() { defer wg.Done(); spin(work) }()
		}
		wg.Wait()
	}
}

// fanout: goroutines that each start a thousand.
func fanout(l *load) {
	parents, kids := l.between(6, 14), l.between(600, 1500)
	work := l.between(100, 4000)
	for r, n := 0, l.count(5, 12); r < n; r++ {
		var wg sync.WaitGroup
		for i := 0; i < parents; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				var mine sync.WaitGroup
				for k := 0; k < kids; k++ {
					mine.Add(1)
					go func() { defer mine.Done(); spin(work) }()
				}
				mine.Wait()
			}()
		}
		wg.Wait()
	}
}

// uneven: one spawner feeds everybody; the work varies by three orders.
func uneven(l *load) {
	var wg sync.WaitGroup
	burst := l.between(1, 40)
	for i, n := 0, l.count(6000, 15000); i < n; i++ {
		work := 50 << l.between(0, 9)
		wg.Add(1)
		go func() { defer wg.Done(); spin(work) }()
		if i%burst == 0 {
			spin(l.between(100, 6000))
		}
	}
	wg.Wait()
}

// pipeline: producers and consumers on channels of different capacity.
func pipeline(l *load) {
	ch := make(chan int, l.between(0, 64))
	mid := make(chan int, l.between(0, 8))
	producers, consumers := l.between(1, 6), l.between(1, 8)
	n := l.count(8000, 20000)
	cost := l.between(50, 1500)
	var prod, trans, cons sync.WaitGroup
	for p := 0; p < producers; p++ {
		prod.Add(1)
		go func() {
			defer prod.Done()
			for i := 0; i < n/producers; i++ {
				spin(cost)
				ch <- i
			}
		}()
	}
	for t := 0; t < 3; t++ {
		trans.Add(1)
		go func() {
			defer trans.Done()
			for v := range ch {
				spin(cost / 2)
				mid <- v
			}
		}()
	}
	for c := 0; c < consumers; c++ {
		cons.Add(1)
		go func() {
			defer cons.Done()
			for range mid {
				spin(cost)
			}
		}()
	}
	prod.Wait()
	close(ch)
	trans.Wait()
	close(mid)
	cons.Wait()
}

// syscalls: blocking reads and writes on pipes the poller does not know, among
// goroutines that compute.
func syscalls(l *load) {
	var wg sync.WaitGroup
	n := l.count(300, 900)
	for i, pairs := 0, l.between(2, 6); i < pairs; i++ {
		var fds [2]int
		if err := pipe(&fds); err != nil {
			panic(err)
		}
		pause := l.micros(0, 600)
		wg.Add(2)
		go func() {
			defer wg.Done()
			buf := []byte{1}
			for k := 0; k < n; k++ {
				if k%4 == 0 {
					time.Sleep(pause)
				}
				writeFD(fds[1], buf)
			}
			closeFD(fds[1])
		}()
		go func() {
			defer wg.Done()
			buf := make([]byte, 1)
			for readFD(fds[0], buf) == 1 {
				spin(500)
			}
			closeFD(fds[0])
		}()
	}
	var stop atomic.Bool
	var busy sync.WaitGroup
	for i, k := 0, l.between(1, 4); i < k; i++ {
		busy.Add(1)
		chunk := l.between(2000, 60000)
		go func() {
			defer busy.Done()
			for !stop.Load() {
				spin(chunk)
				runtime.Gosched()
			}
		}()
	}
	wg.Wait()
	stop.Store(true)
	busy.Wait()
}

// spinners: more endless goroutines than Ps; some call, some only loop.
func spinners(l *load) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i, k := 0, runtime.GOMAXPROCS(0)+l.between(1, 6); i < k; i++ {
		wg.Add(1)
		big := l.between(0, 1) == 0
		go func() {
			defer wg.Done()
			for !stop.Load() {
				if big {
					spin(3_000_000)
				} else {
					spin(1000)
				}
			}
		}()
	}
	for i, n := 0, l.count(60, 140); i < n; i++ {
		time.Sleep(l.micros(500, 9000))
		done := make(chan bool)
		go func() { spin(2000); done <- true }()
		<-done
	}
	stop.Store(true)
	wg.Wait()
}

// tree: every node starts children; the leaves come in thousands and overflow
// the rings.
func tree(l *load) {
	var wg sync.WaitGroup
	wide, work := l.between(3, 7), l.between(50, 2500)
	budget := int64(l.count(15000, 40000))
	var made atomic.Int64
	var grow func(depth int)
	grow = func(depth int) {
		defer wg.Done()
		spin(work)
		if depth == 0 {
			return
		}
		for i := 0; i < wide && made.Add(1) < budget; i++ {
			wg.Add(1)
			go grow(depth - 1)
		}
	}
	for made.Load() < budget {
		wg.Add(1)
		made.Add(1)
		go grow(12)
		wg.Wait()
	}
}

// goschedStorm: goroutines that yield all the time; everything goes through
// the global queue.
func goschedStorm(l *load) {
	var wg sync.WaitGroup
	n := l.count(300, 900)
	for i, k := 0, l.between(4, 120); i < k; i++ {
		wg.Add(1)
		work := l.between(0, 2000)
		go func() {
			defer wg.Done()
			for r := 0; r < n; r++ {
				spin(work)
				runtime.Gosched()
			}
		}()
	}
	wg.Wait()
}

// httpLoopback: a server and its clients in one process.
func httpLoopback(l *load) {
	cost := l.between(100, 20000)
	size := l.between(10, 20000)
	body := make([]byte, size)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		spin(cost)
		w.Write(body)
	})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go srv.Serve(ln)
	clients, n := l.between(2, 24), l.count(600, 1800)
	var wg sync.WaitGroup
	tr := &http.Transport{MaxIdleConnsPerHost: clients}
	for c := 0; c < clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			cl := &http.Client{Transport: tr}
			for i := 0; i < n/clients; i++ {
				resp, err := cl.Get("http://" + ln.Addr().String())
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
	}
	wg.Wait()
	tr.CloseIdleConnections()
	srv.Close()
}

// timers: sleepers, tickers, AfterFunc and timeouts.
func timers(l *load) {
	var wg sync.WaitGroup
	for i, k := 0, l.between(50, 400); i < k; i++ {
		wg.Add(1)
		d := l.micros(50, 4000)
		n := l.count(20, 60)
		cost := l.between(100, 8000)
		go func() {
			defer wg.Done()
			for r := 0; r < n; r++ {
				time.Sleep(d)
				spin(cost)
			}
		}()
	}
	for i, k := 0, l.between(20, 200); i < k; i++ {
		wg.Add(1)
		time.AfterFunc(l.micros(100, 200000), wg.Done)
	}
	for i, k := 0, l.between(2, 10); i < k; i++ {
		wg.Add(1)
		t := time.NewTicker(l.micros(300, 3000))
		n := l.count(20, 80)
		go func() {
			defer wg.Done()
			defer t.Stop()
			never := make(chan bool)
			for r := 0; r < n; r++ {
				select {
				case <-t.C:
				case <-time.After(50 * time.Millisecond):
				case <-never:
				}
			}
		}()
	}
	wg.Wait()
}

type node struct {
	left, right *node
	_           [6]uint64 // makes the node as large as one of a real tree
}

func build(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: build(depth - 1), right: build(depth - 1)}
}

// garbage: allocation that keeps the collector at work, with assists.
func garbage(l *load) {
	var wg sync.WaitGroup
	keep := make([]*node, l.between(2, 8))
	for i := range keep {
		keep[i] = build(l.between(12, 15))
	}
	for i, k := 0, l.between(3, 20); i < k; i++ {
		wg.Add(1)
		n, depth := l.count(60, 200), l.between(6, 10)
		go func() {
			defer wg.Done()
			for r := 0; r < n; r++ {
				t := build(depth)
				ch := make(chan *node, 1)
				go func() { ch <- build(depth / 2) }()
				t.left = <-ch
				runtime.KeepAlive(t)
			}
		}()
	}
	wg.Wait()
	runtime.KeepAlive(keep)
}

// mutexes: contended locks held long enough that waiters starve and the lock
// is handed over; a read-write lock and a condition beside it.
func mutexes(l *load) {
	var mu sync.Mutex
	var rw sync.RWMutex
	cond := sync.NewCond(&mu)
	var wg sync.WaitGroup
	turn := 0
	hold := l.between(500, 60000)
	for i, k := 0, l.between(4, 30); i < k; i++ {
		wg.Add(1)
		n := l.count(150, 500)
		seed := int64(l.between(1, 1<<30))
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(seed))
			for j := 0; j < n; j++ {
				switch r.Intn(8) {
				case 0:
					rw.Lock()
					spin(hold / 4)
					rw.Unlock()
				case 1, 2:
					rw.RLock()
					spin(hold / 8)
					rw.RUnlock()
				case 3:
					mu.Lock()
					turn++
					cond.Broadcast()
					mu.Unlock()
				default:
					mu.Lock()
					spin(hold)
					mu.Unlock()
				}
				spin(r.Intn(1000))
			}
		}()
	}
	stop := make(chan bool)
	var waiters sync.WaitGroup
	for i := 0; i < 3; i++ {
		waiters.Add(1)
		go func() {
			defer waiters.Done()
			for {
				mu.Lock()
				seen := turn
				for turn == seen && turn >= 0 {
					cond.Wait()
				}
				over := turn < 0
				mu.Unlock()
				if over {
					return
				}
			}
		}()
	}
	go func() { wg.Wait(); close(stop) }()
	<-stop
	mu.Lock()
	turn = math.MinInt32
	cond.Broadcast()
	mu.Unlock()
	waiters.Wait()
}

// lockedThreads: goroutines wired to their threads talk with free ones.
func lockedThreads(l *load) {
	var wg sync.WaitGroup
	n := l.count(300, 1200)
	for i, k := 0, l.between(1, 4); i < k; i++ {
		ping, pong := make(chan int), make(chan int, l.between(0, 2))
		wg.Add(2)
		cost := l.between(100, 5000)
		leave := l.between(0, 1) == 0
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			for v := range ping {
				spin(cost)
				if v%16 == 0 {
					runtime.Gosched()
				}
				if v%64 == 0 {
					time.Sleep(50 * time.Microsecond)
				}
				pong <- v
			}
			close(pong)
			if !leave {
				runtime.UnlockOSThread()
			}
		}()
		go func() {
			defer wg.Done()
			for j := 0; j < n; j++ {
				ping <- j
				spin(cost)
				<-pong
			}
			close(ping)
		}()
	}
	for i, k := 0, l.between(0, 3); i < k; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < n; j++ {
				spin(4000)
				runtime.Gosched()
			}
		}()
	}
	wg.Wait()
}

// pingpong: pairs that only wake one another.
func pingpong(l *load) {
	var wg sync.WaitGroup
	for i, k := 0, l.between(1, 12); i < k; i++ {
		a, b := make(chan int), make(chan int)
		n := l.count(2000, 6000)
		cost := l.between(0, 600)
		wg.Add(2)
		go func() {
			defer wg.Done()
			for j := 0; j < n; j++ {
				spin(cost)
				a <- j
				<-b
			}
		}()
		go func() {
			defer wg.Done()
			for j := 0; j < n; j++ {
				<-a
				spin(cost)
				b <- j
			}
		}()
	}
	wg.Wait()
}

// workerPool: jobs arrive in bursts at a fixed set of workers, results return.
func workerPool(l *load) {
	workers := l.between(4, 64)
	jobs := make(chan int, l.between(0, 256))
	results := make(chan int, l.between(0, 256))
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				spin(j)
				results <- j
			}
		}()
	}
	n := l.count(8000, 20000)
	burst := l.between(1, 300)
	go func() {
		for i := 0; i < n; i++ {
			jobs <- 100 << (i * 7919 % 7)
			if i%burst == burst-1 {
				time.Sleep(200 * time.Microsecond)
			}
		}
		close(jobs)
	}()
	for i := 0; i < n; i++ {
		<-results
	}
	wg.Wait()
}

// changingProcs: GOMAXPROCS goes up and down while work is queued.
func changingProcs(l *load) {
	start := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(start)
	var wg sync.WaitGroup
	for i, k := 0, l.between(10, 60); i < k; i++ {
		wg.Add(1)
		n, work := l.count(60, 200), l.between(500, 30000)
		go func() {
			defer wg.Done()
			for r := 0; r < n; r++ {
				spin(work)
				if r%5 == 0 {
					done := make(chan bool)
					go func() { close(done) }()
					<-done
				} else if r%7 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	for i, k := 0, l.between(6, 20); i < k; i++ {
		time.Sleep(l.micros(200, 8000))
		runtime.GOMAXPROCS(l.between(1, start+2))
	}
	wg.Wait()
}

// churn: short-lived goroutines that open, read and close files and wake others.
func churn(l *load) {
	f, err := os.CreateTemp("", "gmpscope")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	f.Write(make([]byte, 4096))
	f.Close()
	sem := make(chan bool, l.between(4, 100))
	var wg sync.WaitGroup
	for i, n := 0, l.count(3000, 8000); i < n; i++ {
		sem <- true
		wg.Add(1)
		work := l.between(10, 3000)
		go func() {
			defer wg.Done()
			defer func() { <-sem }()
			if f, err := os.Open(f.Name()); err == nil {
				var buf [512]byte
				f.Read(buf[:])
				f.Close()
			}
			spin(work)
		}()
	}
	wg.Wait()
}

// mixed: several of the above at the same time.
func mixed(l *load) {
	parts := []func(*load){timers, pipeline, syscalls, mutexes, garbage, goschedStorm, httpLoopback, uneven, churn}
	var wg sync.WaitGroup
	for i, k := 0, l.between(4, 6); i < k; i++ {
		part := parts[l.between(0, len(parts)-1)]
		mine := &load{rng: rand.New(rand.NewSource(int64(l.between(1, 1<<30)))), scale: l.scale / 4}
		wg.Add(1)
		go func() { defer wg.Done(); part(mine) }()
	}
	wg.Wait()
}

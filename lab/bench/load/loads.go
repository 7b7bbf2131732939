package main

import (
	"io"
	"log"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

// dense is scheduling and nothing else: pairs of goroutines that pass a token
// to and fro size times.
func dense(size int) {
	const pairs = 4
	var all sync.WaitGroup
	for range pairs {
		there, back := make(chan int), make(chan int)
		all.Go(func() {
			for range size {
				there <- 1
				<-back
			}
			close(there)
		})
		all.Go(func() {
			for token := range there {
				back <- token
			}
		})
	}
	all.Wait()
}

// mixed is what a service does: connections, locks, files, garbage, timers and
// goroutines for a moment, with calls of different depth.
func mixed(size int) {
	var all sync.WaitGroup
	all.Go(func() { echo(4, size) })
	all.Go(func() { pipeline(6, 4*size) })
	all.Go(func() { locks(8, 2*size) })
	all.Go(func() { files(size) })
	all.Go(func() { garbage(size) })
	all.Go(func() { moments(size) })
	all.Go(func() { sleeps(4, size/20) })
	all.Wait()
}

// crowd has size goroutines wait at once, and then wakes each.
func crowd(size int) {
	var ready, all sync.WaitGroup
	start := make(chan struct{})
	ready.Add(size)
	for range size {
		all.Go(func() {
			ready.Done()
			<-start
		})
	}
	ready.Wait()
	close(start)
	all.Wait()
}

// churn starts size goroutines that end at once, and does nothing else.
func churn(size int) {
	const starters, batch = 4, 500
	var all sync.WaitGroup
	for range starters {
		all.Go(func() {
			for range size / starters / batch {
				var ended sync.WaitGroup
				for range batch {
					ended.Go(func() {})
				}
				ended.Wait()
			}
		})
	}
	all.Wait()
}

// crews starts 10,000 goroutines at once, which pass a lock and end, until size have ended.
func crews(size int) {
	const crew = 10_000
	var mu sync.Mutex
	for range size / crew {
		var all sync.WaitGroup
		for range crew {
			all.Go(func() {
				mu.Lock()
				spin(1)
				mu.Unlock()
			})
		}
		all.Wait()
	}
}

// sleepers has size goroutines sleep at once, each three times.
func sleepers(size int) {
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() {
			for range 3 {
				time.Sleep(time.Second + time.Duration(i%1000)*time.Millisecond)
			}
		})
	}
	all.Wait()
}

// idle works for a moment, size times, and does nothing for a long while between.
func idle(size int) {
	for range size {
		channels(8000)
		time.Sleep(500 * time.Millisecond)
	}
}

// forks is a program that computes in parallel: size times, one after the other,
// it hands a piece of work to each of 128 goroutines, and goes on when all are
// done. Between the pieces most Ps have nothing to run.
func forks(size int) {
	const workers = 128
	var (
		mu  sync.Mutex
		sum int
	)
	for i := range size {
		var all sync.WaitGroup
		for piece := range workers {
			all.Go(func() {
				spin(1 + (i+piece)%8)
				mu.Lock()
				sum += piece
				mu.Unlock()
			})
		}
		all.Wait()
		spin(20)
	}
	runtime.KeepAlive(sum)
}

// parked has size goroutines wait for work from before the recording until its
// end, and in a period wakes one in a hundred for a moment.
func parked(size int) func() {
	var ready, served sync.WaitGroup
	jobs := make(chan int)
	ready.Add(size)
	for range size {
		go func() {
			ready.Done()
			for micros := range jobs {
				spin(micros)
				served.Done()
			}
		}()
	}
	ready.Wait()
	return func() {
		served.Add(size / 100)
		for range size / 100 {
			jobs <- 1
		}
		served.Wait()
	}
}

// steady does size small jobs in a second, one after the other, at a rate far
// below what the machine can do.
func steady(size int) {
	const clients = 10
	jobs := make(chan chan struct{})
	var served, asked sync.WaitGroup
	for range 4 {
		served.Go(func() {
			for done := range jobs {
				spin(5)
				close(done)
			}
		})
	}
	for range clients {
		asked.Go(func() {
			tick := time.NewTicker(time.Second * clients / time.Duration(size))
			defer tick.Stop()
			for range size / clients {
				<-tick.C
				asked := make(chan struct{})
				jobs <- asked
				<-asked
			}
		})
	}
	asked.Wait()
	close(jobs)
	served.Wait()
}

// echo sends size messages over each of some connections, and reads them back.
func echo(conns, size int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var all sync.WaitGroup
	all.Go(func() {
		for range conns {
			c, err := l.Accept()
			if err != nil {
				log.Fatal(err)
			}
			all.Go(func() {
				defer c.Close()
				if _, err := io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}); err != nil {
					log.Fatal(err)
				}
			})
		}
	})
	for range conns {
		all.Go(func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				log.Fatal(err)
			}
			defer c.Close()
			message := make([]byte, 64)
			for i := range size {
				if err := deep(i%10, func() error {
					if _, err := c.Write(message); err != nil {
						return err
					}
					_, err := io.ReadFull(c, message)
					return err
				}); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	all.Wait()
}

// pipeline passes size items through a row of stages.
func pipeline(stages, size int) {
	var all sync.WaitGroup
	source := make(chan int, 16)
	in := source
	for range stages {
		from, to := in, make(chan int, 16)
		all.Go(func() {
			defer close(to)
			for item := range from {
				spin(1)
				to <- item
			}
		})
		in = to
	}
	all.Go(func() {
		defer close(source)
		for i := range size {
			source <- i
		}
	})
	for range in {
	}
	all.Wait()
}

// locks has goroutines take one lock size times each.
func locks(goroutines, size int) {
	var (
		mu  sync.Mutex
		all sync.WaitGroup
	)
	for range goroutines {
		all.Go(func() {
			for i := range size {
				if err := deep(i%5, func() error {
					mu.Lock()
					spin(1)
					mu.Unlock()
					return nil
				}); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	all.Wait()
}

// files makes size system calls.
func files(size int) {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for i := range size {
		if err := deep(i%7, func() error {
			_, err := f.WriteString("line\n")
			return err
		}); err != nil {
			log.Fatal(err)
		}
	}
}

// garbage allocates 4 KB size times, and lets go of it.
func garbage(size int) {
	var kept [64][]byte
	for i := range size {
		kept[i%len(kept)] = make([]byte, 4<<10)
	}
}

// moments starts size goroutines, ten at a time.
func moments(size int) {
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() { spin(2) })
		if i%10 == 9 {
			all.Wait()
		}
	}
	all.Wait()
}

// sleeps has goroutines sleep size times each.
func sleeps(goroutines, size int) {
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range size {
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	all.Wait()
}

// deep calls f with more frames below it.
//
//go:noinline
func deep(frames int, f func() error) error {
	if frames == 0 {
		return f()
	}
	return deep(frames-1, f)
}

// spin burns CPU: about micros µs.
//
//go:noinline
func spin(micros int) {
	x := uint64(88172645463325252)
	for range micros * 450 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(x)
}

package main

import "sync"

// channels does with channels what programs do with them, size times each and all
// at once: pass a value and wait for the answer, feed many from few, compete for
// one channel, select among several, and use one as a semaphore.
func channels(size int) {
	var all sync.WaitGroup
	all.Go(func() { dense(size / 4) })
	all.Go(func() { pipeline(6, size) })
	all.Go(func() { compete(16, size) })
	all.Go(func() { selects(4, size) })
	all.Go(func() { semaphore(8, size) })
	all.Wait()
}

// compete has goroutines send size values into one small channel, and as many
// receive them.
func compete(goroutines, size int) {
	var senders, receivers sync.WaitGroup
	values := make(chan int, 4)
	for range goroutines {
		senders.Go(func() {
			for i := range size / goroutines {
				values <- i
			}
		})
		receivers.Go(func() {
			for range values {
				spin(1)
			}
		})
	}
	senders.Wait()
	close(values)
	receivers.Wait()
}

// selects has a goroutine receive size values from whichever source has one.
func selects(sources, size int) {
	var all sync.WaitGroup
	left, right, done := make(chan int), make(chan int, 8), make(chan struct{})
	for source := range sources {
		all.Go(func() {
			to := left
			if source%2 == 1 {
				to = right
			}
			for i := range size / sources {
				to <- i
			}
		})
	}
	go func() {
		all.Wait()
		close(done)
	}()
	for {
		select {
		case <-left:
		case <-right:
		case <-done:
			return
		}
	}
}

// semaphore has size goroutines, some at a time, hold one of half as many slots.
func semaphore(goroutines, size int) {
	var all sync.WaitGroup
	slots := make(chan struct{}, goroutines/2)
	for range goroutines {
		all.Go(func() {
			for range size / goroutines {
				slots <- struct{}{}
				spin(1)
				<-slots
			}
		})
	}
	all.Wait()
}

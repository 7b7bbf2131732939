// Beacon-relay takes a beacon every millisecond, and relays it to a second
// goroutine.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type beacon struct {
	number int
	sent   time.Time
}

func main() {
	if os.Getenv("RELAY_PEER") != "" {
		suspend(os.Getppid(), 6, 42*time.Millisecond, 64*time.Millisecond)
		return
	}
	peer := exec.Command(os.Args[0])
	peer.Env = append(os.Environ(), "RELAY_PEER=1")
	beacons := make(chan beacon, 64)
	var held int
	var longest time.Duration
	var receiver sync.WaitGroup
	rec.Start()
	if err := peer.Start(); err != nil {
		panic(err)
	}
	receiver.Go(func() { held, longest = receive(beacons) })
	relayUntil(time.Now().Add(640*time.Millisecond), beacons)
	close(beacons)
	receiver.Wait()
	peer.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: between beacons due every 1 ms, %d gaps were longer than 30 ms, the longest %v\n", held, longest)
}

func relayUntil(end time.Time, out chan<- beacon) {
	for n := 0; time.Now().Before(end); n++ {
		time.Sleep(time.Millisecond)
		relayBeacon(n, out)
	}
}

func relayBeacon(n int, out chan<- beacon) {
	rec.Work(40)
	out <- beacon{n, time.Now()}
}

func receive(in <-chan beacon) (held int, longest time.Duration) {
	last := time.Now()
	for b := range in {
		gap := b.sent.Sub(last)
		if gap > 30*time.Millisecond {
			held++
		}
		longest = max(longest, gap)
		last = b.sent
		rec.Work(60)
	}
	return held, longest
}

func suspend(process, times int, down, up time.Duration) {
	for range times {
		time.Sleep(up)
		if os.Getppid() != process {
			return
		}
		syscall.Kill(process, syscall.SIGSTOP)
		time.Sleep(down)
		syscall.Kill(process, syscall.SIGCONT)
	}
}

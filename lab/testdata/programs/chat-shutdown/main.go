// Chat-shutdown closes a chat room of 8,000 members while it goes on to answer
// pings.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const members = 8000

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	var in, room, pings sync.WaitGroup
	in.Add(members)
	for id := range members {
		room.Go(func() {
			in.Done()
			serveMember(ctx, id)
		})
	}
	in.Wait()
	took := make([]atomic.Int64, 150)
	rec.Start()
	var closing time.Duration
	ticker := time.NewTicker(2 * time.Millisecond)
	for i := range took {
		came := <-ticker.C
		for range 3 {
			pings.Go(func() {
				answerPing()
				took[i].Store(max(took[i].Load(), int64(time.Since(came))))
			})
		}
		if i == 75 {
			pings.Go(func() { closing = closeRoom(cancel, &room) })
		}
	}
	pings.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: closing took %v; pings took p50 %v before it, p50 %v in the 60 ms after its begin\n", closing, median(took[30:70]), median(took[76:106]))
}

func median(took []atomic.Int64) time.Duration {
	var all []int64
	for i := range took {
		all = append(all, took[i].Load())
	}
	slices.Sort(all)
	return time.Duration(all[len(all)/2])
}

func closeRoom(cancel func(), room *sync.WaitGroup) time.Duration {
	start := time.Now()
	cancel()
	room.Wait()
	return time.Since(start)
}

func serveMember(ctx context.Context, id int) {
	<-ctx.Done()
	rec.Work(30 + id%4)
}

func answerPing() { rec.Work(60) }

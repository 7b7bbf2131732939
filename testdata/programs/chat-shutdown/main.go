// Chat-shutdown closes a chat room of 8,000 members while it goes on to answer
// pings.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
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
	took := make([]time.Duration, 150)
	rec.Start()
	var closing time.Duration
	ticker := time.NewTicker(2 * time.Millisecond)
	for i := range took {
		came := <-ticker.C
		pings.Go(func() {
			answerPing()
			took[i] = time.Since(came)
		})
		if i == 75 {
			pings.Go(func() { closing = closeRoom(cancel, &room) })
		}
	}
	pings.Wait()
	rec.Stop()
	before, after := slices.Max(took[:70]), slices.Max(took[70:])
	fmt.Fprintf(os.Stderr, "proof: closing took %v; the longest ping took %v before it, %v since\n", closing, before, after)
}

func closeRoom(cancel func(), room *sync.WaitGroup) time.Duration {
	start := time.Now()
	cancel()
	room.Wait()
	return time.Since(start)
}

func serveMember(ctx context.Context, id int) {
	<-ctx.Done()
	rec.Work(14 + id%4)
}

func answerPing() { rec.Work(60) }

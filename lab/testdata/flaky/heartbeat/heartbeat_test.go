package heartbeat

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestHealthyMembersStayAlive(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d := NewDetector(40*time.Millisecond, 5*time.Millisecond)
	var wg sync.WaitGroup
	for _, id := range []string{"n1", "n2", "n3"} {
		d.Beat(id)
		wg.Go(func() { Agent{ID: id, Every: 6 * time.Millisecond}.Run(ctx, d) })
	}
	wg.Go(func() { d.Run(ctx) })

	time.Sleep(200 * time.Millisecond)
	dead := d.Dead()
	cancel()
	wg.Wait()
	if len(dead) != 0 {
		t.Fatalf("members %v were declared dead, want none", dead)
	}
}

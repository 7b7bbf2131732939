// Package removal is margince/margince#1341: either of two may win, and the test wants one of them.
package removal

import (
	"sync"
	"testing"
)

func TestSomebodyRemoves(t *testing.T) {
	removed := 0
	for range 3 {
		var mu sync.Mutex
		winner := ""
		win := func(who string) {
			mu.Lock()
			if winner == "" {
				winner = who
			}
			mu.Unlock()
		}
		var wg sync.WaitGroup
		wg.Go(func() { win("remove") })
		wg.Go(func() { win("advance") })
		wg.Wait()
		if winner == "remove" {
			removed++
		}
	}
	if removed == 0 {
		t.Fatal("no stage was removed in any round: the race never ran")
	}
}

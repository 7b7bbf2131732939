package transfer

import (
	"sync"
	"testing"
	"time"
)

func TestConcurrentTransfersKeepTheSum(t *testing.T) {
	a, b := NewAccount("alice", 100000), NewAccount("bob", 100000)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 300 {
				Transfer(a, b, 3)
			}
		})
		wg.Go(func() {
			for range 300 {
				Transfer(b, a, 5)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		t.Fatal("transfers did not finish within 2s")
	}
	if sum := a.Balance() + b.Balance(); sum != 200000 {
		t.Fatalf("sum of balances is %d, want 200000", sum)
	}
}

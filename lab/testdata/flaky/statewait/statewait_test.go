// Package statewait is reearth/ygo#243: a client must reach a state within a deadline that is fixed, while other packages compute.
package statewait

import (
	"crypto/sha256"
	"testing"
	"time"
)

// handshake computes for some milliseconds before the client is synced.
func handshake(state chan<- int) {
	sum := []byte("hello")
	for range 40 {
		for range 2000 {
			h := sha256.Sum256(sum)
			sum = h[:]
		}
	}
	state <- 2
}

func TestClientSyncs(t *testing.T) {
	state := make(chan int, 1)
	go handshake(state)
	select {
	case <-state:
	case <-time.After(40 * time.Millisecond):
		t.Fatal("client never reported state 2")
	}
}

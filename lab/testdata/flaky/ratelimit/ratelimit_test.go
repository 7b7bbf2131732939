package ratelimit

import (
	"fmt"
	"testing"
)

func TestBurstIsLimited(t *testing.T) {
	api := &API{Limiter: New(20, 10), Key: []byte("k3y")}
	for i := range 10 {
		body := fmt.Appendf(nil, "request %d", i)
		if code := api.Handle("alice", body, api.Sign(body)); code != OK {
			t.Fatalf("request %d of the burst: %d, want 200", i, code)
		}
	}
	if code := api.Handle("alice", []byte("one more"), ""); code != TooManyRequests {
		t.Fatalf("request after the burst: %d, want 429", code)
	}
}

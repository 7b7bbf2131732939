// Api-edge checks the signatures of incoming calls, at about 500 calls a
// second, each in a goroutine that lives for a fraction of a millisecond.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const calls = 350

type call struct {
	Account string            `json:"account"`
	Fields  map[string]string `json:"fields"`
}

type edge struct {
	secret []byte
	took   []time.Duration
	valid  []bool
}

func main() {
	e := &edge{[]byte("a secret"), make([]time.Duration, calls), make([]bool, calls)}
	body, _ := json.Marshal(call{"ACC-12", map[string]string{"amount": "12.40", "currency": "EUR", "note": "lunch"}})
	signature := e.sign(body)
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(2 * time.Millisecond)
	for id := range calls {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			e.valid[id] = e.handleCall(body, signature)
			e.took[id] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(e.took)
	fmt.Fprintf(os.Stderr, "proof: %d calls, p50 %v, p99 %v, all valid: %v\n", calls,
		e.took[calls/2], e.took[calls*99/100], !slices.Contains(e.valid, false))
}

func (e *edge) handleCall(body []byte, signature string) bool {
	var c call
	if json.Unmarshal(body, &c) != nil {
		return false
	}
	return hmac.Equal([]byte(e.sign(body)), []byte(signature))
}

// sign hashes a hundred times, so that secrets are expensive to guess.
func (e *edge) sign(body []byte) string {
	sum := body
	for range 100 {
		mac := hmac.New(sha256.New, e.secret)
		mac.Write(sum)
		sum = mac.Sum(nil)
	}
	return hex.EncodeToString(sum)
}

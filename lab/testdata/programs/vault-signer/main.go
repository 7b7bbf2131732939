// Vault-signer signs payments in one goroutine, which holds the key, as the
// library of the key's hardware demands a thread of its own.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type request struct {
	payment int
	reply   chan [32]byte
}

type signer struct{ in chan request }

func newSigner(locked bool) *signer {
	s := &signer{in: make(chan request)}
	go s.loop(locked)
	return s
}

func (s *signer) loop(locked bool) {
	if locked {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for r := range s.in {
		r.reply <- sha256.Sum256([]byte{byte(r.payment), byte(r.payment >> 8)})
	}
}

func (s *signer) Sign(payment int, reply chan [32]byte) [32]byte {
	s.in <- request{payment, reply}
	return <-reply
}

func handlePayment(s *signer, payment int, reply chan [32]byte) time.Duration {
	rec.Work(10)
	start := time.Now()
	s.Sign(payment, reply)
	return time.Since(start)
}

func payAll(s *signer, n int) (inside time.Duration) {
	reply := make(chan [32]byte)
	for payment := range n {
		inside += handlePayment(s, payment, reply)
	}
	close(s.in)
	return inside
}

func main() {
	const payments = 7000
	free := payAll(newSigner(false), payments)
	s := newSigner(true)
	time.Sleep(10 * time.Millisecond)
	rec.Start()
	locked := payAll(s, payments)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d signatures took %v each with a locked signer, %v without\n", payments, locked/payments, free/payments)
}

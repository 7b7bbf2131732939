// Mail-queue signs and compresses outgoing mails. Two workers take them from a
// bounded queue; mails come at random times, at about half the rate that the
// workers could do.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	mails   = 220
	workers = 2
)

type mail struct {
	id   int
	text string
	came time.Time
}

type sender struct {
	queue chan mail
	key   []byte
	took  []time.Duration
	full  int
}

func main() {
	s := &sender{queue: make(chan mail, 32), key: []byte("dkim"), took: make([]time.Duration, mails)}
	text := strings.Repeat("Dear customer, your parcel has left our warehouse. ", 900)
	rec.Start()
	var sending sync.WaitGroup
	for range workers {
		sending.Go(s.sendMails)
	}
	s.receive(text)
	sending.Wait()
	rec.Stop()
	slices.Sort(s.took)
	fmt.Fprintf(os.Stderr, "proof: %d mails, queue full %d times, sent after p50 %v, p99 %v\n", mails, s.full,
		s.took[mails/2], s.took[mails*99/100])
}

func (s *sender) receive(text string) {
	rng := rand.New(rand.NewPCG(5, 5))
	for id := range mails {
		time.Sleep(time.Duration(rng.IntN(5000)) * time.Microsecond)
		m := mail{id, text, time.Now()}
		select {
		case s.queue <- m:
		default:
			s.full++
			s.queue <- m
		}
	}
	close(s.queue)
}

func (s *sender) sendMails() {
	packer, err := flate.NewWriter(nil, flate.BestCompression)
	if err != nil {
		panic(err) // only for a level that does not exist
	}
	for m := range s.queue {
		s.send(m, packer)
		s.took[m.id] = time.Since(m.came)
	}
}

func (s *sender) send(m mail, packer *flate.Writer) {
	var packed bytes.Buffer
	text := []byte(m.text)
	packer.Reset(&packed)
	packer.Write(text)
	packer.Close()
	signature := hmac.New(sha256.New, s.key)
	for range 100 {
		signature.Write(text)
	}
	signature.Sum(nil)
}

// Cert-watch looks every 200 ms whether a certificate must be renewed, and
// otherwise sleeps. Between the looks nothing happens.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	looks  = 5
	period = 200 * time.Millisecond
)

type certificate struct {
	path    string
	expires time.Time
	print   [sha256.Size]byte
}

type watcher struct {
	certs   []*certificate
	renewed int
}

func main() {
	dir, err := os.MkdirTemp("", "certs")
	check(err)
	defer os.RemoveAll(dir)
	w := &watcher{}
	for i := range 4 {
		c := &certificate{path: filepath.Join(dir, fmt.Sprintf("host-%d.pem", i)), expires: time.Now().Add(time.Duration(i) * time.Second)}
		check(os.WriteFile(c.path, make([]byte, 2048), 0o600))
		w.certs = append(w.certs, c)
	}
	var took []time.Duration
	rec.Start()
	for range looks {
		time.Sleep(period)
		begin := time.Now()
		w.look()
		took = append(took, time.Since(begin))
	}
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d looks, longest %v, every %v; %d renewals\n", looks, took[looks-1], period, w.renewed)
}

func (w *watcher) look() {
	for _, c := range w.certs {
		if time.Until(c.expires) < 500*time.Millisecond {
			c.renew()
			w.renewed++
		}
		pem, err := os.ReadFile(c.path)
		check(err)
		c.print = sha256.Sum256(pem)
	}
}

func (c *certificate) renew() {
	c.expires = time.Now().Add(time.Minute)
	check(os.WriteFile(c.path, c.print[:], 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

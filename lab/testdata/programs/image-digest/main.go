// Image-digest takes image layers, hashes them, and answers health checks.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	layer := make([]byte, 60<<20)
	for i := range layer {
		layer[i] = byte(i * 7)
	}
	took := make([]time.Duration, 120)
	var wg sync.WaitGroup
	var pushes []time.Duration
	rec.Start()
	wg.Go(func() {
		for range 5 {
			time.Sleep(60 * time.Millisecond)
			pushes = append(pushes, handlePush(layer))
		}
	})
	for i := range took {
		due := time.Now().Add(4 * time.Millisecond)
		time.Sleep(4 * time.Millisecond)
		answerHealth()
		took[i] = time.Since(due)
	}
	wg.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: pushes took %v; health answers came after p50 %v, the five longest %v\n", pushes, took[60], took[115:])
}

func handlePush(layer []byte) time.Duration {
	start := time.Now()
	if digestLayer(layer) == "" {
		panic("no digest")
	}
	return time.Since(start)
}

func digestLayer(layer []byte) string {
	sum := sha256.Sum256(layer)
	return hex.EncodeToString(sum[:])
}

func answerHealth() { rec.Work(40) }

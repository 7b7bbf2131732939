// Photo-ingest decodes uploads in four goroutines, resizes the photos, and
// stores them in three goroutines.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type photo struct {
	id     int
	pixels []byte
}

var sendWait, recvWait, resizeBusy atomic.Int64

func main() {
	decoded := make(chan photo, 4)
	resized := make(chan photo, 4)
	var decoders, stores sync.WaitGroup
	rec.Start()
	begin := time.Now()
	for range 4 {
		decoders.Go(func() { decodePhotos(decoded, 45) })
	}
	go resizePhotos(decoded, resized)
	for range 3 {
		stores.Go(func() { storePhotos(resized) })
	}
	decoders.Wait()
	close(decoded)
	stores.Wait()
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: of %v, the resize stage was busy for %v; decoders blocked for %v in sum, stores for %v\n",
		took, time.Duration(resizeBusy.Load()), time.Duration(sendWait.Load()), time.Duration(recvWait.Load()))
}

func decodePhotos(out chan<- photo, n int) {
	for id := range n {
		rec.Work(300)
		p := photo{id, make([]byte, 4096)}
		start := time.Now()
		out <- p
		sendWait.Add(int64(time.Since(start)))
	}
}

func resizePhotos(in <-chan photo, out chan<- photo) {
	defer close(out)
	for p := range in {
		start := time.Now()
		rec.Work(3000)
		p.pixels = p.pixels[:1024]
		resizeBusy.Add(int64(time.Since(start)))
		out <- p
	}
}

func storePhotos(in <-chan photo) {
	for {
		start := time.Now()
		_, ok := <-in
		recvWait.Add(int64(time.Since(start)))
		if !ok {
			return
		}
		rec.Work(150)
	}
}

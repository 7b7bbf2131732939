// Texture-atlas draws sprites, and plays sounds, for some players of a game.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/texture-atlas/gfx"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/texture-atlas/sound"
)

const phase = 700 * time.Millisecond

var last []byte

func drawSprite(a *gfx.Atlas, n int) time.Duration {
	begin := time.Now()
	t := a.Bind()
	waited := time.Since(begin)
	for i := range t.Image {
		t.Image[i] = byte(i * n)
	}
	return waited
}

func drawPlayer(a *gfx.Atlas, id int, end time.Time) (waits []time.Duration) {
	for n := id; time.Now().Before(end); n++ {
		waits = append(waits, drawSprite(a, n))
		time.Sleep(500 * time.Microsecond)
	}
	return waits
}

func playSounds(end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		sound.Load(n).Play()
		time.Sleep(30 * time.Millisecond)
	}
}

func play() (sprites int, p50, p99 time.Duration) {
	atlas := gfx.NewAtlas(64)
	waits := make([][]time.Duration, 6)
	end := time.Now().Add(phase)
	over := make(chan struct{})
	var open, decoder sync.WaitGroup
	open.Go(func() { playSounds(end) })
	decoder.Go(func() { decodeFrames(over) })
	for id := range waits {
		open.Go(func() { waits[id] = drawPlayer(atlas, id, end) })
	}
	open.Wait()
	close(over)
	decoder.Wait()
	all := slices.Concat(waits...)
	slices.Sort(all)
	return len(all), all[len(all)/2], all[len(all)*99/100]
}

// decodeFrames makes the garbage of a game.
func decodeFrames(over chan struct{}) {
	for {
		frame := make([]byte, 512<<10)
		for i := 0; i < len(frame); i += 64 {
			frame[i] = byte(i)
		}
		last = frame
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func main() {
	rec.Start()
	n, p50, p99 := play()
	rec.Stop()
	sound.Slow = false
	n2, p502, p992 := play()
	fmt.Fprintf(os.Stderr, "proof: %d sprites, waits for a place p50 %v, p99 %v; if detach does not wait, untraced: %d sprites, p50 %v, p99 %v\n",
		n, p50, p99, n2, p502, p992)
}

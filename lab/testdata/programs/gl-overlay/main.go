// Gl-overlay draws labels over video frames. The graphics library wants all calls
// from one thread.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	frames = 40
	labels = 150
	period = 10 * time.Millisecond
)

type drawCall struct {
	label int
	done  chan struct{}
}

type renderThread struct {
	calls chan drawCall
	drawn int
}

func newRenderThread() *renderThread {
	t := &renderThread{calls: make(chan drawCall)}
	go t.loop()
	return t
}

func (t *renderThread) loop() {
	runtime.LockOSThread()
	for call := range t.calls {
		t.drawLabel(call.label)
		close(call.done)
	}
}

func (t *renderThread) drawLabel(int) {
	rec.Work(1)
	t.drawn++
}

// Draw returns when the label has been drawn.
func (t *renderThread) Draw(label int) {
	call := drawCall{label, make(chan struct{})}
	t.calls <- call
	<-call.done
}

func main() {
	var overlays sync.WaitGroup
	t := newRenderThread()
	var took []time.Duration
	rec.Start()
	overlays.Go(func() { took = overlayFrames(t) })
	overlays.Wait()
	rec.Stop()
	close(t.calls)
	local := &renderThread{}
	start := time.Now()
	for label := range labels {
		local.drawLabel(label)
	}
	alone := time.Since(start)
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d frames of %d labels took p50 %v, p95 %v; the draw calls of one frame alone take %v\n",
		frames, labels, took[frames/2], took[frames*95/100], alone)
}

// overlayFrames returns how long each frame took.
func overlayFrames(t *renderThread) (took []time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range frames {
		<-ticker.C
		start := time.Now()
		for label := range labels {
			t.Draw(label)
		}
		took = append(took, time.Since(start))
	}
	return took
}

// Package sound plays clips.
package sound

import (
	"runtime"
	"time"
)

// Slow is whether closing a clip waits for the mixer.
var Slow = true

type Clip struct {
	samples [512]int16
	played  int
}

func Load(n int) *Clip {
	c := &Clip{played: n}
	runtime.SetFinalizer(c, (*Clip).detach)
	return c
}

func (c *Clip) Play() { c.samples[c.played%512]++ }

// detach tells the mixer that the clip is gone, and waits for it to agree.
func (c *Clip) detach() {
	if Slow {
		time.Sleep(25 * time.Millisecond)
	}
}

// Package gfx lends places in an atlas of textures.
package gfx

import "runtime"

type Texture struct {
	place int
	atlas *Atlas
	Image []byte
}

type Atlas struct{ free chan int }

func NewAtlas(places int) *Atlas {
	a := &Atlas{make(chan int, places)}
	for place := range places {
		a.free <- place
	}
	return a
}

// Bind waits for a place, and puts a texture there.
func (a *Atlas) Bind() *Texture {
	t := &Texture{<-a.free, a, make([]byte, 64<<10)}
	runtime.SetFinalizer(t, func(t *Texture) { t.atlas.free <- t.place })
	return t
}

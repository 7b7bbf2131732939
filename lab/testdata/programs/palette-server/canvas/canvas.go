// Package canvas lends out the pixels that pictures are drawn on.
package canvas

import (
	"errors"
	"sync"
)

const Side = 512

type Canvas struct{ Pixels []byte }

// A Studio draws with canvases from its pool.
type Studio struct {
	pool    sync.Pool
	Careful bool // the remedy
}

var ErrGrey = errors.New("nothing but grey")

func NewStudio() *Studio {
	s := &Studio{}
	s.pool.New = func() any { return &Canvas{Pixels: make([]byte, 4*Side*Side)} }
	return s
}

// Palette counts the colours of a picture, after it was drawn.
func (s *Studio) Palette(seed uint32) ([16]int, error) {
	c := s.pool.Get().(*Canvas)
	if s.Careful {
		defer s.pool.Put(c)
	}
	c.draw(seed)
	count := c.histogram()
	if count[0] == 0 {
		return count, ErrGrey
	}
	if !s.Careful && count[1] == 0 {
		s.pool.Put(c)
	}
	return count, nil
}

func (c *Canvas) draw(seed uint32) {
	for i := 0; i < len(c.Pixels); i += 16 {
		seed = seed*1664525 + 1013904223
		c.Pixels[i] = byte(seed >> 24)
	}
}

func (c *Canvas) histogram() (count [16]int) {
	for i := 0; i < len(c.Pixels); i += 16 {
		count[c.Pixels[i]>>4]++
	}
	return count
}

// Package raster keeps pages in the memory of a plotter.
package raster

import (
	"runtime"
	"time"
)

// A Device has room for a few pages.
type Device struct {
	Wipe time.Duration // what it takes to wipe a page
	room chan struct{}
}

func NewDevice(pages int, wipe time.Duration) *Device {
	return &Device{Wipe: wipe, room: make(chan struct{}, pages)}
}

// A Page must be closed. Otherwise its room is free when it is collected.
type Page struct {
	Pixels []byte
	device *Device
}

// New returns a page as soon as there is room.
func (d *Device) New(size int) *Page {
	d.room <- struct{}{}
	p := &Page{make([]byte, size), d}
	runtime.SetFinalizer(p, (*Page).finalize)
	return p
}

func (p *Page) Close() {
	runtime.SetFinalizer(p, nil)
	p.device.wipe()
}

func (p *Page) finalize() { p.device.wipe() }

func (d *Device) wipe() {
	time.Sleep(d.Wipe)
	<-d.room
}

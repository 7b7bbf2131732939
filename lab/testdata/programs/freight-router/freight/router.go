// Package freight hands manifests to the desks of their ports.
package freight

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// A Manifest is what a ship carries.
type Manifest struct {
	Port  int    `json:"port"`
	Sent  int64  `json:"sent"`
	Lines []Line `json:"lines"`
}

type Line struct {
	Container string  `json:"container"`
	Goods     string  `json:"goods"`
	Tons      float64 `json:"tons"`
}

// A frame is a manifest not decoded yet. It begins with the port.
type frame []byte

func (f frame) port() int { return int(f[0]) }

func (f frame) decode() (*Manifest, error) {
	m := &Manifest{}
	return m, json.Unmarshal(f[1:], m)
}

type parcel struct {
	frame    frame
	manifest *Manifest
}

// A Router reads frames and hands them to desks.
type Router struct {
	Raw   bool // leave it to the desks to decode: the remedy
	desks []chan parcel
	open  sync.WaitGroup
	mu    sync.Mutex
	took  []time.Duration
}

func NewRouter(desks int) *Router {
	r := &Router{desks: make([]chan parcel, desks)}
	for n := range r.desks {
		r.desks[n] = make(chan parcel, 16)
	}
	return r
}

// Run routes until the stream ends, and returns how long each manifest took
// since it was sent.
func (r *Router) Run(stream io.Reader) []time.Duration {
	for _, in := range r.desks {
		r.open.Go(func() { r.work(in) })
	}
	r.route(bufio.NewReaderSize(stream, 1<<16))
	for _, in := range r.desks {
		close(in)
	}
	r.open.Wait()
	return r.took
}

func (r *Router) route(in *bufio.Reader) {
	for {
		var size uint32
		if binary.Read(in, binary.BigEndian, &size) != nil {
			return
		}
		p := parcel{frame: make(frame, size)}
		if _, err := io.ReadFull(in, p.frame); err != nil {
			return
		}
		if !r.Raw {
			p.manifest, _ = p.frame.decode()
		}
		r.desks[p.frame.port()%len(r.desks)] <- p
	}
}

// work sums up what comes to a desk.
func (r *Router) work(in <-chan parcel) {
	tons := make(map[string]float64)
	for p := range in {
		if p.manifest == nil {
			p.manifest, _ = p.frame.decode()
		}
		for _, line := range p.manifest.Lines {
			tons[line.Goods] += line.Tons
		}
		r.mu.Lock()
		r.took = append(r.took, time.Duration(time.Now().UnixNano()-p.manifest.Sent))
		r.mu.Unlock()
	}
}

// Parcel-labels draws labels, as many as four packing tables ask for. It has
// been given one CPU's worth of Ps.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"runtime"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	tables = 4
	phase  = time.Second
	period = 11 * time.Millisecond
)

type order struct {
	parcel int
	due    time.Time
}

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	buffer, _ := b.pool.Get().(*png.EncoderBuffer)
	return buffer
}

func (b *buffers) Put(buffer *png.EncoderBuffer) { b.pool.Put(buffer) }

var encoder = png.Encoder{BufferPool: &buffers{}}

type printer struct {
	orders chan order
	sheets chan []byte
	mu     sync.Mutex
	took   []time.Duration
}

func (p *printer) table(id int, end time.Time) {
	n := 0
	for due := time.Now().Add(time.Duration(id) * 2 * time.Millisecond); due.Before(end); due = due.Add(period) {
		time.Sleep(time.Until(due))
		p.orders <- order{10000*id + n, due}
		n++
	}
}

func (p *printer) draw() {
	for o := range p.orders {
		p.sheets <- label(o.parcel)
		p.mu.Lock()
		p.took = append(p.took, time.Since(o.due))
		p.mu.Unlock()
	}
}

func label(parcel int) []byte {
	img := image.NewGray(image.Rect(0, 0, 480, 320))
	for y := range 320 {
		for x := range 480 {
			if parcel>>(x/8%24)&1 == 1 || (x*y+parcel)%17 == 0 {
				img.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	var out bytes.Buffer
	check(encoder.Encode(&out, img))
	return out.Bytes()
}

func (p *printer) spool() (bytes int) {
	for sheet := range p.sheets {
		bytes += len(sheet)
	}
	return bytes
}

// shift works through one phase, and tells the number of orders and how long they took.
func shift() (orders, left int, took []time.Duration) {
	p := &printer{orders: make(chan order, 10000), sheets: make(chan []byte, 8)}
	end := time.Now().Add(phase)
	var tablesOpen, drawers, spooler sync.WaitGroup
	for id := range tables {
		tablesOpen.Go(func() { p.table(id, end) })
	}
	for range 4 {
		drawers.Go(p.draw)
	}
	spooler.Go(func() { p.spool() })
	tablesOpen.Wait()
	left = len(p.orders)
	close(p.orders)
	drawers.Wait()
	close(p.sheets)
	spooler.Wait()
	slices.Sort(p.took)
	return len(p.took), left, p.took
}

func main() {
	stop := startTrace()
	orders, left, took := shift()
	stop()
	procs := runtime.GOMAXPROCS(2)
	orders2, left2, took2 := shift()
	fmt.Fprintf(os.Stderr, "proof: with %d P %d labels, %d of them left at the end, p50 %v; the same with 2 Ps afterwards: %d, %d left, p50 %v\n",
		procs, orders, left, took[orders/2].Round(100*time.Microsecond), orders2, left2, took2[orders2/2].Round(100*time.Microsecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

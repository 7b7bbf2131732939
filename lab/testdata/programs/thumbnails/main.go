// Thumbnails makes previews of uploaded photos: a pool with a worker for each
// CPU takes the photos of an album from a channel.
package main

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const photos = 800

type previewer struct {
	album <-chan *image.RGBA
	done  []int // photos by worker
	took  [][]time.Duration
}

func main() {
	album := make(chan *image.RGBA, photos)
	photo := testPhoto(640, 480)
	for range photos {
		album <- photo
	}
	close(album)
	workers := runtime.GOMAXPROCS(0)
	p := &previewer{album, make([]int, workers), make([][]time.Duration, workers)}

	rec.Start()
	begin := time.Now()
	var pool sync.WaitGroup
	for id := range workers {
		pool.Go(func() { p.run(id) })
	}
	pool.Wait()
	total := time.Since(begin)
	rec.Stop()
	took := slices.Concat(p.took...)
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d photos in %v, by worker %v, each p50 %v, p99 %v\n", photos,
		total.Round(time.Millisecond), p.done, took[photos/2], took[photos*99/100])
}

func (p *previewer) run(id int) {
	for photo := range p.album {
		begin := time.Now()
		shrink(photo, 4)
		p.took[id] = append(p.took[id], time.Since(begin))
		p.done[id]++
	}
}

func testPhoto(width, height int) *image.RGBA {
	photo := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			photo.SetRGBA(x, y, color.RGBA{uint8(x), uint8(y), uint8(x ^ y), 255})
		}
	}
	return photo
}

// shrink averages squares of factor by factor pixels.
func shrink(photo *image.RGBA, factor int) *image.RGBA {
	size := photo.Bounds().Size()
	small := image.NewRGBA(image.Rect(0, 0, size.X/factor, size.Y/factor))
	for y := range size.Y / factor {
		for x := range size.X / factor {
			var r, g, b int
			for dy := range factor {
				for dx := range factor {
					c := photo.RGBAAt(x*factor+dx, y*factor+dy)
					r, g, b = r+int(c.R), g+int(c.G), b+int(c.B)
				}
			}
			n := factor * factor
			small.SetRGBA(x, y, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255})
		}
	}
	return small
}

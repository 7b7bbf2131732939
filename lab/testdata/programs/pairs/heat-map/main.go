// Heat-map draws the rides of a city: the rows of a map are drawn by as many
// goroutines as there are CPUs. Rows in the middle of the city cost more.
// Before, each goroutine had one contiguous part of the rows; after, each takes
// the next four rows when it is ready.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	maps  = 60
	rows  = 256
	width = 512
)

type heatMap struct {
	cells [rows][width]uint32
	rides []int // by row
}

func main() {
	strips := os.Getenv("SIDE") == "after"
	m := &heatMap{rides: make([]int, rows)}
	for row := range m.rides {
		m.rides[row] = 8 + max(0, 150-2*max(row-70, 70-row))
	}
	var took []time.Duration
	rec.Start()
	for range maps {
		begin := time.Now()
		if strips {
			m.drawStrips()
		} else {
			m.drawParts()
		}
		took = append(took, time.Since(begin))
		time.Sleep(3 * time.Millisecond) // sends it
	}
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d maps, p50 %v, longest %v\n", maps, took[maps/2], took[maps-1])
}

func (m *heatMap) drawParts() {
	painters := runtime.GOMAXPROCS(0)
	var drawing sync.WaitGroup
	for i := range painters {
		drawing.Go(func() { m.drawRows(rows*i/painters, rows*(i+1)/painters) })
	}
	drawing.Wait()
}

func (m *heatMap) drawStrips() {
	var next atomic.Int64
	var drawing sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		drawing.Go(func() {
			for {
				end := int(next.Add(4))
				if end > rows {
					return
				}
				m.drawRows(end-4, end)
			}
		})
	}
	drawing.Wait()
}

func (m *heatMap) drawRows(from, to int) {
	for row := from; row < to; row++ {
		seed := uint32(row + 1)
		for ride := range m.rides[row] * width {
			seed = seed*1664525 + 1013904223
			m.cells[row][seed>>23] += uint32(ride)
		}
	}
}

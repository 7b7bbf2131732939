// Scale-readers reads the scales of a parcel line from their device files,
// whose reads block until a parcel comes, and answers requests for labels.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	scales   = 6
	requests = 220
	period   = 4 * time.Millisecond
	parcel   = 35 * time.Millisecond
)

// A device is a file whose reads block the thread, as those of a serial line do.
type device struct {
	read, write int
}

func openDevice() *device {
	var fds [2]int
	check(syscall.Pipe(fds[:]))
	return &device{fds[0], fds[1]}
}

// weigh puts a parcel on the scale; the scale writes down when.
func (d *device) weigh(grams byte) {
	_, err := syscall.Write(d.write, []byte{grams})
	check(err)
}

type line struct {
	mu      sync.Mutex
	weights [scales]int
	parcels int
	worst   time.Duration
	put     [scales]atomic.Int64 // when the scale's last parcel was put on, in ns
}

// readScale takes down the weights that a scale reports.
func (l *line) readScale(id int, d *device) {
	buf := make([]byte, 1)
	for {
		n, err := syscall.Read(d.read, buf)
		if err == syscall.EINTR {
			continue
		}
		if n == 0 || err != nil {
			return
		}
		took := time.Duration(time.Now().UnixNano() - l.put[id].Load())
		rec.Work(30) // calibration
		l.mu.Lock()
		l.weights[id] = int(buf[0])
		l.parcels++
		l.worst = max(l.worst, took)
		l.mu.Unlock()
	}
}

// printLabel answers a request for the label of a scale's parcel.
func (l *line) printLabel(id int) int {
	l.mu.Lock()
	grams := l.weights[id]
	l.mu.Unlock()
	rec.Work(250)
	return grams
}

func main() {
	l := new(line)
	devices := make([]*device, scales)
	for id := range devices {
		devices[id] = openDevice()
	}
	took := make([]time.Duration, requests)
	var readers, parcels, open sync.WaitGroup
	stop := make(chan struct{})
	rec.Start()
	for id, d := range devices {
		readers.Go(func() { l.readScale(id, d) })
		parcels.Go(func() {
			time.Sleep(time.Duration(id) * parcel / scales)
			ticker := time.NewTicker(parcel)
			for {
				select {
				case <-ticker.C:
					l.put[id].Store(time.Now().UnixNano())
					d.weigh(byte(10 + id))
				case <-stop:
					syscall.Close(d.write)
					return
				}
			}
		})
	}
	start := time.Now()
	for id := range requests {
		due := start.Add(time.Duration(id) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			l.printLabel(id % scales)
			took[id] = time.Since(due)
		})
	}
	open.Wait()
	close(stop)
	parcels.Wait()
	readers.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d labels (0.25 ms of work), p50 %v, p99 %v; %d parcels, each read at most %v after it was put on\n",
		requests, took[requests/2], took[requests*99/100], l.parcels, l.worst)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Meter-modem sums up what electricity meters send over a modem, some hundred
// samples a second.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/meter-modem/modem"
)

const (
	samples = 300
	period  = 3 * time.Millisecond
)

func main() {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	near, far := os.NewFile(uintptr(ends[0]), "modem"), os.NewFile(uintptr(ends[1]), "meters") // reads block a thread
	sent := make([]time.Time, samples)
	rec.Start()
	line := modem.Open(near)
	go line.Run()
	go send(far, sent)
	took, sum := add(line.Samples(), sent)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d samples, %d W, added p50 %v, p99 %v after they were sent\n", line.Came.Load(), sum, took[len(took)/2], took[len(took)*99/100])
}

// send is the meters.
func send(to *os.File, sent []time.Time) {
	defer to.Close()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range sent {
		<-ticker.C
		sent[n] = time.Now()
		raw := binary.BigEndian.AppendUint32(nil, uint32(n))
		to.Write(binary.BigEndian.AppendUint32(raw, uint32(200+n%50)))
	}
}

func add(in <-chan modem.Sample, sent []time.Time) (took []time.Duration, sum uint32) {
	for s := range in {
		sum += s.Watts
		rec.Work(40)
		took = append(took, time.Since(sent[s.Meter]))
	}
	return took, sum
}

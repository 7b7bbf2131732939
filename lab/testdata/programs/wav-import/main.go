// Wav-import reads recordings of 16-bit samples, and works out the loudness of
// each.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	recordings = 12
	samples    = 12000
)

type wavReader struct {
	src   io.Reader
	reads int
}

// readSample returns the next sample, io.EOF after the last.
func (r *wavReader) readSample() (int16, error) {
	var b [2]byte
	r.reads++
	if _, err := io.ReadFull(r.src, b[:]); err != nil {
		return 0, err
	}
	return int16(binary.LittleEndian.Uint16(b[:])), nil
}

type importer struct {
	reads   atomic.Int64
	reading atomic.Int64 // nanoseconds
}

func main() {
	dir, err := os.MkdirTemp("", "wav")
	check(err)
	defer os.RemoveAll(dir)
	for id := range recordings {
		data := make([]byte, 2*samples)
		for i := range data {
			data[i] = byte(i * id)
		}
		check(os.WriteFile(fileName(dir, id), data, 0o600))
	}
	im := &importer{}
	var wg sync.WaitGroup
	rec.Start()
	start := time.Now()
	for lane := range 4 {
		wg.Go(func() {
			for id := lane; id < recordings; id += 4 {
				time.Sleep(60 * time.Millisecond) // until it is uploaded
				im.importRecording(fileName(dir, id))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d reads of 2 bytes, %v in sum, in %v; 12 reads would have done\n",
		im.reads.Load(), time.Duration(im.reading.Load()), took)
}

func fileName(dir string, id int) string { return filepath.Join(dir, fmt.Sprintf("take-%d.pcm", id)) }

func (im *importer) importRecording(name string) {
	f, err := os.Open(name)
	check(err)
	defer f.Close()
	start := time.Now()
	r := &wavReader{src: f}
	levels := make([]int16, 0, samples)
	for {
		s, err := r.readSample()
		if err == io.EOF {
			break
		}
		check(err)
		levels = append(levels, s)
	}
	im.reading.Add(int64(time.Since(start)))
	im.reads.Add(int64(r.reads))
	measureLoudness(levels)
}

func measureLoudness(levels []int16) (sum float64) {
	for _, s := range levels {
		sum += float64(s) * float64(s)
	}
	rec.Work(500)
	return sum / float64(len(levels))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

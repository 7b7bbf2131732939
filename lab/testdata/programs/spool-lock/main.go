// Spool-lock delivers mail into a spool on disk. A lock file keeps deliveries
// and the indexer, which other programs may run as well, from each other.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	receivers = 5
	message   = 2000
	every     = 60 * time.Millisecond
	morning   = 900 * time.Millisecond
)

// A spool is a directory of messages with a lock file and an index.
type spool struct {
	dir string
}

func openSpool() *spool {
	dir, err := os.MkdirTemp("", "spool")
	check(err)
	return &spool{dir}
}

// withLock runs f while this process and no other has the spool's lock file,
// nor any other caller in this process.
func (s *spool) withLock(f func()) {
	fd, err := syscall.Open(filepath.Join(s.dir, "lock"), syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	check(err)
	defer syscall.Close(fd)
	check(syscall.Flock(fd, syscall.LOCK_EX))
	f()
}

// Deliver writes a message into the spool.
func (s *spool) Deliver(receiver, n int, body []byte) {
	name := filepath.Join(s.dir, fmt.Sprintf("r%d-%d", receiver, n%50))
	s.withLock(func() {
		check(os.WriteFile(name, body, 0o600))
	})
}

// reindex reads all messages and writes the index of their words.
func (s *spool) reindex() (messages int) {
	s.withLock(func() {
		names, err := filepath.Glob(filepath.Join(s.dir, "r*"))
		check(err)
		var index []byte
		for _, name := range names {
			body, err := os.ReadFile(name)
			check(err)
			index = fmt.Appendf(index, "%s %08x\n", name, indexWords(body))
		}
		check(os.WriteFile(filepath.Join(s.dir, "index"), index, 0o600))
		messages = len(names)
	})
	return messages
}

func indexWords(body []byte) uint32 {
	rec.Work(180)
	return crc32.ChecksumIEEE(body)
}

func main() {
	s := openSpool()
	defer os.RemoveAll(s.dir)
	body := make([]byte, message)
	for receiver := range receivers {
		for n := range 50 {
			s.Deliver(receiver, n, body)
		}
	}
	waits := make([][]time.Duration, receivers)
	var all sync.WaitGroup
	rec.Start()
	end := time.Now().Add(morning)
	all.Go(func() {
		for time.Now().Before(end) {
			time.Sleep(every / 4)
			s.reindex()
		}
	})
	for id := range receivers {
		all.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				time.Sleep(4 * time.Millisecond)
				start := time.Now()
				s.Deliver(id, n, body)
				waits[id] = append(waits[id], time.Since(start))
			}
		})
	}
	all.Wait()
	rec.Stop()
	took := slices.Concat(waits...)
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d deliveries took %v of the %v of %d receivers; p50 %v, p90 %v\n",
		len(took), sum, receivers*morning, receivers, took[len(took)/2], took[len(took)*9/10])
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

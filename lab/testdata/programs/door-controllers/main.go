// Door-controllers keeps a connection to each of 30 doors, which send a sign
// of life now and then, and a swipe of a card rarely.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	doors = 30
	phase = 1200 * time.Millisecond
)

type hub struct {
	mu    sync.Mutex
	seen  map[string]time.Time
	lost  int
	swipe chan string
}

func (h *hub) serveDoor(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		kind, door, _ := strings.Cut(lines.Text(), " ")
		h.mu.Lock()
		h.seen[door] = time.Now()
		h.mu.Unlock()
		if kind == "swipe" {
			h.swipe <- door
		}
		fmt.Fprintln(c, "ok", door)
	}
}

func (h *hub) open() (opened int) {
	for range h.swipe {
		opened++
	}
	return opened
}

// watch looks for doors that have been silent.
func (h *hub) watch(end time.Time) {
	for time.Now().Before(end) {
		time.Sleep(100 * time.Millisecond)
		h.mu.Lock()
		for _, at := range h.seen {
			if time.Since(at) > 400*time.Millisecond {
				h.lost++
			}
		}
		h.mu.Unlock()
	}
}

func door(id int, address string, end time.Time) (trips []time.Duration) {
	c, err := net.Dial("tcp", address)
	check(err)
	defer c.Close()
	answers := bufio.NewReader(c)
	for n := 0; time.Now().Before(end); n++ {
		kind := "alive"
		if (n+id)%7 == 0 {
			kind = "swipe"
		}
		begin := time.Now()
		fmt.Fprintf(c, "%s door-%d\n", kind, id)
		_, err := answers.ReadString('\n')
		check(err)
		trips = append(trips, time.Since(begin))
		time.Sleep(time.Duration(120+3*id) * time.Millisecond)
	}
	return trips
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	h := &hub{seen: map[string]time.Time{}, swipe: make(chan string, 8)}
	stop := startTrace()
	end := time.Now().Add(phase)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go h.serveDoor(c)
		}
	}()
	go h.watch(end)
	opened := 0
	trips := make([][]time.Duration, doors)
	var open, opener sync.WaitGroup
	opener.Go(func() { opened = h.open() })
	for id := range doors {
		open.Go(func() { trips[id] = door(id, listener.Addr().String(), end) })
		time.Sleep(2 * time.Millisecond)
	}
	open.Wait()
	close(h.swipe)
	opener.Wait()
	listener.Close()
	stop()
	all := slices.Concat(trips...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d messages, answered after p50 %v, p99 %v; %d doors opened, %d found silent\n",
		len(all), all[len(all)/2].Round(time.Microsecond), all[len(all)*99/100].Round(time.Microsecond), opened, h.lost)
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

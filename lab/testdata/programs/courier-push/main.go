// Courier-push tells a partner of deliveries over HTTP, while vehicles report
// their positions. The partner is out of order for a part of the time.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	couriers = 8
	phase    = 1200 * time.Millisecond
	downFrom = 200 * time.Millisecond
	downTo   = 1000 * time.Millisecond
)

type delivery struct {
	Parcel  int
	Address string
	At      time.Time
}

type service struct {
	client   *http.Client
	url      string
	attempts atomic.Int64
	refused  atomic.Int64
	pushed   atomic.Int64
}

// push hands a delivery to the partner; it must not be lost.
func (s *service) push(d delivery) {
	body, err := json.Marshal(d)
	check(err)
	for {
		if s.attempt(body) {
			s.pushed.Add(1)
			return
		}
	}
}

func (s *service) attempt(body []byte) bool {
	s.attempts.Add(1)
	answer, err := s.client.Post(s.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return false
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		s.refused.Add(1)
		return false
	}
	return true
}

func (s *service) courier(id int, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		s.push(delivery{1000*id + n, "Station Road", time.Now()})
		time.Sleep(12 * time.Millisecond)
	}
}

type lateness struct{ up, down []time.Duration }

// trackVehicle notes how late its ticks of 2 ms are, while the partner is up and while it is down.
func (l *lateness) trackVehicle(begin, end time.Time) {
	for due := begin; due.Before(end); due = due.Add(2 * time.Millisecond) {
		time.Sleep(time.Until(due))
		late := time.Since(due)
		if at := due.Sub(begin); at > downFrom && at < downTo {
			l.down = append(l.down, late)
		} else {
			l.up = append(l.up, late)
		}
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	begin := time.Now()
	partner := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if since := time.Since(begin); since > downFrom && since < downTo {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	go http.Serve(listener, http.HandlerFunc(partner))
	s := &service{url: "http://" + listener.Addr().String()}
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: couriers}}
	stop := startTrace()
	begin = time.Now()
	cpu := cpuTime()
	end := begin.Add(phase)
	var vehicles [3]lateness
	var open sync.WaitGroup
	for id := range couriers {
		open.Go(func() { s.courier(id, end) })
	}
	for id := range vehicles {
		open.Go(func() { vehicles[id].trackVehicle(begin, end) })
	}
	open.Wait()
	cpu = cpuTime() - cpu
	stop()
	var up, down []time.Duration
	for _, v := range vehicles {
		up, down = append(up, v.up...), append(down, v.down...)
	}
	slices.Sort(up)
	slices.Sort(down)
	fmt.Fprintf(os.Stderr, "proof: %d deliveries pushed with %d attempts, %d of them refused in an outage of %v, %v of CPU time, position ticks late by p50 %v, p99 %v in it, and by p50 %v, p99 %v before and after\n",
		s.pushed.Load(), s.attempts.Load(), s.refused.Load(), downTo-downFrom, cpu.Round(time.Millisecond), down[len(down)/2], down[len(down)*99/100], up[len(up)/2], up[len(up)*99/100])
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

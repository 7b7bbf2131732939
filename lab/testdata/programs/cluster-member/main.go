// Cluster-member compacts its segments, and tells a peer every 25 ms that it
// is alive. The peer takes it for dead if the answer does not come in 60 ms.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	segments = 14
	phase    = 1200 * time.Millisecond
	limit    = 60 * time.Millisecond
)

type member struct {
	peer      *net.UDPConn
	compacted atomic.Int64
}

func (m *member) compact(segment []byte, end time.Time) {
	for time.Now().Before(end) {
		var out bytes.Buffer
		m.squeeze(&out, segment)
		m.compacted.Add(1)
	}
}

func (m *member) squeeze(out *bytes.Buffer, segment []byte) {
	w, err := flate.NewWriter(out, 6)
	check(err)
	w.Write(segment)
	check(w.Close())
}

func (m *member) heartbeat(end time.Time) (trips []time.Duration) {
	message := make([]byte, 8)
	for n := uint64(0); time.Now().Before(end); n++ {
		begin := time.Now()
		binary.BigEndian.PutUint64(message, n)
		_, err := m.peer.Write(message)
		check(err)
		_, err = m.peer.Read(message)
		check(err)
		took := time.Since(begin)
		trips = append(trips, took)
		time.Sleep(25*time.Millisecond - took)
	}
	return trips
}

// answer is the peer.
func answer(conn *net.UDPConn) {
	message := make([]byte, 8)
	for {
		n, from, err := conn.ReadFromUDP(message)
		if err != nil {
			return
		}
		conn.WriteToUDP(message[:n], from)
	}
}

func segmentOf(id int) []byte {
	var b bytes.Buffer
	for n := range 9000 {
		fmt.Fprintf(&b, "key-%d-%d=%x;", id, n, n*n*7919+id)
	}
	return b.Bytes()
}

func main() {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(err)
	defer conn.Close()
	peer, err := net.DialUDP("udp", nil, conn.LocalAddr().(*net.UDPAddr))
	check(err)
	m := &member{peer: peer}
	var inputs [][]byte
	for id := range segments {
		inputs = append(inputs, segmentOf(id))
	}
	go answer(conn)
	quiet := m.heartbeat(time.Now().Add(100 * time.Millisecond))
	stop := startTrace()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range segments {
		open.Go(func() { m.compact(inputs[id], end) })
	}
	var trips []time.Duration
	open.Go(func() { trips = m.heartbeat(end) })
	open.Wait()
	stop()
	slices.Sort(trips)
	over := 0
	for _, t := range trips {
		if t > limit {
			over++
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d segments compacted, %d heartbeats where 48 are due, p50 %v, max %v, %d over %v; without compaction at most %v\n",
		m.compacted.Load(), len(trips), trips[len(trips)/2].Round(time.Millisecond), trips[len(trips)-1].Round(time.Millisecond), over, limit, slices.Max(quiet).Round(10*time.Microsecond))
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

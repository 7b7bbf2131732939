// Device-broker passes the messages of a topic on to the devices that have
// subscribed to it, each over its own connection. One of the devices hangs on
// a bad radio link.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	devices  = 12
	messages = 60
	size     = 64 << 10
	period   = 8 * time.Millisecond
	radio    = 16 * time.Millisecond
)

type broker struct {
	inbox    chan []byte
	sessions []*session
}

type session struct{ conn *net.TCPConn }

func (s *session) send(message []byte) {
	_, err := s.conn.Write(message)
	check(err)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	b := &broker{inbox: make(chan []byte, messages)}
	delays := make([][]time.Duration, devices)
	var open sync.WaitGroup
	for id := range devices {
		dialed, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		accepted, err := listener.Accept()
		check(err)
		device, conn := dialed.(*net.TCPConn), accepted.(*net.TCPConn)
		device.SetReadBuffer(128 << 10)
		conn.SetWriteBuffer(128 << 10)
		b.sessions = append(b.sessions, &session{conn})
		open.Go(func() { delays[id] = runDevice(device, id == 4) })
	}
	rec.Start()
	open.Go(b.fanOut)
	b.publishAll()
	open.Wait()
	rec.Stop()
	var healthy []time.Duration
	for id, d := range delays {
		if id != 4 {
			healthy = append(healthy, d...)
		}
	}
	slices.Sort(healthy)
	fmt.Fprintf(os.Stderr, "proof: %d messages to the %d devices with a good link came p50 %v, p90 %v after they were published, the first of them after %v\n",
		messages, devices-1, healthy[len(healthy)/2], healthy[len(healthy)*9/10], healthy[0])
}

// publishAll takes the messages of the sensors as they come.
func (b *broker) publishAll() {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range messages {
		<-ticker.C
		message := make([]byte, size)
		binary.LittleEndian.PutUint64(message, uint64(time.Now().UnixNano()))
		b.inbox <- message
	}
	close(b.inbox)
}

// fanOut sends each message to all subscribers.
func (b *broker) fanOut() {
	for message := range b.inbox {
		for _, s := range b.sessions {
			s.send(message)
		}
	}
}

// runDevice stands for a device; it returns how late its messages came.
func runDevice(conn *net.TCPConn, badLink bool) (delays []time.Duration) {
	message := make([]byte, size)
	for range messages {
		if badLink {
			time.Sleep(radio)
		}
		_, err := io.ReadFull(conn, message)
		check(err)
		sent := time.Unix(0, int64(binary.LittleEndian.Uint64(message)))
		delays = append(delays, time.Since(sent))
	}
	return delays
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

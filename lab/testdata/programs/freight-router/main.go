// Freight-router sorts the manifests that come over one connection by port.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/freight-router/freight"
)

const (
	manifests = 1600
	period    = 2 * time.Millisecond
	perPeriod = 5
	lines     = 600
	desks     = 4
)

func main() {
	rec.Start()
	took := routeAll(false)
	rec.Stop()
	mended := routeAll(true)
	fmt.Fprintf(os.Stderr, "proof: %d manifests routed, p50 %v, p90 %v since sent; if the desks decode them, untraced: p50 %v, p90 %v\n",
		len(took), took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

func routeAll(raw bool) []time.Duration {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	go send(listener.Addr().String())
	conn, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	r := freight.NewRouter(desks)
	r.Raw = raw
	took := r.Run(conn)
	slices.Sort(took)
	return took
}

// send is the shipping company's side. It writes down when it meant to send.
func send(addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	m := freight.Manifest{Sent: 1234567890123456789}
	for n := range lines {
		m.Lines = append(m.Lines, freight.Line{Container: fmt.Sprintf("MSKU%07d", n), Goods: fmt.Sprint("goods ", n%12), Tons: float64(n) / 4})
	}
	body, _ := json.Marshal(m)
	mark := fmt.Appendf(nil, "%d", m.Sent)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range manifests / perPeriod {
		now := <-ticker.C
		var out bytes.Buffer
		sent := bytes.Replace(body, mark, fmt.Appendf(nil, "%d", now.UnixNano()), 1)
		for port := range perPeriod {
			binary.Write(&out, binary.BigEndian, uint32(len(sent)+1))
			out.WriteByte(byte(port))
			out.Write(sent)
		}
		if _, err := io.Copy(conn, &out); err != nil {
			return
		}
	}
}

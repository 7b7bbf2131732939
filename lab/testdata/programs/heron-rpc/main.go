// Heron-rpc asks where herons were seen. Most want to know of now; some want
// to know of last year, which is on a slow disk.
package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/heron-rpc/rpc"
)

const (
	calls  = 330
	period = 3 * time.Millisecond
	disk   = 34 * time.Millisecond
)

func main() {
	rec.Start()
	took := callAll(false)
	rec.Stop()
	mended := callAll(true)
	fmt.Fprintf(os.Stderr, "proof: %d calls for now, p50 %v, p90 %v; if each call has a goroutine, untraced: p50 %v, p90 %v\n",
		len(took), took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

// callAll returns how long the calls took that want to know of now.
func callAll(spread bool) []time.Duration {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	go (&rpc.Server{Spread: spread, Handle: handle}).Serve(listener)
	client, err := rpc.Dial(listener.Addr().String())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	took := make([]time.Duration, calls)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range calls {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			if n%14 == 3 {
				client.Call([]byte("last year"))
				return
			}
			client.Call([]byte("now"))
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	took = slices.DeleteFunc(took, func(d time.Duration) bool { return d == 0 })
	slices.Sort(took)
	return took
}

func handle(body []byte) []byte {
	if string(body) == "last year" {
		return lastYear()
	}
	return now()
}

func now() []byte { return fmt.Appendf(nil, "%d herons at the weir", rec.Work(40)%9) }

func lastYear() []byte {
	time.Sleep(disk)
	return []byte(strings.Repeat("2 herons at the weir\n", 365))
}

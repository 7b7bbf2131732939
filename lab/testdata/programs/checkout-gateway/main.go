// Checkout-gateway takes orders and has a payment provider, another process,
// authorise each over TCP. The provider answers after about 30 ms.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	checkouts     = 120
	providerDelay = 30 * time.Millisecond
	providerEnv   = "PAYMENT_PROVIDER"
)

func main() {
	if os.Getenv(providerEnv) != "" {
		runProvider()
		return
	}
	addr, stop := startProvider()
	own := make([]time.Duration, checkouts) // besides the provider's time
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(5 * time.Millisecond)
	for id := range checkouts {
		<-ticker.C
		open.Go(func() { own[id] = handleCheckout(addr, id) - providerDelay })
	}
	open.Wait()
	rec.Stop()
	stop()
	slices.Sort(own)
	fmt.Fprintf(os.Stderr, "proof: %d checkouts, besides the provider's %v: p50 %v, p99 %v\n", checkouts,
		providerDelay, own[checkouts/2], own[checkouts*99/100])
}

func handleCheckout(addr string, id int) time.Duration {
	begin := time.Now()
	conn, err := net.Dial("tcp", addr)
	check(err)
	defer conn.Close()
	fmt.Fprintf(conn, "authorise %d\n", id)
	_, err = bufio.NewReader(conn).ReadString('\n')
	check(err)
	return time.Since(begin)
}

// startProvider starts the stand-in for the payment provider. It ends when its
// standard input does, and so with this process at the latest.
func startProvider() (addr string, stop func()) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), providerEnv+"=1")
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	check(err)
	return strings.TrimSpace(line), func() { in.Close(); cmd.Wait() }
}

func runProvider() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			check(err)
			go func() {
				defer conn.Close()
				if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
					return
				}
				time.Sleep(providerDelay)
				io.WriteString(conn, "authorised\n")
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

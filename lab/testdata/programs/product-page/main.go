// Product-page renders a page from eight services (price, stock, reviews, ...),
// which it calls at the same time over TCP. The services run in another
// process and take 5 to 25 ms.
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
	pages       = 60
	services    = 8
	slowest     = 25 * time.Millisecond
	servicesEnv = "PAGE_SERVICES"
)

type renderer struct {
	addr  string
	parts [services]string
}

func main() {
	if os.Getenv(servicesEnv) != "" {
		runServices()
		return
	}
	addr, stop := startServices()
	own := make([]time.Duration, pages) // besides the slowest service
	var open sync.WaitGroup
	rec.Start()
	ticker := time.NewTicker(10 * time.Millisecond)
	for page := range pages {
		<-ticker.C
		begin := time.Now()
		open.Go(func() {
			(&renderer{addr: addr}).render()
			own[page] = time.Since(begin) - slowest
		})
	}
	open.Wait()
	rec.Stop()
	stop()
	slices.Sort(own)
	fmt.Fprintf(os.Stderr, "proof: %d pages, besides the %v of the slowest service: p50 %v, p99 %v\n", pages, slowest,
		own[pages/2], own[pages*99/100])
}

func (r *renderer) render() string {
	var calls sync.WaitGroup
	for id := range services {
		calls.Go(func() { r.parts[id] = r.call(id) })
	}
	calls.Wait()
	return strings.Join(r.parts[:], "")
}

func (r *renderer) call(service int) string {
	conn, err := net.Dial("tcp", r.addr)
	check(err)
	defer conn.Close()
	fmt.Fprintln(conn, service)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	check(err)
	return answer
}

// startServices starts the stand-in for the services, which ends with its input.
func startServices() (addr string, stop func()) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), servicesEnv+"=1")
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	check(err)
	return strings.TrimSpace(line), func() { in.Close(); cmd.Wait() }
}

func runServices() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	go func() {
		for {
			if conn, err := listener.Accept(); err == nil {
				go answer(conn)
			}
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func answer(conn net.Conn) {
	defer conn.Close()
	var service int
	if _, err := fmt.Fscanln(conn, &service); err != nil {
		return
	}
	time.Sleep(slowest - time.Duration(service)*20/7*time.Millisecond)
	fmt.Fprintf(conn, "<section>part %d</section>\n", service)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Museum-proxy asks the catalogues of museums abroad, which take their time.
// It has as many requests under way as there are visitors.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	visitors = 40
	abroad   = 70 * time.Millisecond
	phase    = 700 * time.Millisecond
)

// answerCatalogue is a museum far away.
func answerCatalogue(w http.ResponseWriter, r *http.Request) {
	time.Sleep(abroad)
	fmt.Fprintf(w, "%s: oil on canvas\n", r.FormValue("work"))
}

type proxy struct {
	client  *http.Client
	museums []string
}

func (p *proxy) lookUp(visitor, work int) error {
	answer, err := p.client.Get(fmt.Sprintf("%s/?work=%d", p.museums[(visitor+work)%len(p.museums)], work))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func (p *proxy) serveVisitor(visitor int, end time.Time) (took []time.Duration) {
	for work := 0; time.Now().Before(end); work++ {
		begin := time.Now()
		if err := p.lookUp(visitor, work); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		took = append(took, time.Since(begin))
		time.Sleep(10 * time.Millisecond)
	}
	return took
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	p := &proxy{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: visitors}}}
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go http.Serve(l, http.HandlerFunc(answerCatalogue))
		p.museums = append(p.museums, "http://"+l.Addr().String())
	}
	took := make([][]time.Duration, visitors)
	rec.Start()
	cpu, end := cpuTime(), time.Now().Add(phase)
	var open sync.WaitGroup
	for visitor := range visitors {
		open.Go(func() { took[visitor] = p.serveVisitor(visitor, end) })
	}
	open.Wait()
	cpu = cpuTime() - cpu
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d look-ups, p50 %v, p99 %v, of which the museums take %v; %v of CPU in all\n",
		len(all), all[len(all)/2].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond), abroad, cpu.Round(time.Millisecond))
}

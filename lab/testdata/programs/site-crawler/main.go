// Site-crawler follows the links of a site, politely: it begins a page every
// 6 ms and no sooner, whatever is queued. The site takes some 10 ms a page.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	pageLimit = 90
	interval  = 6 * time.Millisecond
)

var link = regexp.MustCompile(`href="(/page/\d+)"`)

type crawler struct {
	base     string
	frontier chan string
	mu       sync.Mutex
	seen     map[string]bool
	parsing  []time.Duration
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(site))
	c := &crawler{base: "http://" + listener.Addr().String(), frontier: make(chan string, 10*pageLimit), seen: map[string]bool{}}
	rec.Start()
	begin := time.Now()
	c.crawl("/page/0")
	total := time.Since(begin)
	rec.Stop()
	slices.Sort(c.parsing)
	n := len(c.parsing)
	fmt.Fprintf(os.Stderr, "proof: %d pages in %v, asked for one every %v; parsing p50 %v, p99 %v\n", n,
		total.Round(time.Millisecond), interval, c.parsing[n/2], c.parsing[n*99/100])
}

// site stands in for the crawled site.
func site(w http.ResponseWriter, r *http.Request) {
	time.Sleep(10 * time.Millisecond)
	var id int
	fmt.Sscanf(r.URL.Path, "/page/%d", &id)
	for i := 1; i <= 3; i++ {
		fmt.Fprintf(w, "<p>An article of some length about one thing or another.</p><a href=\"/page/%d\">more</a>\n", 3*id+i)
	}
}

func (c *crawler) crawl(start string) {
	c.frontier <- start
	limit := time.NewTicker(interval)
	defer limit.Stop()
	var open sync.WaitGroup
	for range pageLimit {
		<-limit.C
		path := <-c.frontier
		open.Go(func() { c.visit(path) })
	}
	open.Wait()
}

func (c *crawler) visit(path string) {
	resp, err := http.Get(c.base + path)
	check(err)
	page, err := io.ReadAll(resp.Body)
	check(err)
	resp.Body.Close()
	begin := time.Now()
	links := link.FindAllSubmatch(page, -1)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range links {
		if next := string(l[1]); !c.seen[next] {
			c.seen[next] = true
			c.frontier <- next
		}
	}
	c.parsing = append(c.parsing, time.Since(begin))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

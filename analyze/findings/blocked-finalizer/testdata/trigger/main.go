// Trigger has connections closed by their finalizers, each of which waits 3 ms for
// those at the other end to notice. Near-miss closes them at once.
//
//gmpscope:case procs=2 go=go1.26.8 want=blocked-finalizer may=stop-the-world-calls
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want= may=stop-the-world-calls
package main

import (
	"runtime"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type conn struct{ buf []byte }

func main() {
	wait := 3 * time.Millisecond
	if rec.Case() == "near-miss" {
		wait = 0
	}
	rec.Start()
	for range 5 {
		for range 5 {
			c := &conn{make([]byte, 16<<10)}
			runtime.SetFinalizer(c, func(c *conn) { c.shut(wait) })
			rec.Work(100)
		}
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	rec.Stop()
}

var closed [][]byte

func (c *conn) shut(linger time.Duration) {
	if linger > 0 {
		time.Sleep(linger)
	}
	closed = append(closed[:0], c.buf)
}

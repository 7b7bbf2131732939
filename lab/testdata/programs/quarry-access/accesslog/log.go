// Package accesslog writes a line for each request to a pipe.
package accesslog

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A Log has one writer at a time.
type Log struct {
	Lost  atomic.Int64
	mu    sync.Mutex
	w     io.Writer
	lines chan string // nil: lines are written at once
}

// New returns a log that keeps so many lines if the pipe takes none, and
// loses the others; 0: it has everybody wait.
func New(w io.Writer, lines int) *Log {
	l := &Log{w: w}
	if lines > 0 {
		l.lines = make(chan string, lines)
		go l.run()
	}
	return l
}

func (l *Log) Print(path string, took time.Duration) {
	line := fmt.Sprintf("%s GET %-900s %v\n", time.Now().Format(time.RFC3339Nano), path, took)
	if l.lines == nil {
		l.write(line)
		return
	}
	select {
	case l.lines <- line:
	default:
		l.Lost.Add(1)
	}
}

func (l *Log) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	io.WriteString(l.w, line)
}

func (l *Log) run() {
	for line := range l.lines {
		l.write(line)
	}
}

// Package files handles the files that a user names. A context ends the wait for
// a named pipe; an output appears under its name only when it is complete; and an
// ID tells whether two names mean one file.
package files

import (
	"context"
	"os"
	"time"
)

// A File is open for reading until its context ends.
type File struct {
	*os.File
	stop func() bool
}

// Open opens a file for reading. Opening a named pipe waits for a writer, and
// reading one waits for what is written: the end of the context ends both.
func Open(ctx context.Context, name string) (*File, error) {
	f, err := open(ctx, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	// A regular file knows no deadline and needs none.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	return &File{File: f, stop: stop}, nil
}

// Close closes the file.
func (f *File) Close() error {
	f.stop()
	return f.File.Close()
}

// open is os.OpenFile until the context ends. Nothing can cancel the system call
// that waits for the other end of a named pipe, so it has a goroutine of its own,
// which may stay behind.
func open(ctx context.Context, name string, flag int) (*os.File, error) {
	if ctx.Done() == nil {
		return os.OpenFile(name, flag, 0)
	}
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := os.OpenFile(name, flag, 0)
		opened <- result{f, err}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				r.f.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

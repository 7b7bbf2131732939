// Package files handles the files that a user names. A context ends the wait for
// a named pipe; an output appears under its name only when it is complete; an ID tells
// whether two names mean one file; and a Guard keeps what is read from being written.
//
// Whatever a command reads is opened here, so that the guard of its context knows it.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A File is open for reading until its context ends.
type File struct {
	*os.File
	stop func() bool
}

// Open opens an input. Opening a named pipe waits for a writer, and
// reading one waits for what is written: the end of the context ends both.
func Open(ctx context.Context, name string) (*File, error) {
	f, err := open(ctx, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return claimed(ctx, name, f)
}

// ErrSpecial is the error for a file that must be a regular one and is none.
var ErrSpecial = errors.New("is no regular file")

// Regular opens an input that must be a regular file, through links. It does not wait for a
// named pipe, nor touch a device, whatever takes the file's place meanwhile.
func Regular(ctx context.Context, name string) (*File, error) {
	f, err := regular(name, os.Stat)
	if err != nil {
		return nil, err
	}
	return claimed(ctx, name, f)
}

// claimed declares to the guard what is open.
func claimed(ctx context.Context, name string, f *os.File) (*File, error) {
	if err := guardOf(ctx).Reads("the input "+name, Opened(f)); err != nil {
		f.Close()
		return nil, err
	}
	// A regular file knows no deadline and needs none.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	return &File{File: f, stop: stop}, nil
}

// Peek returns the beginning of a regular file, at most n bytes, to see what it is. That alone
// makes it no input.
func Peek(name string, n int) ([]byte, error) {
	f, err := regular(name, os.Stat)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(n)))
}

func regular(name string, stat func(string) (fs.FileInfo, error)) (*os.File, error) {
	want, err := stat(name)
	if err != nil {
		return nil, err
	}
	if !want.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, ErrSpecial)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if got, err := f.Stat(); err != nil || !os.SameFile(want, got) {
		f.Close()
		return nil, fmt.Errorf("%s: another file took its place", name)
	}
	return f, nil
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

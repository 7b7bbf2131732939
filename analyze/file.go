package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// File analyses the trace with the given name: a path, an http or https URL such as that
// of net/http/pprof, or "-" for standard input. It may be compressed with gzip or zstd.
// The result is that of [Run].
func File(ctx context.Context, name string, o Options) (*Result, error) {
	return open(ctx, name, o, input.Options{})
}

// Reader analyses the trace that r gives, compressed or not. The result and errors refer
// to it by name. The result is that of [Run], except that an error of r other than io.EOF
// and io.ErrUnexpectedEOF is returned, wrapped, and then there is no result, unless
// o.Partial is set: half of what a client sent is not what it asked about.
func Reader(ctx context.Context, r io.Reader, name string, o Options) (*Result, error) {
	watched := &watchedReader{r: input.Careful(r)}
	res, err := open(ctx, "-", o, input.Options{Stdin: watched, StdinName: name})
	broken := watched.err.Load()
	if broken == nil || o.Partial || ctx.Err() != nil || errors.Is(err, *broken) {
		return res, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, *broken)
	}
	return nil, fmt.Errorf("reading %s: %w", name, *broken)
}

// watchedReader notes the error with which a reader broke off.
type watchedReader struct {
	r   io.Reader
	err atomic.Pointer[error]
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		w.err.Store(&err)
	}
	return n, err
}

func open(ctx context.Context, name string, o Options, in input.Options) (*Result, error) {
	if o.MaxMemory != 0 && o.MaxMemory < MinMemory {
		return nil, fmt.Errorf("MaxMemory %d: must be 0, for no limit, or %d and more", o.MaxMemory, MinMemory)
	}
	in.MaxMemory = o.MaxMemory
	src, err := input.Open(ctx, name, in)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return Run(ctx, src, o)
}

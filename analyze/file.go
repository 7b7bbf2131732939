package analyze

import (
	"context"
	"io"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// File analyses the trace with the given name, a path or an http or https URL such
// as that of net/http/pprof. It may be compressed with gzip or zstd. What it returns
// is as that of [Run].
func File(ctx context.Context, name string, o Options) (*Result, error) {
	return open(ctx, name, o, input.Options{})
}

// Reader analyses the trace that r gives, compressed or not. The name is what the
// result and errors call it. What it returns is as that of [Run].
func Reader(ctx context.Context, r io.Reader, name string, o Options) (*Result, error) {
	return open(ctx, "-", o, input.Options{Stdin: r, StdinName: name})
}

func open(ctx context.Context, name string, o Options, in input.Options) (*Result, error) {
	in.MaxMemory = o.MaxMemory
	src, err := input.Open(ctx, name, in)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return Run(ctx, src, o)
}

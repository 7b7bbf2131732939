package files

import (
	"context"
	"io"
	"os"
)

// pieceSize is how many bytes are read or written at once, without a look at the context.
const pieceSize = 256 << 10

// until is a writer that heeds a context.
type until struct {
	ctx   context.Context
	w     io.Writer
	waits bool // for a reader, perhaps
	piece []byte
}

// Reader returns a reader of r that fails once the context is done, with its cause. A blocked read
// cannot be cancelled, so a goroutine of its own reads ahead, and stays behind until its read returns.
func Reader(ctx context.Context, r io.Reader) io.ReadCloser {
	if ctx.Done() == nil {
		return io.NopCloser(r)
	}
	pr, pw := io.Pipe()
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{pw}, struct{ io.Reader }{r}, make([]byte, pieceSize))
		pw.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })
	return &readUntil{pr, stop}
}

type readUntil struct {
	*io.PipeReader
	stop func() bool
}

func (r *readUntil) Close() error {
	r.stop()
	return r.PipeReader.Close()
}

// Writer returns a writer to w that fails once the context is done, with its cause, also while
// it waits for the reader of a pipe. An empty Write asks whether it would.
func Writer(ctx context.Context, w io.Writer) io.Writer {
	if ctx.Done() == nil {
		return w
	}
	f, _ := w.(*os.File)
	if o, ok := w.(*Output); ok {
		f = o.file
	}
	u := &until{ctx: ctx, w: w}
	if f != nil {
		st, err := f.Stat()
		u.waits = err == nil && !st.Mode().IsRegular()
	}
	return u
}

func (u *until) Write(p []byte) (n int, err error) {
	for {
		if u.ctx.Err() != nil {
			return n, context.Cause(u.ctx)
		}
		if n == len(p) {
			return n, nil
		}
		m, err := u.write(p[n:min(n+pieceSize, len(p))])
		n += m
		if err != nil {
			return n, err
		}
	}
}

// write writes a piece. Nothing can cancel the system call that waits for a reader, so it has
// a goroutine of its own, and bytes of its own, because it may stay behind.
func (u *until) write(p []byte) (int, error) {
	if !u.waits {
		return u.w.Write(p)
	}
	type result struct {
		n   int
		err error
	}
	u.piece = append(u.piece[:0], p...)
	written := make(chan result, 1)
	go func() {
		n, err := u.w.Write(u.piece)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-u.ctx.Done():
		return 0, context.Cause(u.ctx)
	}
}

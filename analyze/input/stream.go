package input

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gmpscope/gmpscope/internal/files"
)

// bufferSize is that of the uncompressed stream: a window can be looked at from each position of
// another one before the bytes have to be moved.
const bufferSize = 2 * windowSize

// progressStep is the number of bytes between two calls of Options.Progress.
const progressStep = 256 << 10

// meter counts the bytes of the input as stored, reports progress, and ends when the context does.
type meter struct {
	r        io.Reader
	ctx      context.Context
	n        int64
	total    int64 // 0 if unknown
	err      error
	progress func(read, total int64)
	reported int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	if m.ctx.Err() != nil {
		m.err = context.Cause(m.ctx)
		return 0, m.err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && m.ctx.Err() != nil {
		err = context.Cause(m.ctx) // the read was ended
	}
	m.err = err
	if m.progress != nil && (m.n-m.reported >= progressStep || err != nil && m.n > m.reported) {
		m.reported = m.n
		m.progress(m.n, m.total)
	}
	return n, err
}

// latch makes the first error last: bufio.Reader forgets errors, and a decompressor need not
// repeat them.
type latch struct {
	r    io.Reader
	err  error
	tail bool      // the compressed data was followed by something else
	copy io.Writer // gets all that is read; nil for nobody
}

func (l *latch) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	l.tee(p[:n])
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch) {
		// The first header was right: this is what stands behind the first stream.
		l.tail, err = true, io.EOF
	}
	l.err = err
	return n, err
}

func (l *latch) tee(p []byte) {
	if l.copy != nil {
		l.copy.Write(p)
	}
}

// broken returns the error that ended the stream, nil if it has not ended or properly.
func (l *latch) broken() error { return unlessEOF(l.err) }

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// settle lets the stream count as ended properly, once its error has been dealt with.
func (l *latch) settle() { l.err = io.EOF }

// decompress sets up the uncompressed stream.
func (s *Source) decompress() error {
	s.stream = &latch{r: s.in}
	plain := bufio.NewReaderSize(s.stream, bufferSize)
	s.plain, s.br = plain, plain
	unpacked, how, err := files.Unpacker(plain)
	s.header.Compression = how
	switch {
	case err != nil:
		return err
	case how == "":
		s.stream.copy = s.copy
		p, _ := plain.Peek(plain.Buffered())
		s.stream.tee(p)
		return nil
	}
	s.closers = append(s.closers, unpacked)
	s.stream = &latch{r: unpacked, copy: s.copy}
	s.br = bufio.NewReaderSize(s.stream, bufferSize)
	return nil
}

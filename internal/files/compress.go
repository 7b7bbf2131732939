package files

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// zstdWindow bounds the memory that a zstd frame may ask for: what "zstd --long" needs.
const zstdWindow = 128 << 20

// Compression returns how data that begins so are compressed: "gzip", "zstd" or "".
func Compression(start []byte) string {
	switch s := string(start[:min(4, len(start))]); {
	case strings.HasPrefix(s, "\x1f\x8b\x08"):
		return "gzip"
	case s == "\x28\xb5\x2f\xfd", len(s) == 4 && s[0]&0xf0 == 0x50 && s[1:] == "\x2a\x4d\x18": // or a frame to be skipped
		return "zstd"
	}
	return ""
}

// Unpacker returns what r holds, uncompressed, and its [Compression]; if that is "", r is to be read
// itself.
func Unpacker(r *bufio.Reader) (io.ReadCloser, string, error) {
	p, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	switch c := Compression(p); c {
	case "gzip":
		z, err := gzip.NewReader(r)
		return io.NopCloser(z), c, err
	case "zstd":
		// One goroutine: who reads a trace decodes beside it.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, c, err
		}
		return z.IOReadCloser(), c, nil
	}
	return nil, "", nil
}

// Packer returns what writes to w as the name of the file asks for: compressed by zstd if
// it ends in .zst, by gzip if it ends in .gz, else as it is. Close ends the compression,
// and leaves w open.
func Packer(w io.Writer, name string) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(name, ".zst"):
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewWriter(w), nil
	}
	return plain{w}, nil
}

// plain is a writer that needs no end.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

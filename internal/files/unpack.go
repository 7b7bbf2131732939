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

// Unpacker returns what r holds, uncompressed, and how it is compressed, as its first bytes show:
// "gzip", "zstd", or "": then r is to be read itself.
func Unpacker(r *bufio.Reader) (io.ReadCloser, string, error) {
	p, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	switch s := string(p); {
	case strings.HasPrefix(s, "\x1f\x8b\x08"):
		z, err := gzip.NewReader(r)
		return io.NopCloser(z), "gzip", err
	case s == "\x28\xb5\x2f\xfd", len(s) == 4 && s[0]&0xf0 == 0x50 && s[1:] == "\x2a\x4d\x18": // or a frame to be skipped
		// One goroutine: who reads a trace decodes beside it.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, "zstd", err
		}
		return z.IOReadCloser(), "zstd", nil
	}
	return nil, "", nil
}

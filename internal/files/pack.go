package files

import (
	"compress/gzip"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

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

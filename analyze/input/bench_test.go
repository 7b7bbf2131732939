package input

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// big is a trace of about 256 MiB in generations of 32 MiB.
func big() []byte {
	f := newFile(26)
	data := bytes.Repeat([]byte{wire.Strings + 10, 1, 2, 3}, 15<<10)
	for gen := uint64(1); gen <= 8; gen++ {
		f.batch(gen, 1<<64-1, gen, []byte{wire.Sync, 1})
		for i := range 32 << 20 / len(data) {
			f.batch(gen, uint64(i%16), gen, data)
			for range 3 { // the last batches of threads are small
				f.batch(gen, uint64(i%16), gen, data[:300])
			}
		}
		f.b = append(f.b, wire.EndOfGeneration)
	}
	return f.b
}

func split(b *testing.B, s *Source, err error) {
	if err != nil {
		b.Fatal(err)
	}
	for {
		if _, err = s.Next(); err != nil {
			break
		}
	}
	if !errors.Is(err, io.EOF) || s.Stats().LossCount != 0 {
		b.Fatal(err, s.Stats())
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSplit(b *testing.B) {
	data := big()
	path := filepath.Join(b.TempDir(), "trace")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("file", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			s, err := Open(b.Context(), path, Options{})
			split(b, s, err)
		}
	})
	b.Run("reader", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			s, err := New(bytes.NewReader(data), "memory")
			split(b, s, err)
		}
	})
	if files := traceFiles(b); len(files) > 0 {
		plain := tracetest.Unpacked(b, files[0])
		for _, f := range files {
			if p := tracetest.Unpacked(b, f); len(p) > len(plain) {
				plain = p
			}
		}
		for name, packed := range map[string][]byte{"gzip": gzipped(b, plain), "zstd": zstded(b, plain)} {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(plain)))
				for b.Loop() {
					s, err := New(bytes.NewReader(packed), "memory")
					split(b, s, err)
				}
			})
		}
	}
}

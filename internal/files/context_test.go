package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
)

// cancelling cancels a context with the nth write.
type cancelling struct {
	bytes.Buffer
	nth    int
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	if c.nth--; c.nth == 0 {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// TestWriter: once the context is done, no more than a piece is written, and an empty write
// says so.
func TestWriter(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 5*pieceSize/16)
	for nth := range 7 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		to := &cancelling{nth: nth, cancel: cancel}
		w := Writer(ctx, to)
		if _, err := w.Write(nil); err != nil {
			t.Error(err)
		}
		n, err := w.Write(data)
		want, cancelled := len(data), nth > 0 && nth <= 5
		if cancelled {
			want = nth * pieceSize
		}
		if failed := errors.Is(err, context.Canceled); n != want || failed != cancelled || !bytes.Equal(to.Bytes(), data[:n]) {
			t.Errorf("cancelled by write %d: %d bytes of %d, %v", nth, n, want, err)
		}
		if _, err := w.Write(nil); errors.Is(err, context.Canceled) != cancelled {
			t.Errorf("an empty write: %v", err)
		}
	}
}

// TestWriterPipe ends the wait for the reader of a pipe.
func TestWriterPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if _, err := io.ReadFull(r, make([]byte, 1)); err != nil { // so the write has begun
			t.Error(err)
		}
		cancel()
	}()
	if _, err := Writer(ctx, w).Write(make([]byte, 16<<20)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

package files

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestPacker(t *testing.T) {
	const text = "what is in the file"
	for name, unpack := range map[string]func(io.Reader) (io.Reader, error){
		"x.txt": func(r io.Reader) (io.Reader, error) { return r, nil },
		"x.gz":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"x.zst": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		var b bytes.Buffer
		w, err := Packer(&b, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := unpack(&b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

package echarts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Nothing but the pinned bytes is taken for ECharts, whatever was built in.
func TestPinned(t *testing.T) {
	if pinned([]byte("alert(1)")) || pinned(nil) {
		t.Error("another script has the pinned hash")
	}
	archive := func(name, text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	other := archive(scriptPath, "alert(1)")
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"another script":  {other, "not the pinned one"},
		"no script":       {archive("package/other.js", "alert(1)"), "not in the package"},
		"a script beside": {archive("../"+scriptPath, "alert(1)"), "not in the package"},
		"no archive":      {[]byte("alert(1)"), "EOF"},
	} {
		if js, err := extract(tt.archive); err == nil || js != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %d bytes, %v", name, len(js), err)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(other) }))
	defer srv.Close()
	if js, err := fetch(t.Context(), Options{Registry: srv.URL}); err == nil || js != nil || !strings.Contains(err.Error(), "hash is sha512-") {
		t.Errorf("another package is taken: %d bytes, %v", len(js), err)
	}
}

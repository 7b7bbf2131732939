package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFetch(t *testing.T) {
	var archive bytes.Buffer
	zw := gzip.NewWriter(&archive)
	tw := tar.NewWriter(zw)
	tw.WriteHeader(&tar.Header{Name: "package", Typeflag: tar.TypeDir, Mode: 0o755})
	for _, f := range [][2]string{{"package/LICENSE", "free"}, {"package/dist/a.js", "alert(1)"}} {
		tw.WriteHeader(&tar.Header{Name: f[0], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f[1]))})
		tw.Write([]byte(f[1]))
	}
	tw.Close()
	zw.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a/-/a-1.2.3.tgz" {
			http.NotFound(w, r)
			return
		}
		w.Write(archive.Bytes())
	}))
	defer srv.Close()

	sum := sha512.Sum512(archive.Bytes())
	good := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	for _, test := range []struct {
		pkg  Package
		fail string
	}{
		{Package{"a", "1.2.3", good}, ""},
		{Package{"a", "1.2.3", "sha512-x"}, "hash is"},
		{Package{"b", "1.2.3", good}, "404"},
	} {
		got, err := test.pkg.Fetch(t.Context(), nil, srv.URL+"/")
		if test.fail != "" {
			if err == nil || !strings.Contains(err.Error(), test.fail) || got != nil {
				t.Errorf("%v: %d bytes, %v; want none, and %q", test.pkg, len(got), err, test.fail)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err := File(got, "package/dist/a.js"); err != nil || string(b) != "alert(1)" {
			t.Errorf("the script is %q, %v", b, err)
		}
		if b, err := File(got, "package/b.js"); err == nil {
			t.Errorf("a file that is not there is %q", b)
		}
		if _, err := File(got[:len(got)/2], "package/dist/a.js"); err == nil {
			t.Error("half an archive is no error")
		}
	}
}

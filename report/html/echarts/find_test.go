package echarts

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindRefusesWhatIsNotPinned(t *testing.T) {
	if _, ok := Embedded(); ok {
		t.Skip("this build has ECharts embedded")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, cacheName), []byte("alert(1)"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(context.Background(), Options{CacheDir: dir, NoFetch: true}); err == nil {
		t.Errorf("a wrong file in the cache was taken: %v", err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("not the package")) }))
	defer srv.Close()
	_, err := Find(context.Background(), Options{CacheDir: dir, Registry: srv.URL})
	if err == nil || !strings.Contains(err.Error(), "hash is") {
		t.Errorf("a wrong package was taken: %v", err)
	}
	no := errors.New("no")
	_, err = Find(context.Background(), Options{CacheDir: dir, Registry: srv.URL, Announce: func(string) error { return no }})
	if !errors.Is(err, no) {
		t.Errorf("refusal ignored: %v", err)
	}
}

func TestEmbeddedFitsIntoAPage(t *testing.T) {
	js, ok := Embedded()
	if !ok {
		t.Skip("this build has no ECharts embedded")
	}
	for _, bad := range []string{"</script", "<!--", "<script"} {
		if bytes.Contains(bytes.ToLower(js), []byte(bad)) {
			t.Errorf("the bundle holds %q", bad)
		}
	}
	for _, want := range []string{"The Apache Software Foundation", "ZRender", "Mike Bostock", "Microsoft"} {
		if !bytes.Contains(js, []byte(want)) {
			t.Errorf("the bundle lacks the notice of %q", want)
		}
	}
}

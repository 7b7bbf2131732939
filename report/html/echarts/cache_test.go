package echarts

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unbuilt skips a test of what is not reached where ECharts was built in.
func unbuilt(t *testing.T) {
	t.Helper()
	if _, ok := Embedded(); ok {
		t.Skip("this build has ECharts embedded")
	}
}

// A fetch that failed is not tried again for a day, by the clock that is given.
func TestFailedFetch(t *testing.T) {
	unbuilt(t)
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, failedName)
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		what    string
		prepare func() error
		at      time.Duration
		tries   bool
	}{
		{"first", nil, 0, true},
		{"at once", nil, 0, false},
		{"in the evening", nil, 10 * time.Hour, false},
		{"just before a day is over", nil, 24*time.Hour - time.Second, false},
		{"after a day", nil, 24 * time.Hour, true},
		{"and then", nil, 25 * time.Hour, false},
		{"the clock was set back", nil, 0, true},
		{"from then on", nil, time.Hour, false},
		{"the file was removed", func() error { return os.Remove(file) }, 2 * time.Hour, true},
		{"the file is damaged", func() error { return os.WriteFile(file, []byte("yesterday"), 0o600) }, 2 * time.Hour, true},
		{"the file is empty", func() error { return os.Truncate(file, 0) }, 2 * time.Hour, true},
		{"the file is large", func() error { return os.Truncate(file, 1<<36) }, 2 * time.Hour, true},
	} {
		if c.prepare != nil {
			if err := c.prepare(); err != nil {
				t.Fatal(err)
			}
		}
		asked = 0
		announced := false
		_, err := Find(t.Context(), Options{
			CacheDir: dir, Registry: srv.URL, Now: func() time.Time { return start.Add(c.at) },
			Announce: func(string) error { announced = true; return nil },
		})
		if err == nil || errors.Is(err, ErrFailedLately) == c.tries || (asked == 1) != c.tries || announced != c.tries {
			t.Errorf("%s: asked %d times, announced: %v; %v", c.what, asked, announced, err)
		}
		if !strings.Contains(err.Error(), "remove "+file) {
			t.Errorf("%s: %v does not name the file", c.what, err)
		}
	}
	// Where nothing can be remembered, the error does not say that it is.
	notDir := filepath.Join(dir, "file")
	if err := os.WriteFile(notDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		asked = 0
		if _, err := Find(t.Context(), Options{CacheDir: notDir, Registry: srv.URL, Now: time.Now}); asked != 1 || err == nil || strings.Contains(err.Error(), "not tried again") {
			t.Errorf("asked %d times: %v", asked, err)
		}
	}
}

// A registry that does not answer costs no more than the time for it; that the
// user had enough is no failure of the registry.
func TestSilentRegistry(t *testing.T) {
	unbuilt(t)
	arrived := make(chan bool, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-r.Context().Done()
	}))
	defer srv.Close()
	dir := t.TempDir()
	o := Options{CacheDir: dir, Registry: srv.URL, Now: time.Now}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	o.silent = time.Hour
	if _, err := Find(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, failedName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is remembered: %v", err)
	}
	o.silent = time.Millisecond
	if _, err := Find(t.Context(), o); err == nil || !strings.Contains(err.Error(), "nothing came from the registry for 1ms; not tried again for a day") {
		t.Error(err)
	}
	if _, err := Find(t.Context(), o); !errors.Is(err, ErrFailedLately) {
		t.Error(err)
	}
}

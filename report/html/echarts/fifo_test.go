//go:build unix

package echarts

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/internal/files"
)

// A named pipe in the cache's place, to which nobody writes, is not waited for.
func TestPipeInCache(t *testing.T) {
	unbuilt(t)
	dir := t.TempDir()
	for _, name := range []string{cacheName, failedName} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if _, err := Find(t.Context(), Options{CacheDir: dir, NoFetch: true}); err == nil {
		t.Error("a pipe was read")
	}
	if failedLately(t.Context(), files.Cache(dir), time.Now()) {
		t.Error("a pipe says when a fetch failed")
	}
}

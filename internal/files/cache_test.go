package files

import (
	"os"
	"path/filepath"
	"testing"
)

// Only a regular file of the limit's size, or less, is read.
func TestCacheGet(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int64{"good": 10, "full": 1000, "huge": 1 << 36} {
		if err := os.WriteFile(path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path(name), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path("good"), path("link")); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]int{"good": 10, "full": 1000, "huge": -1, "folder": -1, "link": -1, "none": -1} {
		b, err := Cache(dir).Get(t.Context(), name, 1000)
		if err == nil != (want >= 0) || len(b) != max(want, 0) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// What is put into the cache replaces what stands there and follows no link.
func TestCachePut(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(dir, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, filepath.Join(cache, "entry")); err != nil {
		t.Skip(err)
	}
	if err := Cache(cache).Put(t.Context(), "entry", []byte("new")); err != nil {
		t.Error(err)
	}
	if b, err := Cache(cache).Get(t.Context(), "entry", 3); err != nil || string(b) != "new" {
		t.Errorf("the cache has %q, %v", b, err)
	}
	if b, err := os.ReadFile(mine); err != nil || string(b) != "precious" {
		t.Errorf("the link led to %q, %v", b, err)
	}
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "entry"), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cache, name string }{{filepath.Join(dir, "linked"), "entry"}, {dir, "linked/entry"}} {
		if Cache(c.cache).Put(t.Context(), c.name, []byte("new")) == nil {
			t.Errorf("%v: a folder elsewhere was written to", c)
		}
	}
	if b, err := os.ReadFile(filepath.Join(elsewhere, "entry")); err != nil || string(b) != "precious" {
		t.Errorf("the link led to %q, %v", b, err)
	}
	if err := os.Mkdir(filepath.Join(cache, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if Cache(cache).Put(t.Context(), "folder", nil) == nil || Cache(mine).Put(t.Context(), "entry", nil) == nil {
		t.Error("what cannot be kept is")
	}
	if files, err := os.ReadDir(cache); err != nil || len(files) != 2 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

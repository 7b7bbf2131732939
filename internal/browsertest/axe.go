//go:build browser

package browsertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/report/html/echarts/npm"
)

// axeCore judges accessibility. It is third-party code (MPL 2.0) that only the
// tests run: it comes from the npm registry into the user's cache, and is
// neither committed nor part of a report.
var axeCore = npm.Package{
	Name: "axe-core", Version: "4.14.1",
	Integrity: "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
}

// Axe returns the source of axe-core. Where it cannot be had the test is
// skipped, but with CI=true it fails.
func Axe(t testing.TB) string {
	t.Helper()
	archive, err := cached(t.Context(), axeCore)
	if err == nil {
		var js []byte
		if js, err = npm.File(archive, "package/axe.min.js"); err == nil {
			return string(js)
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// cached is the archive of p from the user's cache, or fetched into it. It is
// verified each time.
func cached(ctx context.Context, p npm.Package) ([]byte, error) {
	file := ""
	if dir, err := os.UserCacheDir(); err == nil {
		file = filepath.Join(dir, "gmpscope", p.Name+"-"+p.Version+".tgz")
		if b, err := os.ReadFile(file); err == nil && p.Verify(b) == nil {
			return b, nil
		}
	}
	b, err := p.Fetch(ctx, nil, npm.Registry(ctx))
	if err != nil {
		return nil, err
	}
	if file != "" && os.MkdirAll(filepath.Dir(file), 0o755) == nil {
		if tmp := file + ".tmp"; os.WriteFile(tmp, b, 0o644) == nil {
			os.Rename(tmp, file) // without a cache it is fetched again
		}
	}
	return b, nil
}

//go:build browser

package browsertest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// axe-core judges accessibility. It is third-party code (MPL 2.0) that only the
// tests run: it comes from the npm registry, pinned by the hash of its archive,
// into the user's cache, and is neither committed nor part of a report.
const (
	axeVersion   = "4.14.1"
	axeIntegrity = "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
	axeScript    = "package/axe.min.js"
	maxArchive   = 64 << 20
)

// Axe returns the source of axe-core. Where it cannot be had the test is
// skipped, but with CI=true it fails.
func Axe(t testing.TB) string {
	t.Helper()
	js, err := axe(t.Context())
	switch {
	case err == nil:
		return js
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// axe takes the script out of the archive, which is verified each time.
func axe(ctx context.Context) (string, error) {
	name := "axe-core-" + axeVersion + ".tgz"
	file := ""
	if dir, err := os.UserCacheDir(); err == nil {
		file = filepath.Join(dir, "gmpscope", name)
		if b, err := os.ReadFile(file); err == nil && pinned(b) == nil {
			return fromArchive(b)
		}
	}
	b, err := get(ctx, registry(ctx)+"/axe-core/-/"+name)
	if err != nil {
		return "", fmt.Errorf("axe-core: %w", err)
	}
	if err := pinned(b); err != nil {
		return "", fmt.Errorf("axe-core: %w", err)
	}
	if file != "" && os.MkdirAll(filepath.Dir(file), 0o755) == nil {
		if tmp := file + ".tmp"; os.WriteFile(tmp, b, 0o644) == nil {
			os.Rename(tmp, file) // without a cache it is fetched again
		}
	}
	return fromArchive(b)
}

func pinned(archive []byte) error {
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != axeIntegrity {
		return fmt.Errorf("hash is %s, want %s", got, axeIntegrity)
	}
	return nil
}

// registry is the address of the npm registry to use.
func registry(ctx context.Context) string {
	for _, s := range []string{os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY")} {
		if s != "" {
			return strings.TrimRight(s, "/")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if b, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output(); err == nil {
		if s := strings.TrimSpace(string(b)); strings.HasPrefix(s, "http") {
			return strings.TrimRight(s, "/")
		}
	}
	return "https://registry.npmjs.org"
}

func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxArchive))
}

func fromArchive(b []byte) (string, error) {
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return "", err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err != nil {
			return "", fmt.Errorf("%s: %w", axeScript, err)
		}
		if h.Name == axeScript {
			js, err := io.ReadAll(io.LimitReader(tr, maxArchive))
			return string(js), err
		}
	}
}

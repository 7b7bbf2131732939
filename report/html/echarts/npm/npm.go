// Package npm gets packages of the npm registry that are pinned by the hash of
// their archive, without Node or npm.
package npm

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
	"strings"
	"time"
)

// Default is the address of npm's own registry.
const Default = "https://registry.npmjs.org"

// MaxBytes is the largest size of an archive, and of a file in it, in bytes.
const MaxBytes = 64 << 20

// Package is a package pinned to what it held when it was chosen.
type Package struct {
	Name, Version string
	Integrity     string // of the archive, as the registry gives it: "sha512-" and base64
}

// URL returns the address of the package's archive in a registry.
func (p Package) URL(registry string) string {
	return fmt.Sprintf("%s/%s/-/%s-%s.tgz", strings.TrimRight(registry, "/"), p.Name, p.Name, p.Version)
}

// Verify returns an error unless an archive has the hash that was pinned.
func (p Package) Verify(archive []byte) error {
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != p.Integrity {
		return fmt.Errorf("%s %s: hash is %s, want %s", p.Name, p.Version, got, p.Integrity)
	}
	return nil
}

// Fetch gets the archive from a registry, and verifies it. A nil client means http.DefaultClient.
func (p Package) Fetch(ctx context.Context, client *http.Client, registry string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	url := p.URL(registry)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	archive, err := io.ReadAll(io.LimitReader(resp.Body, MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if err := p.Verify(archive); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return archive, nil
}

// Registry returns the address of the registry that this machine is set up to use: that of
// npm_config_registry, else of "npm config get registry", else [Default].
func Registry(ctx context.Context) string {
	for _, s := range []string{os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY")} {
		if s != "" {
			return s
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if b, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output(); err == nil {
		if s := strings.TrimSpace(string(b)); strings.HasPrefix(s, "http") {
			return s
		}
	}
	return Default
}

// Files calls f with each regular file of an archive. The name is the path in
// it, as the archive has it. An error of f ends it, and is returned.
func Files(archive []byte, f func(name string, content []byte) error) error {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(tr, MaxBytes))
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		if err := f(h.Name, b); err != nil {
			return err
		}
	}
}

// File returns the content of the file with a name in an archive, as a registry has it.
func File(archive []byte, name string) ([]byte, error) {
	var content []byte
	found := false
	err := Files(archive, func(n string, b []byte) error {
		if n == name {
			content, found = b, true
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: not in the package", name)
	}
	return content, err
}

package echarts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The official build inside the package on the npm registry. Both the archive
// and the file in it are pinned.
const (
	defaultRegistry  = "https://registry.npmjs.org"
	archiveIntegrity = "sha512-q0yaFPggC9FUdsWH4blavRWFmxdrIodbkoKNAjJudAI6CA9gNPxHtV2RcZNEepZVlk4yvBYkOkbk6HIVpIyHZA=="
	archiveMaxBytes  = 32 << 20
	scriptPath       = "package/dist/echarts.min.js"
	scriptSHA256     = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"
	cacheName        = "echarts-" + Version + "-min.js"
)

// Origin says where a script came from.
type Origin string

// The origins, in the order in which Find tries them.
const (
	FromBuild   Origin = "embedded"
	FromCache   Origin = "cache"
	FromNetwork Origin = "fetched"
	FromNowhere Origin = "none"
)

// Options are the choices of Find.
type Options struct {
	// CacheDir is the folder of the cache. Empty means gmpscope in the user's
	// cache folder.
	CacheDir string
	// NoFetch forbids the network.
	NoFetch bool
	// Announce, if not nil, is called before a fetch, with the address. If it
	// returns an error there is no fetch, and that is the error of Find.
	Announce func(url string) error
	// Registry is the address of an npm registry; empty means npm's own.
	Registry string
	// Client does the fetch; nil means http.DefaultClient.
	Client *http.Client
}

// Find returns the source of ECharts: what the program was built with, else
// what the user's cache holds, else, once, what the npm registry holds. All is
// checked against pinned hashes. The error says why there is none; a report
// can be written without it.
func Find(ctx context.Context, o Options) (script []byte, from Origin, err error) {
	if js, ok := Embedded(); ok {
		return js, FromBuild, nil
	}
	dir := o.CacheDir
	if dir == "" {
		if d, err := os.UserCacheDir(); err == nil {
			dir = filepath.Join(d, "gmpscope")
		}
	}
	if dir != "" {
		if js, err := os.ReadFile(filepath.Join(dir, cacheName)); err == nil && pinned(js) {
			return js, FromCache, nil
		}
	}
	if o.NoFetch {
		return nil, FromNowhere, errors.New("echarts: neither embedded nor in the cache, and fetching is not allowed")
	}
	js, err := fetch(ctx, o)
	if err != nil {
		return nil, FromNowhere, fmt.Errorf("echarts: %w", err)
	}
	if dir != "" {
		keep(dir, js)
	}
	return js, FromNetwork, nil
}

func pinned(js []byte) bool {
	sum := sha256.Sum256(js)
	return hex.EncodeToString(sum[:]) == scriptSHA256
}

// keep puts the script into the cache. A cache that cannot be written to costs
// another fetch next time, and is no error.
func keep(dir string, js []byte) {
	if os.MkdirAll(dir, 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(dir, cacheName+".*")
	if err != nil {
		return
	}
	_, werr := f.Write(js)
	if cerr := f.Close(); werr != nil || cerr != nil || os.Rename(f.Name(), filepath.Join(dir, cacheName)) != nil {
		os.Remove(f.Name())
	}
}

// fetch gets the package from the registry and takes the script out of it.
func fetch(ctx context.Context, o Options) ([]byte, error) {
	registry := strings.TrimRight(o.Registry, "/")
	if registry == "" {
		registry = defaultRegistry
	}
	url := registry + "/echarts/-/echarts-" + Version + ".tgz"
	if o.Announce != nil {
		if err := o.Announce(url); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := o.Client
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
	archive, err := io.ReadAll(io.LimitReader(resp.Body, archiveMaxBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != archiveIntegrity {
		return nil, fmt.Errorf("%s: hash is %s, want %s", url, got, archiveIntegrity)
	}
	return extract(archive)
}

// extract takes the script out of the package.
func extract(archive []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", scriptPath, err)
		}
		if h.Name != scriptPath {
			continue
		}
		js, err := io.ReadAll(io.LimitReader(tr, archiveMaxBytes))
		if err != nil {
			return nil, err
		}
		if !pinned(js) {
			return nil, fmt.Errorf("%s: its hash is not the pinned one", scriptPath)
		}
		return js, nil
	}
}

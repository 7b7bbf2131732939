package echarts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/gmpscope/gmpscope/internal/npm"
)

// official is the package on the npm registry that holds the official build.
// Both the archive and the file in it are pinned.
var official = npm.Package{
	Name: "echarts", Version: Version,
	Integrity: "sha512-q0yaFPggC9FUdsWH4blavRWFmxdrIodbkoKNAjJudAI6CA9gNPxHtV2RcZNEepZVlk4yvBYkOkbk6HIVpIyHZA==",
}

const (
	scriptPath   = "package/dist/echarts.min.js"
	scriptSHA256 = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"
	cacheName    = "echarts-" + Version + "-min.js"
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
	registry := cmp.Or(o.Registry, npm.Default)
	if o.Announce != nil {
		if err := o.Announce(official.URL(registry)); err != nil {
			return nil, err
		}
	}
	archive, err := official.Fetch(ctx, o.Client, registry)
	if err != nil {
		return nil, err
	}
	return extract(archive)
}

// extract takes the script out of the package.
func extract(archive []byte) ([]byte, error) {
	js, err := npm.File(archive, scriptPath)
	if err != nil {
		return nil, err
	}
	if !pinned(js) {
		return nil, fmt.Errorf("%s: its hash is not the pinned one", scriptPath)
	}
	return js, nil
}

package echarts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/report/html/echarts/npm"
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
	scriptSize   = 1_121_883
	cacheName    = "echarts-" + Version + "-min.js"
)

const (
	// A report without ECharts is complete too, so a fetch ends when nothing came
	// for silentTime, and in any case after fetchTime.
	silentTime = 3 * time.Second
	fetchTime  = 30 * time.Second

	// failedName is a file in the cache that holds the time of a fetch that failed.
	failedName = "echarts-" + Version + ".failed"

	// retryAfter is how long there is no other fetch then.
	retryAfter = 24 * time.Hour
)

// ErrFailedLately is the error of Find if there was no fetch because one failed within the last day.
var ErrFailedLately = errors.New("not fetched: that failed within the last 24 hours")

// Options say where [Find] looks for ECharts, and whether it may use the network.
type Options struct {
	// CacheDir is the folder of the cache. Empty means gmpscope in the user's cache folder.
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
	// Now is the clock by which a fetch is not tried again for a day after one
	// failed. Nil means that failures are not remembered.
	Now func() time.Time

	silent time.Duration // for tests; 0 means silentTime
}

// Find returns the source of ECharts: what the program was built with, else what the user's cache holds,
// else, once, what the npm registry holds. All is checked against pinned hashes. The error says why there is
// none; a report can be written without it.
func Find(ctx context.Context, o Options) (script []byte, err error) {
	if js, ok := Embedded(); ok {
		return js, nil
	}
	dir := o.CacheDir
	if dir == "" {
		if d, err := os.UserCacheDir(); err == nil {
			dir = filepath.Join(d, "gmpscope")
		}
	}
	cache := files.Cache(dir)
	if dir != "" {
		if js, err := cache.Get(ctx, cacheName, scriptSize); err == nil && pinned(js) {
			return js, nil
		}
	}
	if o.NoFetch {
		return nil, errors.New("echarts: neither embedded nor in the cache, and fetching is not allowed")
	}
	remembers := dir != "" && o.Now != nil
	failed := filepath.Join(dir, failedName)
	if remembers && failedLately(ctx, cache, o.Now()) {
		return nil, fmt.Errorf("echarts: %w: remove %s to have it tried", ErrFailedLately, failed)
	}
	if o.Announce != nil {
		if err := o.Announce(official.URL(o.registry())); err != nil {
			return nil, fmt.Errorf("echarts: %w", err)
		}
	}
	js, err := fetch(ctx, o)
	switch {
	case err == nil && dir != "":
		_ = cache.Put(ctx, cacheName, js) // that costs another fetch next time
		os.Remove(failed)                 // if it is there
	case err != nil && ctx.Err() == nil && remembers && cache.Put(ctx, failedName, o.Now().UTC().AppendFormat(nil, time.RFC3339)) == nil:
		err = fmt.Errorf("%w; not tried again for a day, unless you remove %s", err, failed)
	}
	if err != nil {
		return nil, fmt.Errorf("echarts: %w", err)
	}
	return js, nil
}

// failedLately reports whether a fetch failed within the last day, by what the
// cache says. A time to come is none: a clock was wrong then, or is now.
func failedLately(ctx context.Context, cache files.Cache, now time.Time) bool {
	b, err := cache.Get(ctx, failedName, int64(len(time.RFC3339)))
	if err != nil {
		return false
	}
	at, err := time.Parse(time.RFC3339, string(b))
	return err == nil && !at.After(now) && now.Sub(at) < retryAfter
}

func pinned(js []byte) bool {
	sum := sha256.Sum256(js)
	return hex.EncodeToString(sum[:]) == scriptSHA256
}

func (o Options) registry() string { return cmp.Or(o.Registry, npm.Default) }

// fetch gets the package from the registry and takes the script out of it.
func fetch(ctx context.Context, o Options) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("the registry did not deliver it within %v", fetchTime))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silent := cmp.Or(o.silent, silentTime)
	dog := time.AfterFunc(silent, func() { end(fmt.Errorf("nothing came from the registry for %v", silent)) })
	defer dog.Stop()
	client := http.Client{}
	if o.Client != nil {
		client = *o.Client
	}
	client.Transport = heard{client.Transport, func() { dog.Reset(silent) }}
	archive, err := official.Fetch(ctx, &client, o.registry())
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return extract(archive)
}

// heard is a transport that calls each whenever something of a body came.
type heard struct {
	http.RoundTripper // nil means http.DefaultTransport
	each              func()
}

func (h heard) RoundTrip(req *http.Request) (*http.Response, error) {
	t := h.RoundTripper
	if t == nil {
		t = http.DefaultTransport
	}
	resp, err := t.RoundTrip(req)
	if err == nil {
		resp.Body = heardBody{resp.Body, h.each}
	}
	return resp, err
}

type heardBody struct {
	io.ReadCloser
	each func()
}

func (b heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.each()
	}
	return n, err
}

// extract extracts the script from the package.
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

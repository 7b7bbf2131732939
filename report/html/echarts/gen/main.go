// Command gen makes the ECharts bundle that the HTML report embeds: it fetches
// pinned packages from the npm registry, checks their hashes, and bundles what
// the report uses of them. Run it as
//
//	go -C report/html/echarts/gen run .
//
// It needs neither Node nor npm. A registry other than npm's own is taken from
// npm_config_registry or from `npm config get registry`. It is a module of its
// own, so that esbuild is no dependency of gmpscope.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

const defaultRegistry = "https://registry.npmjs.org"

// pkg is a package of the npm registry, pinned by the hash of its archive.
type pkg struct {
	name, version, integrity string
}

var pkgs = []pkg{
	{"echarts", "6.1.0", "sha512-q0yaFPggC9FUdsWH4blavRWFmxdrIodbkoKNAjJudAI6CA9gNPxHtV2RcZNEepZVlk4yvBYkOkbk6HIVpIyHZA=="},
	{"zrender", "6.1.0", "sha512-oEGMDB6pOP2S6OwRR4PdVv610zrjnA3Bh+JnSG12fYJlBKjtNAoEb5fSUoCOOINlH96I2fU38/A2UpRKs67xYQ=="},
	{"tslib", "2.3.0", "sha512-N82ooyxVNm6h1riLCoyS9e3fuJ3AMG2zIZs2Gd1ATcSFjSA23Q0fzjjZeh0jbJvWVDZ0cJT8yaNNaaXHzueNjg=="},
}

// entry names what the report uses of ECharts.
const entry = `
import * as core from 'echarts/core';
import { BarChart, LineChart, ScatterChart, HeatmapChart, CustomChart } from 'echarts/charts';
import {
  GridComponent, TooltipComponent, LegendComponent, TitleComponent, DataZoomComponent,
  VisualMapComponent, AxisPointerComponent, MarkLineComponent, MarkAreaComponent, AriaComponent,
} from 'echarts/components';
import { LegacyGridContainLabel } from 'echarts/features';
import { CanvasRenderer } from 'echarts/renderers';
core.use([BarChart, LineChart, ScatterChart, HeatmapChart, CustomChart, GridComponent, TooltipComponent,
  LegendComponent, TitleComponent, DataZoomComponent, VisualMapComponent, AxisPointerComponent,
  MarkLineComponent, MarkAreaComponent, AriaComponent, LegacyGridContainLabel, CanvasRenderer]);
export const { init, connect, disconnect, dispose, getInstanceByDom, format, time, graphic, version } = core;
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("gen", flag.ContinueOnError)
	out := fs.String("o", filepath.Join("..", "bundle", "echarts-"+pkgs[0].version+".bundle.js"), "write the bundle to `file`")
	force := fs.Bool("force", false, "make the bundle again even if it is there")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat(*out); err == nil && !*force {
		fmt.Fprintf(stdout, "%s is there already (-force makes it again)\n", *out)
		return nil
	}
	dir, err := os.MkdirTemp("", "gmpscope-echarts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	registry := registry(ctx)
	for _, p := range pkgs {
		archive, err := fetch(ctx, registry, p)
		if err != nil {
			return fmt.Errorf("%s %s: %w", p.name, p.version, err)
		}
		if err := unpack(archive, filepath.Join(dir, "node_modules", p.name)); err != nil {
			return fmt.Errorf("%s %s: %w", p.name, p.version, err)
		}
		fmt.Fprintf(stdout, "%s %s: %d bytes, hash as pinned\n", p.name, p.version, len(archive))
	}
	js, err := bundle(dir)
	if err != nil {
		return err
	}
	if err := write(*out, js); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d bytes, sha256 %x\n", *out, len(js), sha256.Sum256(js))
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
	return defaultRegistry
}

// fetch gets the archive of p and checks its hash.
func fetch(ctx context.Context, registry string, p pkg) ([]byte, error) {
	var last error
	for try := range 3 {
		if try > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(try) * 2 * time.Second):
			}
		}
		b, err := get(ctx, fmt.Sprintf("%s/%s/-/%s-%s.tgz", registry, p.name, p.name, p.version))
		if err != nil {
			last = err
			continue
		}
		sum := sha512.Sum512(b)
		if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != p.integrity {
			return nil, fmt.Errorf("hash is %s, want %s", got, p.integrity)
		}
		return b, nil
	}
	return nil, last
}

func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
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
	return io.ReadAll(io.LimitReader(resp.Body, 64<<20))
}

// unpack writes the regular files of an npm archive below dir.
func unpack(archive []byte, dir string) error {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, ok := strings.Cut(path.Clean(h.Name), "/") // all is below one folder
		if h.Typeflag != tar.TypeReg || !ok || !filepath.IsLocal(name) {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(tr, 64<<20))
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			return err
		}
	}
}

// bundle makes one script that defines the global echarts.
func bundle(dir string) ([]byte, error) {
	r := api.Build(api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: entry, ResolveDir: dir, Sourcefile: "entry.js"},
		AbsWorkingDir:     dir,
		Bundle:            true,
		Format:            api.FormatIIFE,
		GlobalName:        "echarts",
		Platform:          api.PlatformBrowser,
		Target:            api.ES2020,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsEndOfFile,
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`, "__DEV__": "false"},
		Charset:           api.CharsetASCII,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("esbuild: %s", r.Errors[0].Text)
	}
	js := r.OutputFiles[0].Contents
	return withLicences(dir, js)
}

// legal are the texts that have to go with the bundle.
var legal = []string{
	"echarts/NOTICE", "echarts/LICENSE", "echarts/licenses/LICENSE-d3", "zrender/LICENSE",
}

// withLicences puts a heading before the bundle and the licences behind it.
func withLicences(dir string, js []byte) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* Apache ECharts %s, cut down for gmpscope. Licences at the end. */\n", pkgs[0].version)
	b.Write(js)
	for _, name := range legal {
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte("\r"), nil)
		if bytes.Contains(text, []byte("*/")) {
			return nil, fmt.Errorf("%s would end its comment", name)
		}
		fmt.Fprintf(&b, "/*! %s\n\n%s\n*/\n", name, bytes.TrimSpace(text))
	}
	low := bytes.ToLower(b.Bytes())
	for _, bad := range []string{"</script", "<!--", "<script"} {
		if bytes.Contains(low, []byte(bad)) {
			return nil, fmt.Errorf("the bundle holds %q, which a page cannot embed", bad)
		}
	}
	return b.Bytes(), nil
}

// write replaces file at once, so that a build never sees half of it.
func write(file string, b []byte) error {
	tmp := file + ".tmp"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}

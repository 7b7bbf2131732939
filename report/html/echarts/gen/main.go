// Command gen makes the ECharts bundle that the HTML report embeds: it fetches pinned packages from the npm
// registry, checks their hashes, and bundles what the report uses of them. Run it as
//
//	go -C report/html/echarts/gen run .
//
// It needs neither Node nor npm. A registry other than npm's own is taken from npm_config_registry or from
// `npm config get registry`. It is a module of its own, so that esbuild is no dependency of gmpscope.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/gmpscope/gmpscope/report/html/echarts/npm"
)

var pkgs = []npm.Package{
	{Name: "echarts", Version: "6.1.0", Integrity: "sha512-q0yaFPggC9FUdsWH4blavRWFmxdrIodbkoKNAjJudAI6CA9gNPxHtV2RcZNEepZVlk4yvBYkOkbk6HIVpIyHZA=="},
	{Name: "zrender", Version: "6.1.0", Integrity: "sha512-oEGMDB6pOP2S6OwRR4PdVv610zrjnA3Bh+JnSG12fYJlBKjtNAoEb5fSUoCOOINlH96I2fU38/A2UpRKs67xYQ=="},
	{Name: "tslib", Version: "2.3.0", Integrity: "sha512-N82ooyxVNm6h1riLCoyS9e3fuJ3AMG2zIZs2Gd1ATcSFjSA23Q0fzjjZeh0jbJvWVDZ0cJT8yaNNaaXHzueNjg=="},
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
	out := fs.String("o", filepath.Join("..", "bundle", "echarts-"+pkgs[0].Version+".bundle.js"), "write the bundle to `file`")
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
	registry := npm.Registry(ctx)
	for _, p := range pkgs {
		archive, err := fetch(ctx, registry, p)
		if err != nil {
			return err
		}
		if err := unpack(archive, filepath.Join(dir, "node_modules", p.Name)); err != nil {
			return fmt.Errorf("%s %s: %w", p.Name, p.Version, err)
		}
		fmt.Fprintf(stdout, "%s %s: %d bytes, hash as pinned\n", p.Name, p.Version, len(archive))
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

// fetch gets the archive of p, and tries again where the network fails.
func fetch(ctx context.Context, registry string, p npm.Package) ([]byte, error) {
	for try := 1; ; try++ {
		b, err := p.Fetch(ctx, nil, registry)
		if err == nil || try == 3 {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(try) * 2 * time.Second):
		}
	}
}

// unpack writes the files of an archive below dir.
func unpack(archive []byte, dir string) error {
	return npm.Files(archive, func(name string, content []byte) error {
		_, name, ok := strings.Cut(path.Clean(name), "/") // all is below one folder
		if !ok || !filepath.IsLocal(name) {
			return nil
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, content, 0o644)
	})
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
	fmt.Fprintf(&b, "/* Apache ECharts %s, cut down for gmpscope. Licences at the end. */\n", pkgs[0].Version)
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

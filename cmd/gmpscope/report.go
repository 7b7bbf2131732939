package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
	"github.com/gmpscope/gmpscope/report/html/echarts"
)

type reportFlags struct {
	readFlags
	output  string
	open    bool
	noFetch bool
	link    string
}

func (a *app) report() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report TRACE",
		Short: "Write an HTML report",
		Long: `Report analyses a trace and writes one HTML file that opens from disk, offline,
in any browser: the verdict in words, where the waiting went, findings with
their evidence, and a timeline of the processors.

The interactive charts are made by Apache ECharts. It is part of gmpscope if it
was built in (docs/reference/commands.md), else it is taken from the user's cache, else
fetched once from the npm registry, pinned and verified. Without it the report
has tables of the same numbers. A fetch that fails, or is not done within
3 seconds, is not tried again for a day; the warning names the file to remove to
have it tried at once.

Interrupted while it reads, it writes a report of what it knows of the trace so
far, marked as incomplete, and fails. A second interrupt ends it at once.`,
		Example: `  gmpscope report trace.out
  gmpscope report trace.out -o report.html --open
  curl -s 'http://localhost:6060/debug/pprof/trace?seconds=5' | gmpscope report - -o live.html
  gmpscope report trace.out -o - > report.html`,
		Args:              oneTrace,
		ValidArgsFunction: traceFiles,
		RunE: a.reading(&f.readFlags, func(ctx context.Context, args []string) error {
			return a.writeReport(ctx, args[0], f)
		}),
	}
	f.reportingFlags(cmd, "names", "path")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the report to `FILE`; - is standard output (default: the name of the trace with .html, in the current directory; with --anonymize, anonymous.html, or anonymous-2.html and so on where that exists)")
	cmd.Flags().BoolVar(&f.open, "open", false, "open the report in the browser")
	cmd.Flags().BoolVar(&f.noFetch, "no-fetch", false, "never fetch ECharts from the network")
	cmd.Flags().StringVar(&f.link, "link", "", "link requests to the page of their distributed trace: an http or https `URL` with {trace_id} in it")
	must(cmd.MarkFlagFilename("output", "html"))
	return cmd
}

func (a *app) writeReport(ctx context.Context, trace string, f reportFlags) error {
	if f.link != "" {
		if err := html.CheckLink(f.link); err != nil {
			return usagef("--link %v, such as https://traces.example.com/trace/{trace_id}", err)
		}
	}
	if f.output == "-" && f.open {
		return usagef("--open needs a file: -o - writes to standard output")
	}
	target := f.output
	switch {
	case target == "" && f.anonymize:
		target = anonymousName()
	case target == "":
		target = reportName(trace)
	}
	if err := a.declareInputs("the trace", trace); err != nil {
		return err
	}
	if err := a.readsKernel(&f.readFlags, trace); err != nil {
		return err
	}
	if _, err := a.configure(ctx, f.readFlags); err != nil {
		return err
	}
	f.picture = true
	var doc *report.Document
	err := a.output(ctx, "-o", target, func(out *files.Output) (err error) {
		if doc, err = a.document(ctx, trace, f.readFlags); err != nil {
			return err
		}
		return html.Write(files.Writer(writing(ctx, doc.Result), out), doc, html.Options{ECharts: a.echarts(ctx, f.noFetch), Link: f.link})
	})
	if err != nil {
		return err
	}
	r := doc.Result
	a.warn(r.Trace.Warnings...)
	a.noteUnused()
	if target == "-" {
		return interrupted(ctx, r)
	}
	if err := a.print(doc.Verdict.Headline, target); err != nil {
		return err
	}
	if f.open {
		if err := openBrowser(target); err != nil {
			a.warn(fmt.Sprintf("the report could not be opened in a browser: %v", err))
		}
	}
	return interrupted(ctx, r)
}

// echarts finds the source of ECharts; nil if there is none to be had.
func (a *app) echarts(ctx context.Context, noFetch bool) html.Script {
	js, err := echarts.Find(ctx, echarts.Options{
		NoFetch: noFetch,
		Now:     time.Now,
		Client:  &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}},
		Announce: func(url string) error {
			_, err := fmt.Fprintf(a.stderr, "gmpscope: fetching Apache ECharts %s, once, from %s (--no-fetch refuses)\n", echarts.Version, input.ShownName(url))
			return err
		},
	})
	if err != nil && !noFetch && ctx.Err() == nil && !errors.Is(err, echarts.ErrFailedLately) {
		why := input.Scrub(err.Error(), a.getenv("HTTP_PROXY"), a.getenv("HTTPS_PROXY"), a.getenv("http_proxy"), a.getenv("https_proxy"))
		a.warn("the report has tables instead of interactive charts: " + why)
	}
	return js
}

// reportName is the name of the report of a trace, without a folder.
func reportName(trace string) string {
	trace = input.ShownName(trace) // the secrets of a URL are none of the name
	base := filepath.Base(trace)
	if u, err := url.Parse(trace); err == nil && u.Host != "" {
		base = path.Base(u.Path)
	}
	for _, suffix := range []string{".gz", ".zst", ".out", ".trace"} {
		if s := strings.TrimSuffix(base, suffix); s != "" {
			base = s
		}
	}
	if strings.Trim(base, "./-") == "" {
		base = "trace"
	}
	return base + ".html"
}

// anonymousName is the name of the report of a trace whose name must not be
// known. It does not say which trace that is, so a report that is there already may
// be another one's, and is kept.
func anonymousName() string {
	name := "anonymous.html"
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("anonymous-%d.html", i)
	}
}

// openBrowser shows a file in the user's browser. It does not wait for it.
func openBrowser(file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	args := []string{"xdg-open", abs}
	switch runtime.GOOS {
	case "darwin":
		args = []string{"open", abs}
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", abs}
	}
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Package html writes a [report.Document] as one HTML file that needs nothing
// else: no network, no server, no other file, and, for its words, tables and
// plain drawings, no JavaScript either.
//
// How the page is made:
//
//  1. view.go and section.go turn the document into a view: only strings ready to be read,
//     numbers to be sorted by, and drawings (svg.go).
//  2. charts.go builds the options of the interactive charts with go-echarts, timeline.go and
//     pack.go the picture over time: data islands, which the browser does not execute.
//  3. assets/page.tmpl, style.css and the scripts make the page.
//
// Every string that comes from a trace is hostile. It passes through [name],
// which makes control characters visible, then through html/template or a JSON
// island with HTML escaping, and in the browser through textContent. A
// Content-Security-Policy, by hashes, forbids everything else.
package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html/echarts"
)

// Script is JavaScript source, to be put into a page.
type Script []byte

// Options are the script, the largest size and the links of a page.
type Options struct {
	// ECharts is the source of Apache ECharts, put into the page for its interactive charts. Without it the
	// page shows its own drawings of the same data. See [Bundled] and package echarts.
	ECharts Script
	// MaxBytes bounds the size of the page. To stay below it, exact windows of the timeline are left out,
	// last first, and its bins made wider; the page says so. 0 means [DefaultMaxBytes].
	MaxBytes int
	// Link, if set, is the URL of the page of a distributed trace, with [report.TraceIDPlace] for
	// its ID: requests that have one link to it. See [CheckLink].
	Link string
}

// CheckLink returns an error unless a text is a valid Options.Link: an http or https URL with a
// host and [report.TraceIDPlace] behind that.
func CheckLink(link string) error {
	u, err := url.Parse(strings.ReplaceAll(link, report.TraceIDPlace, "ID"))
	_, host, _ := strings.Cut(link, "//")
	host, _, _ = strings.Cut(host, "/")
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must be a URL that begins with http:// or https://")
	case !strings.Contains(link, report.TraceIDPlace) || strings.Contains(host, report.TraceIDPlace):
		return fmt.Errorf("must have %s in its path, query or fragment", report.TraceIDPlace)
	case u.User != nil:
		return errors.New("must not have a user or password, which would be in the page")
	}
	return nil
}

// DefaultMaxBytes is the largest page that [Write] makes unless told otherwise.
const DefaultMaxBytes = 5_000_000

// Bundled returns the ECharts bundle that this program was built with.
func Bundled() (script []byte, ok bool) { return echarts.Embedded() }

//go:embed assets
var assets embed.FS

// sources are the style, the scripts and the data of a page.
type sources struct {
	CSP     string
	CSS     template.CSS
	Early   template.JS // runs before anything is drawn
	Scripts []template.JS
	Islands []island
	ECharts bool
}

// island is data for the scripts.
type island struct {
	ID   string
	JSON template.JS
}

// Write renders doc to w. Equal input gives equal bytes. During the work, empty writes to
// w test whether to go on.
func Write(w io.Writer, doc *report.Document, o Options) error {
	if doc == nil {
		return errors.New("html: no document")
	}
	limit := o.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	d := detail{windows: maxWindows, cells: maxCells, page: w}
	for {
		buf := held{to: w}
		if err := render(&buf, doc, o, d); err != nil {
			return err
		}
		if buf.Len() <= limit || !d.less(doc) {
			_, err := w.Write(buf.Bytes())
			return err
		}
	}
}

// detail reports how much of the timeline goes into the page.
type detail struct {
	windows int // exact windows
	cells   int // Ps × bins
	page    io.Writer
}

// held is something that is on its way into a page. Each write asks the page's writer, by an
// empty one, whether to go on.
type held struct {
	bytes.Buffer
	to io.Writer
}

func (h *held) Write(p []byte) (int, error) {
	if _, err := h.to.Write(nil); err != nil {
		return 0, err
	}
	return h.Buffer.Write(p)
}

// less removes detail, half the windows first, then bins. It reports whether there was anything left to take.
func (d *detail) less(doc *report.Document) bool {
	if doc.Result == nil {
		return false
	}
	t := doc.Result.Timeline
	n, cells := min(d.windows, len(t.Windows)), min(d.cells, len(t.Lanes)*t.Bins)
	switch {
	case n > 4:
		d.windows = n / 2
	case cells > minCells:
		d.cells = cells / 2
	case n > 0:
		d.windows = n / 2
	default:
		return false
	}
	return true
}

// render writes the page with so much detail.
func render(w io.Writer, doc *report.Document, o Options, d detail) error {
	v := newView(doc, o.Link)
	islands, err := islands(doc, len(o.ECharts) > 0, d)
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	names := []string{"core.js", "tables.js", "inspector.js", "lanes.js", "cpus.js", "heap.js", "notes.js", "timeline.js", "flame.js", "select.js"}
	if v.Time == nil || v.Time.CPUs == 0 {
		names = slices.DeleteFunc(names, func(s string) bool { return s == "cpus.js" })
	}
	if v.sources, err = o.sources(islands, names...); err != nil {
		return err
	}
	return execute(w, "page.tmpl", v, drawsWith(doc.Names(), doc.Result))
}

// sources returns the style and the scripts of a page with that data, and what its charts need, if it may have some.
func (o Options) sources(islands []island, names ...string) (sources, error) {
	c := sources{Islands: islands, ECharts: len(o.ECharts) > 0}
	allowed := []string{}
	if c.ECharts {
		if err := checkScript(o.ECharts); err != nil {
			return c, err
		}
		source, err := data("data_echarts", string(o.ECharts))
		if err != nil {
			return c, fmt.Errorf("html: %w", err)
		}
		c.Islands, names, allowed = append(c.Islands, source), append(names, "charts.js"), append(allowed, string(o.ECharts))
	}
	for _, name := range append(names, "early.js", "style.css") {
		src, err := assets.ReadFile("assets/" + name)
		if err == nil {
			err = checkScript(src)
		}
		if err != nil {
			return c, fmt.Errorf("html: %w", err)
		}
		switch name {
		case "style.css":
			c.CSS = template.CSS(src)
			continue
		case "early.js":
			c.Early = template.JS(src)
		default:
			c.Scripts = append(c.Scripts, template.JS(src))
		}
		allowed = append(allowed, string(src))
	}
	c.CSP = policy(string(c.CSS), allowed)
	return c, nil
}

// execute writes the page that a template makes of data.
func execute(w io.Writer, name string, data any, how template.FuncMap) error {
	t, err := template.New("").Funcs(how).ParseFS(assets, "assets/*.tmpl")
	if err == nil {
		err = t.ExecuteTemplate(w, name, data)
	}
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	return nil
}

// policy is a page's Content-Security-Policy: it may execute and style with
// what is in it, byte for byte, and nothing else, and it may load nothing.
func policy(style string, scripts []string) string {
	parts := []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:"}
	parts = append(parts, "style-src "+hash(style))
	s := "script-src"
	for _, js := range scripts {
		s += " " + hash(js)
	}
	return strings.Join(append(parts, s), "; ")
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// checkScript refuses source that would end its script element early.
func checkScript(src []byte) error {
	low := bytes.ToLower(src)
	for _, bad := range []string{"</script", "<!--", "<script"} {
		if i := bytes.Index(low, []byte(bad)); i >= 0 {
			return fmt.Errorf("html: script holds %q at byte %d, which would break the page", bad, i)
		}
	}
	if bytes.ContainsRune(src, '\r') {
		return errors.New("html: script holds a carriage return, which would break its hash")
	}
	return nil
}

//go:build browser

// Package browsertest drives a headless Chromium for tests of pages that must
// work from disk, without a network. All use of chromedp is in this file.
package browsertest

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is a running Chromium without a network.
type Browser struct {
	ctx context.Context
}

// patience is how long a page may take for anything: a test that waits longer
// waits for what never comes, however busy the machine is.
const patience = 5 * time.Minute

// names are the programs that can be driven, in the order of preference.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

// shared is the browser of the tests that Main runs, from the first test that starts it on.
var shared struct {
	by  bool // Main runs the tests
	b   *Browser
	end func()
}

// Main runs the tests of a package, which share one browser: to start one takes longer than
// to open a page. It returns their exit code.
func Main(m *testing.M) int {
	shared.by = true
	defer func() {
		if shared.b != nil {
			shared.end()
		}
	}()
	return m.Run()
}

// Start returns a browser: that of Main, else one that ends with the test. The test fails if
// there is none: a browser test that did not run proves nothing.
func Start(t testing.TB) *Browser {
	t.Helper()
	if shared.b != nil {
		return shared.b
	}
	b, end := start(t)
	if shared.by {
		shared.b, shared.end = b, end
	} else {
		t.Cleanup(end)
	}
	return b
}

// start starts a browser, and returns what ends it.
func start(t testing.TB) (b *Browser, end func()) {
	t.Helper()
	path := ""
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Fatalf("no browser found in PATH, looked for %s", strings.Join(names, ", "))
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("process-per-site", true),                 // which starts no process for each page
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), // no network
		chromedp.WindowSize(1280, 900),
	)
	ctx, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		stop()
		stopAlloc()
		t.Fatalf("start %s: %v", path, err)
	}
	return &Browser{ctx: ctx}, func() {
		chromedp.Cancel(ctx) // waits for the browser, and removes its files
		stop()
		stopAlloc()
	}
}

// View is the size and the medium in which a page is shown.
type View struct {
	Width, Height int64   // CSS pixels
	Scale         float64 // device pixels per CSS pixel; 0 is 1
	Dark          bool    // the reader prefers dark colours
	Print         bool    // as printed, not on a screen
	NoScript      bool    // scripts do not run
}

// Page is one file, opened in a tab of its own.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	problems []string
}

// Open opens a file. The fragment, if any, is appended to its address.
func (b *Browser) Open(t testing.TB, file, fragment string, v View) *Page {
	t.Helper()
	abs, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewContext(b.ctx)
	t.Cleanup(stop)
	p := &Page{t: t, ctx: ctx}
	p.must("listen", chromedp.Listen(ctx, p.event))
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.must("network", err)
	_, err = chromedp.Call(ctx, log.Enable, struct{}{})
	p.must("log", err)
	p.Look(v)
	if v.NoScript {
		_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		p.must("no script", err)
	}
	u := url.URL{Scheme: "file", Path: abs}
	addr := u.String()
	if fragment != "" {
		addr += "#" + fragment
	}
	p.Do("navigate", chromedp.Navigate(addr))
	return p
}

// Look changes how the page is looked at, as who turns a phone or the light does. Whether
// scripts run is decided when the page is opened.
func (p *Page) Look(v View) {
	p.t.Helper()
	scale := v.Scale
	if scale == 0 {
		scale = 1
	}
	p.must("viewport", chromedp.Do(p.ctx, chromedp.EmulateViewport(v.Width, v.Height, chromedp.EmulateScale(scale))))
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if v.Print {
		media.Media = "print"
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
	p.must("media", err)
}

// event keeps what a page must not do.
func (p *Page) event(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, ev.Request.URL)
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
			p.problems = append(p.problems, string(ev.Entry.Source)+": "+ev.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			text += " " + ev.ExceptionDetails.Exception.Description
		}
		p.problems = append(p.problems, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		text := string(ev.Type)
		for _, a := range ev.Args {
			text += " " + string(a.Value)
		}
		p.problems = append(p.problems, "console: "+text)
	}
}

// Check fails the test if the page asked for anything but its own file, or
// wrote to the console.
func (p *Page) Check() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	files := 0
	for _, r := range p.requests {
		switch {
		case strings.HasPrefix(r, "file:"):
			files++
		case strings.HasPrefix(r, "data:"):
		default:
			p.t.Errorf("request to %s", r)
		}
	}
	if files != 1 {
		p.t.Errorf("%d requests for files, want 1: %q", files, p.requests)
	}
	for _, s := range p.problems {
		p.t.Errorf("console: %s", s)
	}
}

// Do runs actions, and fails the test if one fails or takes too long.
func (p *Page) Do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	p.must(what, chromedp.Do(ctx, actions...))
}

// Eval evaluates an expression in the page. A promise is waited for.
func Eval[T any](p *Page, expr string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	p.must(expr, err)
	return v
}

// Wait waits until an expression is true in the page.
func (p *Page) Wait(expr string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expr, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(0)))
	p.must("wait for "+expr, err)
}

// Click clicks the element that a CSS selector finds.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Focus gives an element the keyboard.
func (p *Page) Focus(selector string) {
	p.t.Helper()
	p.Do("focus "+selector, chromedp.Focus(chromedp.CSS(selector)))
}

// Type sends keys to whatever has the keyboard.
func (p *Page) Type(keys string) {
	p.t.Helper()
	p.Do("type "+keys, chromedp.KeyEvent(keys))
}

// Hover moves the mouse to a point of the window, in CSS pixels.
func (p *Page) Hover(x, y float64) {
	p.t.Helper()
	p.Do("hover", chromedp.MouseEvent("mouseMoved", x, y))
}

// ClickAt clicks a point of the window, given in CSS pixels.
func (p *Page) ClickAt(x, y float64) {
	p.t.Helper()
	p.Do("click", chromedp.MouseClickXY(x, y))
}

// Screenshot writes a picture of the window, or of the whole page, into the
// folder named by BROWSER_SHOTS; without one it does nothing.
func (p *Page) Screenshot(name string, whole bool) {
	p.t.Helper()
	dir := os.Getenv("BROWSER_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	a := chromedp.CaptureScreenshot()
	if whole {
		a = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(ctx, a)
	p.must("screenshot", err)
	p.must("screenshot", os.MkdirAll(dir, 0o755))
	p.must("screenshot", os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// Print returns the page as printed, on A4 paper, as a PDF.
func (p *Page) Print() []byte {
	p.t.Helper()
	background := true
	r, err := chromedp.Call(p.ctx, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69, PrintBackground: &background})
	p.must("print", err)
	return r.Data
}

func (p *Page) must(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

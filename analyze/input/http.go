package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	headerTimeout = 11 * time.Minute // a handler may answer only after ten minutes of recording
	idleTimeout   = 2 * time.Minute  // a program that is traced writes something every second
	dialTimeout   = 30 * time.Second
	maxRedirects  = 10
)

// openURL requests a trace by http or https.
func (s *Source) openURL(ctx context.Context, o Options) error {
	raw := s.name
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("opening a URL: %w", withoutURL(err)) // which may hold a password
	}
	s.name = u.Redacted()
	if u.Scheme != "http" && u.Scheme != "https" {
		return s.fail("opening", errors.New("only http and https URLs can be read"))
	}
	if u.Host == "" {
		return s.fail("opening", errors.New("the URL names no host"))
	}

	ctx, cancel := context.WithCancelCause(ctx)
	s.closers = append(s.closers, closerFunc(func() error { cancel(context.Canceled); return nil }))

	client := http.Client{Transport: http.DefaultTransport}
	if o.Client != nil {
		client = *o.Client
	} else {
		tr := newTransport()
		client.Transport = tr
		s.closers = append(s.closers, closerFunc(func() error { tr.CloseIdleConnections(); return nil }))
	}
	inner := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if err := checkRedirect(req.URL, via); err != nil {
			return err
		}
		if inner != nil {
			return inner(req, via)
		}
		return nil
	}

	wait := o.headerTimeout
	if wait == 0 {
		wait = headerTimeout
		if n, err := strconv.ParseFloat(u.Query().Get("seconds"), 64); err == nil && n > 0 && n < 1e6 {
			wait = max(wait, time.Duration(n*float64(time.Second))+time.Minute)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
	if err != nil {
		return s.fail("opening", withoutURL(err))
	}
	req.Header.Set("User-Agent", "gmpscope")
	dog := time.AfterFunc(wait, func() {
		cancel(fmt.Errorf("no answer within %v", wait))
	})
	resp, err := client.Do(req)
	dog.Stop()
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return s.fail("requesting", withoutURL(err))
	}
	idle := o.idleTimeout
	if idle == 0 {
		idle = idleTimeout
	}
	body := &idleReader{r: resp.Body, ctx: ctx, cancel: cancel, wait: idle}
	s.closers = append(s.closers, resp.Body)
	if resp.StatusCode != http.StatusOK {
		line := firstLine(body)
		if line != "" {
			line = ": " + line
		}
		return fmt.Errorf("requesting %s: the server answers %d %s%s", s.name, resp.StatusCode, http.StatusText(resp.StatusCode), line)
	}
	s.in.r = body
	s.in.total = max(0, resp.ContentLength)
	return nil
}

// newTransport returns a transport for one request.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			u, err := http.ProxyFromEnvironment(req)
			if u != nil && u.Scheme != "http" && u.Scheme != "https" {
				return nil, fmt.Errorf("the proxy %s is neither http nor https", u.Redacted())
			}
			return u, err
		},
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        1,
		DisableCompression:  true, // compression is undone by content, and progress needs the length
	}
}

func checkRedirect(to *url.URL, via []*http.Request) error {
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case to.Scheme != "http" && to.Scheme != "https":
		return fmt.Errorf("refused a redirect to %s: only http and https URLs can be read", to.Redacted())
	case to.Scheme == "http" && via[len(via)-1].URL.Scheme == "https":
		return fmt.Errorf("refused a redirect from https to %s", to.Redacted())
	}
	return nil
}

// idleReader cancels the request if one read takes too long.
type idleReader struct {
	r      io.Reader
	ctx    context.Context
	cancel context.CancelCauseFunc
	wait   time.Duration
}

var errStalled = errors.New("the server stalled")

func (r *idleReader) Read(p []byte) (int, error) {
	dog := time.AfterFunc(r.wait, func() {
		r.cancel(fmt.Errorf("%w: nothing came for %v", errStalled, r.wait))
	})
	n, err := r.r.Read(p)
	dog.Stop()
	switch {
	case err == nil || errors.Is(err, io.EOF):
	case r.ctx.Err() != nil:
		err = context.Cause(r.ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the connection ended early")
	}
	return n, err
}

// firstLine returns the first line that is not empty, fit to be shown.
func firstLine(r io.Reader) string {
	sc := bufio.NewScanner(io.LimitReader(r, 4<<10))
	for sc.Scan() {
		line := strings.Map(func(c rune) rune {
			if !unicode.IsPrint(c) {
				return ' '
			}
			return c
		}, sc.Text())
		if line = strings.TrimSpace(line); line != "" {
			if r := []rune(line); len(r) > 200 {
				line = string(r[:200]) + "..."
			}
			return line
		}
	}
	return ""
}

// withoutURL unwraps an error that repeats the URL, perhaps with a password.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// Save copies what an http or https URL answers, as it is, to w, and returns how
// many bytes that were. The rules are those of [Open]; an answer that does not
// begin like a trace is an error, and is not copied.
func Save(ctx context.Context, name string, w io.Writer, o Options) (int64, error) {
	s := &Source{name: name, in: &meter{ctx: ctx, progress: o.Progress}}
	defer s.Close()
	if !isURL(name) {
		return 0, s.fail("recording", errors.New("it is no http or https URL"))
	}
	if err := s.openURL(ctx, o); err != nil {
		return 0, err
	}
	br := bufio.NewReader(s.in)
	if head, err := br.Peek(len(traceMagic)); string(head) != traceMagic {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("the answer is no trace: it begins with %q", head)
		}
		return 0, s.fail("recording", err)
	}
	n, err := io.Copy(w, br)
	if err != nil {
		return n, s.fail("recording", err)
	}
	return n, nil
}

// traceMagic is how every trace begins that the runtime writes.
const traceMagic = "go 1."

package input

import (
	"bufio"
	"bytes"
	"cmp"
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
	s.name = ShownName(raw)
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("opening a URL: %w", parseFault(err))
	}
	s.secrets.add(u)
	if u.Scheme != "http" && u.Scheme != "https" {
		return s.fail("opening", errors.New("only http and https URLs can be read"))
	}
	if u.Host == "" {
		return s.fail("opening", errors.New("the URL names no host"))
	}

	ctx, cancel := context.WithCancelCause(ctx)
	s.closers = append(s.closers, closerFunc(func() error { cancel(context.Canceled); return nil }))

	var client http.Client
	if o.Client != nil {
		client = *o.Client
	} else {
		tr := s.newTransport()
		client.Transport = tr
		s.closers = append(s.closers, closerFunc(func() error { tr.CloseIdleConnections(); return nil }))
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = checkedLocations{client.Transport}
	inner := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		s.secrets.add(req.URL)
		req.Header.Del("Referer") // it has the query of the URL before
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
		return s.fail("opening", s.secrets.scrubError(withoutURL(err)))
	}
	req.Header.Set("User-Agent", "gmpscope")
	dog := time.AfterFunc(wait, func() {
		cancel(fmt.Errorf("no answer within %v", wait))
	})
	resp, err := client.Do(req)
	dog.Stop()
	if err != nil {
		if ctx.Err() != nil {
			return s.fail("requesting", context.Cause(ctx))
		}
		return s.fail("requesting", s.secrets.scrubError(withoutURL(err)))
	}
	body := &idleReader{r: resp.Body, ctx: ctx, cancel: cancel, wait: cmp.Or(o.idleTimeout, idleTimeout), secrets: s.secrets}
	s.closers = append(s.closers, resp.Body)
	if resp.StatusCode != http.StatusOK {
		line := firstLine(body, s.secrets)
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
func (s *Source) newTransport() *http.Transport {
	return &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			u, err := http.ProxyFromEnvironment(req)
			switch {
			case err != nil: // it repeats the proxy's URL
				return nil, errors.New("the proxy that the environment names is no URL: see HTTP_PROXY and HTTPS_PROXY")
			case u == nil:
				return nil, nil
			}
			s.secrets.add(u)
			if u.Scheme != "http" && u.Scheme != "https" {
				return nil, fmt.Errorf("the proxy %s is neither http nor https", shownURL(u))
			}
			return u, nil
		},
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        1,

		MaxResponseHeaderBytes: 64 << 10,

		DisableCompression: true, // compression is undone by content, and progress needs the length
	}
}

// checkedLocations refuses a redirect whose target is no URL: the error of http.Client would repeat
// the target.
type checkedLocations struct{ http.RoundTripper }

func (t checkedLocations) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode/100 != 3 {
		return resp, err
	}
	if _, err := req.URL.Parse(resp.Header.Get("Location")); err != nil {
		resp.Body.Close()
		return nil, fmt.Errorf("failed to parse Location header of a redirect: %w", parseFault(err))
	}
	return resp, nil
}

func checkRedirect(to *url.URL, via []*http.Request) error {
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case to.Scheme != "http" && to.Scheme != "https":
		return fmt.Errorf("refused a redirect to %s: only http and https URLs can be read", shownURL(to))
	case to.Scheme == "http" && via[len(via)-1].URL.Scheme == "https":
		return fmt.Errorf("refused a redirect from https to %s", shownURL(to))
	}
	return nil
}

// idleReader cancels the request if one read takes too long.
type idleReader struct {
	r      io.Reader
	ctx    context.Context
	cancel context.CancelCauseFunc
	wait   time.Duration

	secrets secrets
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
	default:
		err = r.secrets.scrubError(err)
	}
	return n, err
}

// firstLine returns the first line that is not empty, fit to be shown.
func firstLine(r io.Reader, hide secrets) string {
	sc := bufio.NewScanner(io.LimitReader(r, 4<<10))
	for sc.Scan() {
		line := strings.Map(func(c rune) rune {
			if !unicode.IsPrint(c) {
				return ' '
			}
			return c
		}, sc.Text())
		if line = strings.TrimSpace(line); line != "" {
			line = hide.scrub(line)
			if r := []rune(line); len(r) > 200 {
				line = string(r[:200]) + "..."
			}
			return line
		}
	}
	return ""
}

// parseFault returns why url.Parse failed, without the pieces of the URL that its error repeats.
func parseFault(err error) error {
	if host := url.InvalidHostError(""); errors.As(err, &host) {
		return errors.New("invalid character in its host name")
	}
	return errors.New("it must be such as http://host:port/path, with %-escapes for signs like / # ? @ in a password")
}

// withoutURL unwraps an error that repeats the URL.
func withoutURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// Saved describes what [Save] copied.
type Saved struct {
	Bytes int64 // bytes as received, perhaps compressed

	// Cut reports why the answer is not whole; nil if it came to its end. What was copied begins like a
	// trace all the same.
	Cut error
}

// Save copies the answer of an http or https URL to w. The rules are those of [Open]: an answer that is no
// trace, compressed or not, is an error, and is not copied; nor is one that ends before it has more than a
// header, nor one of which w does not take that much. Whatever else ends it early, be it the server, the
// context, maxBytes or w, is no error: what came is copied, and Saved says so.
func Save(ctx context.Context, name string, w io.Writer, maxBytes int64, o Options) (Saved, error) {
	s := &Source{name: name, in: &meter{ctx: ctx, progress: o.Progress}}
	defer s.Close()
	if !isURL(name) {
		s.name = ShownName(name)
		return Saved{}, s.fail("recording", errors.New("it is no http or https URL"))
	}
	if err := s.openURL(ctx, o); err != nil {
		return Saved{}, err
	}
	var head bytes.Buffer // what is read to see what it is
	body := s.in.r
	s.in.r = io.TeeReader(body, &head)
	p, err := s.sniff()
	if err == nil {
		if _, err = s.parseHeader(p); err == nil {
			p = s.peek(headerSize + 1)
		}
	}
	if broken := s.broken(); broken != nil && len(p) <= headerSize {
		err = broken
	}
	if err != nil {
		return Saved{}, s.fail("recording", err)
	}
	s.in.r = body
	all := io.MultiReader(&head, s.in)
	n, err := io.Copy(w, io.LimitReader(all, maxBytes))
	if err != nil && !errors.Is(err, s.in.err) { // the writer's
		if n <= headerSize {
			return Saved{}, s.fail("recording", err)
		}
		return Saved{n, err}, nil
	}
	if err == nil && n == maxBytes {
		if more, _ := io.CopyN(io.Discard, all, 1); more > 0 {
			return Saved{n, ErrTooLarge}, nil
		}
	}
	return Saved{n, s.broken()}, nil
}

// ErrTooLarge reports that an answer was cut because it exceeds the limit.
var ErrTooLarge = errors.New("the answer is larger than the limit")

// broken returns what ended the input as stored too early, or nil.
func (s *Source) broken() error { return unlessEOF(s.in.err) }

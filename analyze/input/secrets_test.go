package input

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestShownName(t *testing.T) {
	for name, want := range map[string]string{
		"http://localhost:6060/debug/pprof/trace?seconds=5": "http://localhost:6060/debug/pprof/trace?seconds=5",
		"http://u:pw@h/x?seconds=5&token=abc&debug=1#frag":  "http://h/x?seconds=5&debug=1",
		"HTTP://u:pw@H/x":              "http://H/x",
		"https:u:pw@h/x":               "https:h/x",
		"https:u@h":                    "https:h",
		"http:/u:pw@h/x":               "http:/h/x",
		"http:///u:pw@h/x":             "http:///h/x",
		"http://u@h":                   "http://h",
		"http://h/x?seconds=secret":    "http://h/x",
		"http://h/x?secret":            "http://h/x",
		"http://h/x;session=secret/y":  "http://h/x/y",
		"http://h/a%2Fb":               "http://h/a%2Fb",
		"http://h/http://u:pw@other/x": "http://h/http://other/x",
		"http://h:8080/@scope/x":       "a URL", // which may be a password with a slash
		"http://h/@scope/x":            "http://h/@scope/x",
		"http://u:1/pw@h/":             "a URL",
		"http://u:1#pw@h/":             "a URL",
		"http://u:pw@[::1":             "a URL",
		"http://u:p w@h":               "a URL",
		"http://u:%zz@h":               "a URL",
		" http://u:pw@h":               "a URL",
		"//u:pw@h/x":                   "h/x",
		"u:pw@h:6060/x?token=a#f":      "h:6060/x",
		"u:p/w@h/x":                    "h/x",
		"h:6060/x?seconds=5&token=a":   "h:6060/x?seconds=5",
		"localhost:6060/#secret":       "localhost:6060/",
		"ftp://u:pw@h/x":               "ftp://h/x",
		"data:text/plain,go":           "data:text/plain,go",
		"":                             "",
		"-":                            "-",
		"trace.out":                    "trace.out",
		"dir/me@home.trace":            "dir/me@home.trace",
		"is this it?.trace":            "is this it?.trace",
		"#1.trace":                     "#1.trace",
		`C:\me@home\x.trace`:           "home\\x.trace", // if there is no such file
		"./http://x":                   "./http://x",
		"run:12/30.trace":              "run:12/30.trace",
	} {
		if got := ShownName(name); got != want {
			t.Errorf("ShownName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestShownText(t *testing.T) {
	const name, none = "http://u:p-w@h/x?token=abc#f", "http://u:p\"w@h"
	for text, want := range map[string]string{
		"reading budget: open " + name + ": no such file":      "reading budget: open http://h/x: no such file",
		"open " + none + ": no such file":                      "open a URL: no such file",
		fmt.Sprintf("invalid argument %q", none):               `invalid argument "http://h"`,
		"writing http:/u:p-w@h/x: no such file":                "writing http:/h/x: no such file",
		"u is a word that says nothing of the URL, nor is abc": "u is a word that says nothing of the URL, nor is abc",
	} {
		if got := ShownText(text, "other", name, none); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestScrub(t *testing.T) {
	const u = "http://bob:s3cr3t-p%2Fw@h/x?token=abc%20defghij&x=1&bare-word&seconds=5#frag"
	for text, want := range map[string]string{
		"nothing":                        "nothing",
		"user bob with s3cr3t-p/w":       "user *** with ***",
		"S3CR3T-P%2FW and s3cr3t-p%2fw":  "*** and ***",
		"bobsled":                        "bobsled",
		"token=abc+defghij":              "token=***",
		"token abc%20defghij is unknown": "token *** is unknown",
		"cut: s3cr3t-p":                  "cut: ***",
		"cut: s3cr3t":                    "cut: s3cr3t", // 6 of 10
		"Basic " + base64.StdEncoding.EncodeToString([]byte("bob:s3cr3t-p/w")): "Basic ***=",
		"bare-word, FRAG, 5 seconds": "***, ***, 5 seconds",
		"":                           "",
	} {
		if got := Scrub(text, "", u); strings.TrimRight(got, "=") != strings.TrimRight(want, "=") {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// echoes are the ways in which a server repeats a request that failed.
var echoes = []func(string) string{
	func(s string) string { return s },
	url.QueryEscape,
	url.PathEscape,
	html.EscapeString,
	strings.ToUpper,
	func(s string) string { return fmt.Sprintf("%q", s) },
	func(s string) string { return "invalid token: " + s + "!" },
	func(s string) string { return s + " and " + s },
}

// TestSecretsStaySecret: whatever a URL, the place it redirects to, and a server
// that repeats all it is told have in them, no name and no error has it.
func TestSecretsStaySecret(t *testing.T) {
	var handle http.HandlerFunc
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r) }))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	body := newFile(26).generation(1, 3).generation(2, 3).b
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		secret := func(label string) string {
			s := rapid.StringMatching(`[ -~]{0,6}`).Draw(t, label) + fmt.Sprintf("S3crt%dPart", len(parts)) + rapid.StringMatching(`[ -~é]{0,6}`).Draw(t, label)
			parts = append(parts, s)
			return s
		}
		generated := func(label, host string) *url.URL {
			u := &url.URL{
				Scheme: rapid.SampledFrom([]string{"http", "HTTP"}).Draw(t, label+" scheme"), Host: host,
				User: url.UserPassword(secret(label+" user"), secret(label+" password")),
				Path: rapid.SampledFrom([]string{"", "/", "/debug/pprof/trace", "/x;s="}).Draw(t, label+" path"), Fragment: secret(label + " fragment"),
			}
			if strings.HasSuffix(u.Path, "=") {
				u.Path += strings.Map(func(r rune) rune {
					if strings.ContainsRune("/;@", r) {
						return '-'
					}
					return r
				}, secret(label+" path parameter"))
				parts[len(parts)-1] = u.Path[len("/x;s="):]
			}
			u.RawQuery = "seconds=1&token=" + url.QueryEscape(secret(label+" token")) + "&" + url.QueryEscape(secret(label+" word")) + "&seconds=" + url.QueryEscape(secret(label+" seconds"))
			return u
		}
		u := generated("request", host)
		asked := parts // what the client knows of
		raw := u.String()
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0: // no URL at all
			raw = strings.Replace(raw, host, "[::1", 1)
		case 1:
			raw = strings.Replace(raw, "//", "", 1)
		case 2:
			_, raw, _ = strings.Cut(raw, "://")
		case 3:
			raw = strings.Replace(raw, "ttp:", "tps:", 1)
		case 4:
			raw = " " + raw
		}
		target := generated("redirect", rapid.SampledFrom([]string{host, "127.0.0.1:1", "[::1"}).Draw(t, "target")).String()
		echoed := rapid.SampledFrom(asked).Draw(t, "echoed")
		echo := rapid.SampledFrom(echoes).Draw(t, "echo")(echoed)
		kind := rapid.IntRange(0, 6).Draw(t, "answer")
		handle = func(w http.ResponseWriter, r *http.Request) {
			if ref := r.Header.Get("Referer"); ref != "" {
				t.Errorf("the place it leads to is told %q", ref)
			}
			switch kind {
			case 0:
				http.Error(w, echo, http.StatusForbidden)
			case 1:
				io.WriteString(w, echo)
			case 2:
				if r.URL.Path == "/elsewhere" {
					http.Error(w, echo+r.URL.String(), http.StatusTeapot)
					return
				}
				w.Header().Set("Location", "/elsewhere?token="+url.QueryEscape(echoed))
				w.WriteHeader(http.StatusFound)
			case 3:
				w.Header().Set("Location", target)
				w.WriteHeader(http.StatusFound)
			case 4:
				w.Header().Set("Location", strings.Replace(target, "//", "", 1))
				w.WriteHeader(http.StatusFound)
			case 5:
				if conn, rw, err := http.NewResponseController(w).Hijack(); err == nil {
					fmt.Fprintf(rw, "HTTP/1.1 200 OK %s\r\n%s\r\n\r\n", echo, echo)
					rw.Flush()
					conn.Close()
				}
			case 6:
				w.Header().Set("Content-Length", "1000000")
				w.Write(body)
			}
		}
		var said []string
		say := func(err error) {
			for ; err != nil; err = errors.Unwrap(err) {
				said = append(said, err.Error(), fmt.Sprintf("%+v", err))
			}
		}
		said = append(said, ShownName(raw), ShownText("cannot open "+raw, raw))
		s, err := Open(context.Background(), raw, Options{})
		say(err)
		if err == nil {
			for {
				if _, err = s.Next(); err != nil {
					break
				}
			}
			said = append(said, s.Name(), fmt.Sprint(s.Stats().Losses))
			say(err)
			s.Close()
		}
		saved, err := Save(context.Background(), raw, io.Discard, 1<<20, Options{})
		say(err)
		say(saved.Cut)
		for _, text := range said {
			low := strings.ToLower(text)
			for i, part := range parts {
				for _, hidden := range []string{strings.ToLower(part), fmt.Sprintf("s3crt%dpart", i), base64.StdEncoding.EncodeToString([]byte(part))} {
					if strings.Contains(low, strings.ToLower(hidden)) {
						t.Fatalf("%q is in %q", hidden, text)
					}
				}
			}
		}
	})
}

// A file that is called like a URL is a file, and keeps its name.
func TestFileLikeURL(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "u:pw@host"
	if err := os.WriteFile(name, newFile(26).generation(1, 3).b, 0o600); err != nil {
		t.Skip(err)
	}
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Name() != name {
		t.Errorf("it is called %q", s.Name())
	}
	_, err = Open(t.Context(), filepath.Join("none", name), Options{})
	if !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "pw") || !strings.Contains(err.Error(), "a URL begins with http://") {
		t.Error(err)
	}
	if _, err := Open(t.Context(), "localhost:6060/debug/pprof/trace", Options{}); err == nil || !strings.Contains(err.Error(), "opening localhost:6060/debug/pprof/trace: no such file or directory: a URL begins with http://") {
		t.Error(err)
	}
}

// FuzzScrub holds that no secret of four bytes or more is left in a text, and
// that it costs little.
func FuzzScrub(f *testing.F) {
	f.Add("user bob is not allowed", "http://bob:secret@h/?token=a%20b#c")
	f.Add("aaaa", "http://aaaaa@h")
	f.Fuzz(func(t *testing.T, text, raw string) {
		u, err := url.Parse(raw)
		if err != nil || len(text)+len(raw) > 1<<12 {
			return
		}
		var s secrets
		s.add(u)
		got := lower(s.scrub(text))
		for one := range s {
			if len(one) >= secretWord && !strings.Contains(hiddenText, one) && strings.Contains(got, one) && !strings.Contains(one, "**") && !strings.Contains(one, "..") {
				t.Errorf("%q is in %q", one, got)
			}
		}
		ShownText(text, raw)
		if shown := ShownName(raw); ShownName(shown) != shown && shown != hiddenName {
			t.Errorf("%q is shown as %q, and that as %q", raw, shown, ShownName(shown))
		}
	})
}

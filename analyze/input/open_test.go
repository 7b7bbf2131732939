package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gmpscope/gmpscope/internal/files"
)

// noLeaks waits for all goroutines of the test.
func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for runtime.NumGoroutine() > before && !t.Failed() { // go test ends it, and shows them all
			time.Sleep(5 * time.Millisecond)
		}
	})
}

func TestNotATrace(t *testing.T) {
	profile := []byte("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x1c")
	tests := []struct{ name, in, want string }{
		{"empty", "", "the file is empty (0 bytes)"},
		{"empty gzip", string(gzipped(t, nil)), "no trace in the gzip data: it unpacks to 0 bytes"},
		{"zip", "PK\x03\x04 and more", `not a Go execution trace (it starts with "PK\x03\x04 and"): record one with "go test -trace" or runtime/trace`},
		{"profile", string(profile), "pprof profile"},
		{"compressed profile", string(gzipped(t, profile)), "pprof profile"},
		{"profile as text", "heap profile: 1: 2 [3: 4] @ heap/1048576\n", "fetch /debug/pprof/trace"},
		{"web page", "\n <!DOCTYPE html>\n<html>", "an HTML page"},
		{"web page without doctype", "<HTML><head>", "an HTML page"},
		{"twice compressed", string(gzipped(t, gzipped(t, newFile(26).b))), "unpack it once"},
		{"bzip2", "BZh91AY&SY", "bzip2"},
		{"too new", "go 1.99 trace\x00\x00\x00", "trace of format go 1.99: gmpscope reads traces of Go 1.11 to 1.27; look for a newer gmpscope"},
		{"far too new", "go 1.128 trace\x00\x00", "trace of format go 1.128"},
		{"too old", "go 1.5 trace\x00\x00\x00\x00", "trace of format go 1.5: gmpscope reads traces of Go 1.11 to 1.27; record it with a newer Go"},
		{"1.10", "go 1.10 trace\x00\x00\x00", "record it with a newer Go"},
		{"never written", "go 1.24 trace\x00\x00\x00", "which no Go release writes: the header is damaged"},
		{"header cut", "go 1.2", "only 6 of the 16 bytes"},
		{"header cut early", "go", "only 2 of the 16 bytes"},
		{"header cut late", "go 1.26 trace\x00\x00", "only 15 of the 16 bytes"},
		{"header damaged", "go 1.26 trade\x00\x00\x00", "not a Go execution trace (it starts with \"go 1.26 \")"},
		{"a zero in the header", "go 1.021 trace\x00\x00", "not a Go execution trace (it starts with \"go 1.021\")"},
		{"text", "go 1.x", "not a Go execution trace"},
		{"control characters", "\x1b[2J\n\n\n", `it starts with "\x1b[2J\n\n\n"`},
		{"truncated gzip header", "\x1f\x8b\x08", "reading"},
		{"a zstd frame that asks for 1 TiB", "\x28\xb5\x2f\xfd\x00\xf0\x00\x00", "reading"},
	}
	dir := t.TempDir()
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, fmt.Sprint("trace", i))
			if err := os.WriteFile(path, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), path, Options{})
			if err == nil {
				t.Fatal("no error")
			}
			msg := err.Error()
			if !strings.Contains(msg, tt.want) || !strings.Contains(msg, path) || strings.ContainsAny(msg, "\n\x1b\x00") {
				t.Errorf("%s, want %q", msg, tt.want)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"":                            "no name",
		dir:                           "it is a directory",
		filepath.Join(dir, "none"):    "opening " + filepath.Join(dir, "none") + ": no such file",
		"-":                           "opening standard input: there is none",
		"ftp://host/trace":            "only http and https",
		"file:///etc/passwd":          "only http and https",
		"http://":                     "names no host",
		"http://a b/":                 "opening a URL: invalid character",
		"http://u:secret@[::1":        "opening a URL",
		"http://u:secret@127.0.0.1:1": "requesting http://127.0.0.1:1: dial tcp 127.0.0.1:1",
	} {
		s, err := Open(t.Context(), name, Options{})
		if err == nil {
			s.Close()
			t.Errorf("%q: no error", name)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A path is no URL, on Windows either.
func TestIsURL(t *testing.T) {
	for name, want := range map[string]bool{
		"http://host/x": true, "HTTPS://host": true, "file:///x": true, "a+b-c.1://x": true,
		`C:\x`: false, "C:/x": false, "C://x": false, "c:x": false, `\\host\share\trace`: false, "//host/share/trace": false,
		`\\?\C:\x`: false, "a b://x": false, "://x": false, "./http://x": false, "héllo://x": false, "x": false,
	} {
		if isURL(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestOpenFile(t *testing.T) {
	f := newFile(26)
	for gen := range uint64(60) {
		f.generation(gen+1, 500)
	}
	for _, b := range [][]byte{f.b, gzipped(t, f.b), zstded(t, f.b)} {
		path := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var calls int
		var last, total int64
		s, err := Open(t.Context(), path, Options{Progress: func(r, n int64) {
			if r < last {
				t.Errorf("progress goes back from %d to %d", last, r)
			}
			calls, last, total = calls+1, r, n
		}})
		if err != nil {
			t.Fatal(err)
		}
		gens := all(t, s)
		checkBytes(t, s, gens, len(f.b))
		if n := int64(len(b)); len(gens) != 60 || last != n || total != n || calls > 20 || s.Stats().Stored != n {
			t.Errorf("%d generations, %d calls of progress, at last %d of %d; %+v", len(gens), calls, last, total, s.Stats())
		}
		if s.Name() != path {
			t.Errorf("name %q", s.Name())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.in.r.(*files.File).Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the file stays open: %v", err)
		}
	}
}

// A file that grows while it is read is read to its end, without a copy for each batch.
func TestGrowingFile(t *testing.T) {
	f := newFile(26)
	for range 20 {
		f.batch(1, 1, 1, bytes.Repeat([]byte{13}, 60000))
	}
	s, err := New(bytes.NewReader(f.b), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.in.total = 20000
	gens := all(t, s)
	checkBytes(t, s, gens, len(f.b))
	if n := cap(gens[0].Data); n < len(f.b) || n > 3*len(f.b) {
		t.Errorf("capacity %d", n)
	}
}

func TestStdin(t *testing.T) {
	noLeaks(t)
	f := newFile(25).generation(1, 4).generation(2, 4)
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		s, err := Open(ctx, "-", Options{Stdin: bytes.NewReader(gzipped(t, f.b))})
		if err != nil {
			t.Fatal(err)
		}
		if got := outline(all(t, s)); got != "1 2" {
			t.Error(got)
		}
		s.Close()
	}

	// Standard input that gives nothing can be cancelled.
	pr, pw := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, "-", Options{Stdin: pr}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	pw.Close()
}

func TestURL(t *testing.T) {
	noLeaks(t)
	f := newFile(26)
	for gen := range uint64(50) {
		f.generation(gen+1, 300)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" && r.URL.RawQuery != "seconds=2" {
			t.Errorf("query %q", r.URL.RawQuery)
		}
		w.Write(f.b)
	})
	mux.HandleFunc("/gz", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(gzipped(t, f.b))
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		for b := f.b; len(b) > 0; {
			n := min(len(b), 50000)
			w.Write(b[:n])
			w.(http.Flusher).Flush()
			b = b[n:]
			time.Sleep(10 * time.Millisecond)
		}
	})
	mux.Handle("/moved", http.RedirectHandler("/gz", http.StatusFound))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for _, path := range []string{"/debug/pprof/trace", "/debug/pprof/trace?seconds=2", "/gz", "/slow", "/moved"} {
		for _, client := range []*http.Client{nil, srv.Client()} {
			s, err := Open(t.Context(), srv.URL+path, Options{Client: client})
			if err != nil {
				t.Fatal(err)
			}
			gens := all(t, s)
			checkBytes(t, s, gens, len(f.b))
			if len(gens) != 50 || s.Stats().LossCount != 0 {
				t.Errorf("%s: %d generations, %+v", path, len(gens), s.Stats())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBadServers(t *testing.T) {
	noLeaks(t)
	f := newFile(26)
	for gen := range uint64(50) {
		f.generation(gen+1, 300)
	}
	half := f.b[:len(f.b)/2]
	tests := []struct {
		name   string
		serve  http.HandlerFunc
		open   string // part of the error of Open
		losses string // otherwise part of a loss
	}{
		{"not found", http.NotFound, "the server answers 404 Not Found: 404 page not found", ""},
		{"busy", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "\nCould not enable tracing: tracing is already enabled\x1b[2J\nmore", http.StatusInternalServerError)
		}, "the server answers 500 Internal Server Error: Could not enable tracing: tracing is already enabled [2J", ""},
		{"a long error", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, strings.Repeat("x", 1<<20), http.StatusTeapot)
		}, "418", ""},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "204", ""},
		{"empty", func(http.ResponseWriter, *http.Request) {}, "the file is empty", ""},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html><body>log in") }, "an HTML page", ""},
		{"redirect to a file", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		}, "refused a redirect to file:///etc/passwd", ""},
		{"redirect to FTP", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://127.0.0.1/trace", http.StatusFound)
		}, "refused a redirect to ftp://127.0.0.1/trace", ""},
		{"redirect to data", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "data:text/plain,go")
			w.WriteHeader(http.StatusMovedPermanently)
		}, "refused a redirect to data:text/plain,go", ""},
		{"redirect to no URL", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://[::1")
			w.WriteHeader(http.StatusFound)
		}, "failed to parse Location header", ""},
		{"redirect for ever", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusFound)
		}, "more than 10 redirects", ""},
		{"promises more than it sends", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000000000")
			w.Write(half)
		}, "", "the input broke off: the connection ended early"},
		{"promises less than it sends", func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			fmt.Fprintf(rw, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(half)-3, half)
			rw.Flush()
			conn.Close()
		}, "", "the trace ends inside a batch"},
		{"hangs up", func(w http.ResponseWriter, _ *http.Request) {
			w.Write(half)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "", "the input broke off: the connection ended early"},
		{"gzip that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			b := gzipped(t, f.b)
			w.Write(b[:len(b)/2])
		}, "", "the gzip data is truncated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.serve)
			defer srv.Close()
			wantBad(t, srv.URL, Options{}, tt.open, tt.losses)
		})
	}
}

// Servers from which nothing comes. Whoever waits for one gives up by a clock that
// goes on only when nobody has anything to do.
func TestStalledServers(t *testing.T) {
	noLeaks(t)
	f := newFile(26)
	for gen := range uint64(50) {
		f.generation(gen+1, 300)
	}
	half := f.b[:len(f.b)/2]
	stall := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for _, tt := range []struct {
		name   string
		serve  http.HandlerFunc
		open   string
		losses string
		takes  time.Duration
	}{
		{"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within 11m0s", "", headerTimeout},
		{"before the header", func(w http.ResponseWriter, r *http.Request) {
			w.Write(half[:7])
			stall(w, r)
		}, "the server stalled: nothing came for 2m0s", "", idleTimeout},
		{"in the middle", func(w http.ResponseWriter, r *http.Request) {
			w.Write(half)
			stall(w, r)
		}, "", "the input broke off: the server stalled: nothing came for 2m0s", idleTimeout},
		{"with an error", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			stall(w, r)
		}, "502 Bad Gateway", "", idleTimeout},
		{"slow, but not for so long", func(w http.ResponseWriter, r *http.Request) {
			for b := range slices.Chunk(half, len(half)/4) {
				select {
				case <-time.After(idleTimeout - time.Second):
				case <-r.Context().Done():
				}
				w.Write(b)
				w.(http.Flusher).Flush()
			}
		}, "", "the trace ends inside a batch", 4 * (idleTimeout - time.Second)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, began := served(t, tt.serve), time.Now()
				wantBad(t, "http://host.invalid/trace", Options{Client: client}, tt.open, tt.losses)
				if took := time.Since(began); took != tt.takes { // by the clock of the bubble, which is exact
					t.Errorf("it took %v, want %v", took, tt.takes)
				}
			})
		})
	}
}

// served returns a client of a server that it reaches by pipes in memory, which
// hold no clock up.
func served(t *testing.T, serve http.HandlerFunc) *http.Client {
	pipes := pipeListener{make(chan net.Conn), make(chan struct{})}
	srv := &http.Server{Handler: serve}
	go srv.Serve(pipes)
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		pipes.conns <- theirs
		return ours, nil
	}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
	})
	return &http.Client{Transport: tr}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error   { close(l.closed); return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// wantBad opens a URL, which must fail with a part of a message; else its last loss must
// have one.
func wantBad(t *testing.T, url string, o Options, open, losses string) {
	t.Helper()
	s, err := Open(t.Context(), url, o)
	if err != nil {
		msg := err.Error()
		if open == "" || !strings.Contains(msg, open) || !strings.Contains(msg, url) || strings.ContainsAny(msg, "\n\x1b") || len(msg) > 400 {
			t.Errorf("%s, want %q", msg, open)
		}
		return
	}
	defer s.Close()
	if open != "" {
		t.Errorf("no error, want %q", open)
	}
	gens := all(t, s)
	st := s.Stats()
	if len(gens) < 5 || st.LossCount == 0 || !strings.Contains(st.Losses[st.LossCount-1].Why, losses) {
		t.Errorf("%d generations, %+v", len(gens), st)
	}
}

// An answer without end ends where its limit is: of a generation, of what is
// searched for the next batch, or of a v1 trace.
func TestEndlessAnswer(t *testing.T) {
	noLeaks(t)
	batch := newFile(26).batch(1, 1, 1, bytes.Repeat([]byte{13}, 60000)).b[headerSize:]
	for _, tt := range []struct {
		name, head string
		again      []byte
		want       string
	}{
		{"one generation", "go 1.26 trace\x00\x00\x00", batch, "generation 1 is larger than"},
		{"nothing that is a batch", "go 1.26 trace\x00\x00\x00" + string(batch), make([]byte, 60000), "gave up after 5 MiB"},
		{"a v1 trace", "go 1.21 trace\x00\x00\x00", batch, "record a shorter one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, tt.head)
				for r.Context().Err() == nil {
					w.Write(tt.again)
				}
			}))
			defer srv.Close()
			s, err := Open(t.Context(), srv.URL, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.maxGen, s.maxV1, s.maxScan = 5<<20, 5<<20, 5<<20
			for err == nil {
				_, err = s.Next()
			}
			why := err.Error()
			if errors.Is(err, io.EOF) {
				why = s.Stats().Losses[0].Why
			}
			if !strings.Contains(why, tt.want) {
				t.Errorf("%s, want %q", why, tt.want)
			}
			if n := s.Stats().Bytes; n > 20<<20 {
				t.Errorf("%d bytes were read", n)
			}
		})
	}
}

// Cancelling ends a read that waits for the server.
func TestCancelURL(t *testing.T) {
	noLeaks(t)
	f := newFile(26).generation(1, 3).generation(2, 3)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(f.b[:len(f.b)-3])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(ctx, srv.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

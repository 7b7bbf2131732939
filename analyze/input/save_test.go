package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Save keeps what came of a trace, however it ended, and nothing of what is no trace.
func TestSave(t *testing.T) {
	noLeaks(t)
	f := newFile(26)
	for gen := range uint64(50) {
		f.generation(gen+1, 300)
	}
	whole := f.b
	half := whole[:len(whole)/2]
	packed := gzipped(t, whole)
	page := []byte("<!DOCTYPE html><html><body>log in")
	profile := []byte("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x1c")
	write := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }
	}
	then := func(b []byte, end func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Write(b)
			w.(http.Flusher).Flush()
			end(w, r)
		}
	}
	die := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	stall := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tests := []struct {
		name  string
		serve http.HandlerFunc
		max   int64 // 0 means much
		want  []byte
		cut   string // part of Saved.Cut
		err   string // part of the error
	}{
		{"whole", write(whole), 0, whole, "", ""},
		{"exactly the limit", write(whole), int64(len(whole)), whole, "", ""},
		{"a header only", write(whole[:headerSize]), 0, whole[:headerSize], "", ""},
		{"gzip", write(packed), 0, packed, "", ""},
		{"gzip as encoding", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed)
		}, 0, packed, "", ""},
		{"zstd", write(zstded(t, whole)), 0, zstded(t, whole), "", ""},
		{"hangs up", then(half, die), 0, half, "the connection ended early", ""},
		{"hangs up in gzip", then(packed[:len(packed)/2], die), 0, packed[:len(packed)/2], "the connection ended early", ""},
		{"stalls", then(half, stall), 0, half, "the server stalled: nothing came for 200ms", ""},
		{"promises more than it sends", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000000000")
			w.Write(half)
		}, 0, half, "the connection ended early", ""},
		{"no end", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write(whole)
			}
		}, int64(len(whole) + 5), append(bytes.Clone(whole), whole[:5]...), "larger than the limit", ""},
		{"one byte too many", write(whole), int64(len(whole) - 1), whole[:len(whole)-1], "larger than the limit", ""},
		{"hangs up after the header", then(whole[:headerSize], die), 0, nil, "", "the connection ended early"},
		{"hangs up in the header", then(whole[:7], die), 0, nil, "", "the connection ended early"},
		{"hangs up in the header of gzip", then(packed[:5], die), 0, nil, "", "the connection ended early"},
		{"a web page", write(page), 0, nil, "", "an HTML page"},
		{"a web page in gzip", write(gzipped(t, page)), 0, nil, "", "an HTML page"},
		{"a profile", write(gzipped(t, profile)), 0, nil, "", "pprof profile"},
		{"twice packed", write(gzipped(t, packed)), 0, nil, "", "unpack it once"},
		{"nothing", write(nil), 0, nil, "", "the file is empty"},
		{"another format", write([]byte("go 1.99 trace\x00\x00\x00 and more")), 0, nil, "", "look for a newer gmpscope"},
		{"an error", http.NotFound, 0, nil, "", "404 Not Found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.serve)
			defer srv.Close()
			o := Options{idleTimeout: time.Minute} // a busy machine is no bad server
			if tt.name == "stalls" {
				o.idleTimeout = 200 * time.Millisecond
			}
			if tt.max == 0 {
				tt.max = 1 << 30
			}
			var got bytes.Buffer
			saved, err := Save(t.Context(), srv.URL, &got, tt.max, o)
			if text := fmt.Sprint(err); err == nil != (tt.err == "") || !strings.Contains(text, tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if text := fmt.Sprint(saved.Cut); saved.Cut == nil != (tt.cut == "") || !strings.Contains(text, tt.cut) {
				t.Errorf("cut by %v, want %q", saved.Cut, tt.cut)
			}
			if !bytes.Equal(got.Bytes(), tt.want) || saved.Bytes != int64(len(tt.want)) {
				t.Errorf("%d bytes, and says %d; want %d", got.Len(), saved.Bytes, len(tt.want))
			}
		})
	}
}

// The end of the context ends a recording that goes on, and what came until then is copied.
func TestSaveUntil(t *testing.T) {
	noLeaks(t)
	whole := newFile(26).generation(1, 3000).generation(2, 3000).b
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(whole)
		for r.Context().Err() == nil {
			w.Write(make([]byte, 1<<16))
		}
	}))
	defer srv.Close()
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var seen int64
	var got bytes.Buffer
	saved, err := Save(ctx, srv.URL, &got, 1<<40, Options{Progress: func(n, _ int64) {
		if seen = n; n > 1<<20 {
			cancel(late)
		}
	}})
	if err != nil || !errors.Is(saved.Cut, late) || saved.Bytes != int64(got.Len()) || saved.Bytes < 1<<20 || saved.Bytes != seen || !bytes.HasPrefix(got.Bytes(), whole) {
		t.Errorf("%d bytes, said %d, seen %d; cut by %v; %v", got.Len(), saved.Bytes, seen, saved.Cut, err)
	}
}

// A file that cannot be written is no trace that broke off.
func TestSaveNowhere(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(newFile(26).generation(1, 3000).b)
		panic(http.ErrAbortHandler)
	}))
	defer srv.Close()
	pr, pw := io.Pipe()
	full := errors.New("the disk is full")
	pr.CloseWithError(full)
	if saved, err := Save(t.Context(), srv.URL, pw, 1<<30, Options{}); !errors.Is(err, full) || saved.Cut != nil {
		t.Errorf("%+v, %v", saved, err)
	}
	for _, name := range []string{"trace.out", "https:u:pw@h"} {
		if _, err := Save(t.Context(), name, io.Discard, 1, Options{}); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

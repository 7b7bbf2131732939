package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestURLSecrets gives URLs with secrets in all their parts to all commands,
// where they belong and where they do not: nothing that is written has one.
func TestURLSecrets(t *testing.T) {
	whole := tracetest.Recorded(t, "uneven-go1.26-p4")
	mux := http.NewServeMux()
	mux.HandleFunc("/trace;s3cr3t", func(w http.ResponseWriter, _ *http.Request) { w.Write(whole) })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Write(whole[:len(whole)*3/4])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.URL.String()+r.Header.Get("Authorization"), http.StatusForbidden)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://s3cr3t:s3cr3t@[::1#s3cr3t")
		w.WriteHeader(http.StatusFound)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	const user, query = "s3cr3tuser:s3cr3tpassword@", "?seconds=1&token=s3cr3ttoken&s3cr3tword#s3cr3tfragment"
	host := strings.TrimPrefix(srv.URL, "http://")
	names := []string{
		"http://" + user + host + "/trace;s3cr3t" + query,
		"HTTP://" + user + host + "/cut" + query,
		"http://" + user + host + "/echo" + query,
		"http://" + user + host + "/away" + query,
		"http://" + user + "127.0.0.1:1/" + query,
		"http://" + user + "[::1" + query,
		"http://s3cr3tuser:s3cr3t/password@" + host,
		"https:" + user + host + query,
		"ftp://" + user + host + query,
		user + host + query,
		"//" + user + host + query,
		" http://" + user + host + query,
	}
	file, err := filepath.Abs(filepath.Join(traces, "uneven-go1.26-p4.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range names {
		for _, args := range [][]string{
			{"analyze", name},
			{"analyze", name, "--format", "json", "--timeline"},
			{"report", name, "--no-fetch"},
			{name, "--no-fetch", "-o", "page.html"},
			{"dump", name, "--to", "1ns"},
			{"replay", name, "--format", "json"},
			{"diff", name, file, "-o", "page.html"},
			{"diff", file, name, "--format", "json"},
			{"check", name},
			{"check", name, "--format", "sarif"},
			{"check", file, "--baseline", name},
			{"record", name},
			{"record", name, name},
			{"record", "--", name},
			// where there should be something else
			{"analyze", file, "--workers", name},
			{"analyze", file, "--format=" + name},
			{"analyze", file, "--" + name},
			{"check", file, "--budget", name},
			{"replay", file, "--speed", name},
			{"explain", name},
			{"version", name},
			{"help", name},
			{"completion", name},
			{"report", file, "--no-fetch", "-o", name},
			{"record", srv.URL + "/cut", "-o", name},
		} {
			if args[len(args)-2] == "-o" && !strings.Contains(name, "://") {
				continue // a file may be called so
			}
			var out, errs bytes.Buffer
			run(t.Context(), args, nil, &out, &errs)
			if text := out.String() + errs.String(); strings.Contains(text, "s3cr3t") {
				i := strings.Index(text, "s3cr3t")
				t.Errorf("%q: %q", args, text[max(0, i-200):min(len(text), i+100)])
			}
			files, err := os.ReadDir(".")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f.Name())
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(f.Name(), "s3cr3t") || bytes.Contains(b, []byte("s3cr3t")) {
					t.Errorf("%q: the file %s has it", args, f.Name())
				}
				os.Remove(f.Name())
			}
		}
	}
}

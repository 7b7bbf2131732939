// Greeting-cards serves cards of many themes by HTTP.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/greeting-cards/themes"
)

const (
	folk     = 25 // themes that are asked for one after the other
	cards    = 2000
	requests = 450
	period   = 2 * time.Millisecond
)

func main() {
	dir, err := os.MkdirTemp("", "cards-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	writeThemes(dir)
	rec.Start()
	took := serve(dir, false)
	rec.Stop()
	mended := serve(dir, true)
	fmt.Fprintf(os.Stderr, "proof: %d cards of a theme that was loaded, p50 %v, p90 %v; if each theme is loaded for itself, untraced: p50 %v, p90 %v\n",
		len(took), took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

func writeThemes(dir string) {
	for theme := range folk {
		var text strings.Builder
		for card := range cards {
			fmt.Fprintf(&text, "{{define \"card %d\"}}Dear {{.Name}}, {{if .Late}}belated {{end}}wishes {{range .From}}from {{.}} {{end}}(%d){{end}}\n", card, theme)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("theme ", theme)), []byte(text.String()), 0o644); err != nil {
			panic(err)
		}
	}
}

// serve returns how long cards of theme 0 took, which is loaded at first.
func serve(dir string, apart bool) []time.Duration {
	catalog := themes.NewCatalog(dir)
	catalog.Apart = apart
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { show(w, r, catalog) }))
	defer server.Close()
	get(server, 0)
	took := make([]time.Duration, requests)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range requests {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			if theme := n * folk / requests; n%18 == 0 {
				get(server, theme)
				return
			}
			get(server, 0)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	took = slices.DeleteFunc(took, func(d time.Duration) bool { return d == 0 })
	slices.Sort(took)
	return took
}

func show(w http.ResponseWriter, r *http.Request, catalog *themes.Catalog) {
	err := catalog.Render(w, r.FormValue("theme"), "card 7", map[string]any{"Name": "Ida", "Late": true, "From": []string{"Per", "Ole"}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func get(server *httptest.Server, theme int) {
	answer, err := server.Client().Get(fmt.Sprintf("%s/?theme=theme+%d", server.URL, theme))
	if err != nil {
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

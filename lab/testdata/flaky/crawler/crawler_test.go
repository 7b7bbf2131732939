package crawler

import (
	"fmt"
	"strings"
	"testing"
)

type fake map[string]string

func (f fake) Page(path string) (string, bool) { h, ok := f[path]; return h, ok }

// A start page with 40 chapters, each with 100 dead links.
func site() fake {
	f := fake{}
	var index strings.Builder
	for c := range 40 {
		path := fmt.Sprintf("/chapter/%d", c)
		fmt.Fprintf(&index, `<a href="%s">%d</a>`, path, c)
		var page strings.Builder
		for i := range 100 {
			fmt.Fprintf(&page, `<p>See <a href="/gone/%d/%d">there</a></p>`, c, i)
		}
		f[path] = page.String()
	}
	f["/"] = index.String()
	return f
}

func TestAllBrokenLinksAreFound(t *testing.T) {
	rep := Crawl(site(), "/")
	if rep.Pages != 41 {
		t.Errorf("crawled %d pages, want 41", rep.Pages)
	}
	if len(rep.Broken) != 4000 {
		t.Errorf("found %d broken links, want 4000", len(rep.Broken))
	}
}

// Package crawler walks a site, breadth first, and collects the links that
// lead nowhere. The pages of a level are looked at concurrently.
package crawler

import (
	"net/url"
	"regexp"
	"sync"
)

// Site returns the text of a page.
type Site interface {
	Page(path string) (html string, ok bool)
}

// Broken is a link from a page to a page that is not there.
type Broken struct {
	From, To string
}

// Report of a crawl.
type Report struct {
	Pages  int
	Broken []Broken
}

var href = regexp.MustCompile(`href="([^"]*)"`)

func links(html string) []string {
	var out []string
	for _, m := range href.FindAllStringSubmatch(html, -1) {
		out = append(out, m[1])
	}
	return out
}

// resolve makes a link absolute; a fragment does not count.
func resolve(from, link string) string {
	base, err := url.Parse(from)
	if err != nil {
		return link
	}
	u, err := base.Parse(link)
	if err != nil {
		return link
	}
	u.Fragment = ""
	return u.String()
}

// Crawl starts at path.
func Crawl(s Site, path string) Report {
	var rep Report
	seen := map[string]bool{path: true}
	level := []string{path}
	for len(level) > 0 {
		var wg sync.WaitGroup
		found := make([][]string, len(level))
		for i, from := range level {
			wg.Go(func() {
				html, _ := s.Page(from)
				for _, link := range links(html) {
					to := resolve(from, link)
					if _, ok := s.Page(to); !ok {
						rep.Broken = append(rep.Broken, Broken{from, to})
						continue
					}
					found[i] = append(found[i], to)
				}
			})
		}
		wg.Wait()
		rep.Pages += len(level)
		level = nil
		for _, f := range found {
			for _, to := range f {
				if !seen[to] {
					seen[to] = true
					level = append(level, to)
				}
			}
		}
	}
	return rep
}

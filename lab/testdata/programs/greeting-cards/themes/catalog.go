// Package themes loads the templates of greeting cards when they are needed.
package themes

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"text/template"
)

// A Catalog is a folder of themes.
type Catalog struct {
	Apart bool // load each theme for itself: the remedy
	dir   string
	mu    sync.Mutex
	known map[string]*theme
}

type theme struct {
	once  sync.Once
	cards *template.Template
	err   error
}

func NewCatalog(dir string) *Catalog { return &Catalog{dir: dir, known: make(map[string]*theme)} }

// Render writes a card of a theme.
func (c *Catalog) Render(w io.Writer, name, card string, data any) error {
	t := c.find(name)
	if t.err != nil {
		return t.err
	}
	return t.cards.ExecuteTemplate(w, card, data)
}

func (c *Catalog) find(name string) *theme {
	c.mu.Lock()
	t, ok := c.known[name]
	if !ok {
		t = &theme{}
		c.known[name] = t
	}
	if c.Apart {
		c.mu.Unlock()
		t.once.Do(func() { t.load(filepath.Join(c.dir, name)) })
		return t
	}
	defer c.mu.Unlock()
	if !ok {
		t.load(filepath.Join(c.dir, name))
	}
	return t
}

func (t *theme) load(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.err = err
		return
	}
	t.cards, t.err = template.New("").Parse(string(text))
}

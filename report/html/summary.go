package html

import (
	"io"
	"slices"
	"strconv"

	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// summaryPage is what summary.tmpl gets: a page about several traces, with a headline and sections below it.
type summaryPage struct {
	sources

	Kind, Title, Tool, Version string
	Status, Badge, Headline    string
	Reasons                    []doc.Block // below the headline
	Nav                        []navItem
	Sections                   []*doc.Section
	charts                     map[string]*chart
}

// menu has what the sections are called in the menu, by their IDs.
var menu = map[string]string{
	"work": "Work", "metrics": "Metrics", "findings": "Findings", "causes": "Causes", "classes": "Classes", "sides": "The traces",
	"outliers": "Outliers", "groups": "Groups", "trend": "Versions", "times": "Times", "waits": "Longest waits",
}

// add adds sections, of which some may be nil.
func (p *summaryPage) add(list ...*doc.Section) {
	for _, s := range list {
		if s == nil {
			continue
		}
		p.Sections = append(p.Sections, s)
		if title := menu[s.ID]; title != "" {
			p.Nav = append(p.Nav, navItem{ID: s.ID, Title: title})
		}
	}
}

// insert puts a drawing below the first block of a section.
func (p *summaryPage) insert(id string, b doc.Block) {
	for _, s := range p.Sections {
		if s.ID == id {
			s.Blocks = slices.Insert(s.Blocks, 1, b)
		}
	}
}

// write writes the page, which has no findings in full; names calls functions.
func (p *summaryPage) write(w io.Writer, names *words.Names, o Options) error {
	var islands []island
	var err error
	if len(o.ECharts) > 0 {
		if islands, err = chartIslands(p.charts); err != nil {
			return err
		}
	}
	p.Version = strconv.Itoa(report.Schema)
	if p.sources, err = o.sources(islands, "core.js", "tables.js"); err != nil {
		return err
	}
	return execute(w, "summary.tmpl", p, drawsWith(names, nil))
}

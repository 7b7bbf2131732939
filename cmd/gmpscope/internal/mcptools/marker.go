package mcptools

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report"
)

// marker marks what a trace names, in answers, as data.
type marker struct {
	doc   *report.Document
	prose *strings.Replacer
}

// plain is how names of functions, and of their receivers and type arguments, are formed.
// With a place behind it, it is a frame of a stack.
var plain = sync.OnceValue(func() *regexp.Regexp { // other commands do without
	return regexp.MustCompile(`^[\pL\pN_./()*\[\]·…,:;{}~%@$-]*( \([\pL\pN_./()…@~+%-]*:\d+\))?$`)
})

const maxName = 160

// shown is a text as it may be shown: what is hidden in it is visible, and it forges no mark.
func shown(s string) string {
	return strings.NewReplacer("«", "<", "»", ">").Replace(term.Visible(s))
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// marked is a text from the trace.
func marked(s string) string {
	if s = cut(shown(s), maxName); plain().MatchString(s) {
		return s
	}
	return "«" + s + "»"
}

// unmarked is a name as an assistant repeats it.
func unmarked(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "«"), "»") }

// newMarker returns a marker of the names in documents; functions are called as in the first.
func newMarker(docs ...*report.Document) *marker {
	odd := map[string]bool{}
	for _, doc := range docs {
		names := doc.Names()
		for _, name := range namesIn(doc.Result) {
			for _, form := range []string{name, names.Class(name), names.Function(name), names.ShortName(name)} {
				if form = shown(form); !plain().MatchString(form) {
					odd[form] = true
				}
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(odd), func(x, y string) int { return cmp.Or(len(y)-len(x), strings.Compare(x, y)) }) // a name may hold another
	var pairs []string
	for _, name := range list {
		pairs = append(pairs, name, marked(name))
	}
	return &marker{docs[0], strings.NewReplacer(pairs...)}
}

// namesIn returns the names of a trace that may stand in sentences about it.
func namesIn(r *analyze.Result) []string {
	all := []string{r.Trace.Program, r.Trace.Name}
	for i := range r.Waits.Classes {
		c := &r.Waits.Classes[i]
		all = append(all, c.Name, c.Creator, c.StartedBy)
	}
	for i := range r.Breakdown.Classes {
		all = append(all, r.Breakdown.Classes[i].Name)
	}
	for i := range r.Work.Kinds {
		k := &r.Work.Kinds[i]
		all = append(all, k.Name, k.Class)
		for j := range k.Path {
			_, site := k.Path[j].Own()
			all = append(all, k.Path[j].Who, k.Path[j].Where, site)
		}
		for j := range k.Slowest {
			for _, region := range k.Slowest[j].Regions {
				all = append(all, region.Name)
			}
			for _, l := range k.Slowest[j].Logs {
				all = append(all, l.Text)
			}
		}
	}
	frames := func(stack []string) {
		for _, f := range stack {
			all = append(all, f)
			if i := strings.LastIndex(f, " ("); i > 0 {
				all = append(all, f[:i])
			}
		}
	}
	worst := slices.Clone(r.Waits.Worst)
	for i := range r.Waits.Classes {
		worst = append(worst, r.Waits.Classes[i].Worst...)
	}
	for i := range worst {
		if by := worst[i].By; by != nil {
			frames(by.Stack)
		}
		for _, h := range worst[i].Held {
			frames(h.Stack)
		}
	}
	for i := range r.Findings {
		for _, a := range r.Findings[i].Actors {
			all = append(all, a.Class, a.Creator)
			frames(a.Stack)
		}
	}
	return all
}

// class is what a class or function is called.
func (m *marker) class(name string) string {
	if name == "" {
		return ""
	}
	return marked(m.doc.Names().Class(name))
}

// sentence is a text of ours, in which names of the trace stand.
func (m *marker) sentence(s string) string { return m.prose.Replace(cut(shown(s), 1500)) }

// finding is sentence for a text of a finding.
func (m *marker) finding(t findings.Text) string { return m.sentence(m.doc.Names().Text(t)) }

func (m *marker) sentences(list []string) []string { return mapped(list, m.sentence) }

// mapped returns what f makes of each element.
func mapped[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

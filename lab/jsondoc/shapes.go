package jsondoc

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay"
)

const module = "github.com/gmpscope/gmpscope"

// root is a document: its title, its file in docs/schema, who writes it, its type.
type root struct {
	title, file, writer string
	typ                 reflect.Type
}

// names are those of types that are not called by the name of their Go type, since
// others have it or since the package made it clear.
var names = map[reflect.Type]string{
	reflect.TypeFor[timeline.PInterval]():   "Stint",
	reflect.TypeFor[waits.WaitDetail]():     "Story",
	reflect.TypeFor[waits.PHold]():          "Held",
	reflect.TypeFor[waits.RanAhead]():       "Ahead",
	reflect.TypeFor[waits.BlockedBefore]():  "Before",
	reflect.TypeFor[waits.FilledBucket]():   "Level",
	reflect.TypeFor[analyze.RulesApplied](): "Rules",
	reflect.TypeFor[jsondoc.TimeInStates](): "Lives",
	reflect.TypeFor[replay.AuditResult]():   "Guided",
	reflect.TypeFor[jsondoc.FleetWait]():    "FleetStory",
	reflect.TypeFor[waits.CauseTime]():      "Cause",
	reflect.TypeFor[waits.Cause]():          "CauseName",
	reflect.TypeFor[procs.Proc]():           "P",
	reflect.TypeFor[fairness.Class]():       "FairClass",
	reflect.TypeFor[fairness.Result]():      "Fairness",
	reflect.TypeFor[timeline.Result]():      "Timeline",
	reflect.TypeFor[timeline.Span]():        "Interval",
	reflect.TypeFor[findings.CostBase]():    "CostOf",
	reflect.TypeFor[replay.Decomposition](): "Reference",
	reflect.TypeFor[replay.Parts]():         "Split",
	reflect.TypeFor[replay.ClassSplit]():    "SplitClass",
	reflect.TypeFor[replay.Error]():         "Deviation",
	reflect.TypeFor[replay.ErrorWaits]():    "WaitDeviation",
	reflect.TypeFor[replay.Run]():           "RunSummary",
	reflect.TypeFor[replay.Waits]():         "RunWaits",
	reflect.TypeFor[replay.Weighted]():      "RunQuantiles",
	reflect.TypeFor[replay.Size]():          "Workload",
	reflect.TypeFor[replay.Range]():         "Spread",
	reflect.TypeFor[replay.Verdict]():       "Judgement",
	reflect.TypeFor[compare.Verdict]():      "DiffVerdict",
	reflect.TypeFor[findings.Kind]():        "FindingKind",
	reflect.TypeFor[compare.Basis]():        "DiffBasis",
}

// sameSection are types that are described where another one of their name is.
var sameSection = map[reflect.Type]reflect.Type{
	reflect.TypeFor[analyze.Trace](): reflect.TypeFor[jsondoc.Trace](),
}

// minComment is how many words the comment of a group of constants has if it says no
// more than that they are some: "The kinds of decisions."
const minComment = 5

// document is a root with all types that it refers to.
type document struct {
	root
	shapes []*shape // the root first, each before those that it refers to
	byType map[reflect.Type]*shape
}

// shape is a struct, or a set of words.
type shape struct {
	name   string
	typ    reflect.Type
	doc    comment
	fields []field // of a struct
	words  []word  // else
}

// field is a key of a struct.
type field struct {
	key      string
	doc      comment
	typ      reflect.Type
	optional bool
	embedded reflect.Type // the struct, embedded in that of the shape, that it comes from; or nil
}

// word is one of the values that a key can have.
type word struct {
	text string
	doc  comment
}

// collector finds the types of documents, and their comments.
type collector struct {
	sources *sources
	taken   map[string]reflect.Type // names
}

func newCollector(dir string) *collector {
	return &collector{newSources(dir), map[string]reflect.Type{}}
}

func (c *collector) document(r root) (*document, error) {
	d := &document{root: r, byType: map[reflect.Type]*shape{}}
	if err := c.add(d, r.typ, r.title); err != nil {
		return nil, fmt.Errorf("document %s: %w", r.title, err)
	}
	return d, nil
}

// add adds t, and what it refers to, to a document.
func (c *collector) add(d *document, t reflect.Type, name string) error {
	if d.byType[t] != nil {
		return nil
	}
	if other := c.taken[name]; other != nil && other != t && sameSection[t] != other {
		return fmt.Errorf("%s and %s are both called %s", other, t, name)
	}
	if c.taken[name] == nil {
		c.taken[name] = t
	}
	s := &shape{name: name, typ: t}
	d.shapes, d.byType[t] = append(d.shapes, s), s
	var err error
	if s.doc, err = c.sources.typeComment(t); err != nil {
		return err
	}
	if rest, ok := strings.CutPrefix(s.doc.text, t.Name()+" "); ok {
		s.doc.text = name + " " + rest // as it is called here
	}
	if t.Kind() != reflect.Struct {
		var group string
		if s.words, group, err = c.sources.words(t); len(strings.Fields(group)) > minComment {
			s.doc.text += "\n" + group
		}
		return err
	}
	if s.fields, err = c.fields(t); err != nil {
		return err
	}
	for _, f := range s.fields {
		for _, u := range named(f.typ) {
			if err := c.add(d, u, cmp.Or(names[u], u.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// fields are the keys of a struct, in their order.
func (c *collector) fields(t reflect.Type) ([]field, error) {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			u := f.Type
			if u.Kind() == reflect.Pointer {
				u = u.Elem()
			}
			inner, err := c.fields(u)
			if err != nil {
				return nil, err
			}
			for _, x := range inner {
				x.embedded = u
				x.optional = x.optional || f.Type.Kind() == reflect.Pointer
				out = append(out, x)
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		tag := strings.Split(f.Tag.Get("json"), ",")
		if tag[0] == "-" {
			continue
		}
		if tag[0] == "" {
			return nil, fmt.Errorf("%s.%s has no key", t, f.Name)
		}
		doc, err := c.sources.fieldComment(t, f.Name)
		if err != nil {
			return nil, err
		}
		if doc.text == "" && len(named(f.Type)) == 0 { // else the section of its type has one
			return nil, fmt.Errorf("%s.%s, the key %q, has no comment", t, f.Name, tag[0])
		}
		out = append(out, field{key: tag[0], doc: doc, typ: f.Type, optional: slices.Contains(tag[1:], "omitempty")})
	}
	return out, nil
}

// named returns the types with a definition of their own that t is made of.
func named(t reflect.Type) []reflect.Type {
	switch {
	case t == bytesType, t == textType:
		return nil
	case t == basisType:
		return []reflect.Type{levelType, ruleType}
	case t.Kind() == reflect.Struct || isWord(t):
		return []reflect.Type{t}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return named(t.Elem())
	case reflect.Map:
		return append(named(t.Key()), named(t.Elem())...)
	}
	return nil
}

// isWord reports whether a type has a fixed set of words for values: a type of our
// own that is a string, or a number that is written as one.
func isWord(t reflect.Type) bool {
	return t.PkgPath() != "" && (t.Kind() == reflect.String || t.Implements(reflect.TypeFor[fmt.Stringer]()))
}

var (
	bytesType = reflect.TypeFor[[]uint8]()         // JSON has them in base64
	textType  = reflect.TypeFor[findings.Text]()   // a string
	basisType = reflect.TypeFor[reference.Basis]() // a level, and perhaps a rule
	levelType = reflect.TypeFor[reference.Level]()
	ruleType  = reflect.TypeFor[reference.Rule]()
)

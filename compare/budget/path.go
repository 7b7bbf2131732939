package budget

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gmpscope/gmpscope/docs/schema"
	"github.com/gmpscope/gmpscope/internal/names"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// shape is what a path needs to know of a JSON Schema.
type shape struct {
	Ref        string            `json:"$ref"`
	AnyOf      []*shape          `json:"anyOf"` // the value, or null
	Properties map[string]*shape `json:"properties"`
	Values     *shape            `json:"additionalProperties"` // of a map
	Items      *shape            `json:"items"`
	Type       any               `json:"type"` // a name, or a list of them
	Defs       map[string]*shape `json:"$defs"`
}

// analysis is the shape of the document that rules are held against.
var analysis = sync.OnceValues(func() (*shape, error) {
	text, err := schema.Files.ReadFile("analyze.json")
	if err != nil {
		return nil, err
	}
	var s shape
	return &s, json.Unmarshal(text, &s)
})

// resolve follows the references of s within root.
func (s *shape) resolve(root *shape) *shape {
	for s != nil && (s.Ref != "" || len(s.AnyOf) > 0) {
		if s.Ref != "" {
			s = root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		} else {
			s = s.AnyOf[0]
		}
	}
	return s
}

func (s *shape) isNumber() bool {
	number := func(t any) bool { return t == "number" || t == "integer" }
	if list, ok := s.Type.([]any); ok {
		return slices.ContainsFunc(list, number)
	}
	return number(s.Type)
}

// checkPath reports what is wrong with a path that leads to a number in no document.
func checkPath(path []step) error {
	root, err := analysis()
	if err != nil {
		return err
	}
	at, where := root, "the document"
	for i, x := range path {
		next := at.Properties[x.key]
		if next == nil {
			next = at.Values
		}
		if next == nil {
			return noKey(at, x.key, where)
		}
		next = next.resolve(root)
		name := show(path[:i+1])
		switch {
		case x.choice && next.Items == nil:
			return fmt.Errorf("%s is no list, so that it has no element %s", strings.TrimSuffix(name, "["+x.choose+"]"), x.choose)
		case x.choice:
			if now := renamed(x); now != "" {
				return fmt.Errorf("there is no cause %q since schema 3: write %s[%s]", x.choose, x.key, now)
			}
			next = next.Items.resolve(root)
		case next.Items != nil && i+1 < len(path):
			return fmt.Errorf("%s is a list: choose an element, as in %[1]s[NAME].%s", name, show(path[i+1:]))
		}
		at, where = next, name
	}
	if !at.isNumber() {
		return fmt.Errorf("%s is no number%s", where, among(at))
	}
	return nil
}

// renamed is the present name of a cause that x chooses by its old one; empty if it does not.
func renamed(x step) string {
	if x.key != "causes" {
		return ""
	}
	for _, t := range vocabulary.Find(x.choose) {
		if t.Kind == vocabulary.Cause && t.Name != x.choose {
			return t.Name
		}
	}
	return ""
}

// noKey is the error that at, which is at where, has no such key.
func noKey(at *shape, key, where string) error {
	switch {
	case at.Properties == nil:
		return fmt.Errorf("there is no %q in %s, which has no parts", key, where)
	case where == "the document" && key == "requests":
		return errors.New(`there is no "requests" since schema 3: write work.kinds[NAME].latency.p99_ns, or .count`)
	}
	shorter := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
	keys := slices.SortedFunc(maps.Keys(at.Properties), shorter)
	if near := names.Near(key, keys); len(near) > 0 {
		return fmt.Errorf("there is no %q in %s; did you mean %s?", key, where, strings.Join(near[:min(len(near), 3)], " or "))
	}
	return fmt.Errorf("there is no %q in %s%s", key, where, among(at))
}

// among lists the keys of s, if it has any.
func among(s *shape) string {
	if s.Properties == nil {
		return ""
	}
	return ", which has " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

// show writes a path as it is read.
func show(path []step) string {
	var parts []string
	for _, x := range path {
		if x.choice {
			x.key += "[" + x.choose + "]"
		}
		parts = append(parts, x.key)
	}
	return strings.Join(parts, ".")
}

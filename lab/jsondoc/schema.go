package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/report"
)

// schemaOf writes the JSON Schema of a document.
func schemaOf(d *document) ([]byte, error) {
	types := map[reflect.Type]*jsonschema.Schema{
		bytesType: {Type: "string", ContentEncoding: "base64"},
		textType:  {Type: "string"},
		basisType: {Type: "string", Pattern: basisPattern()},
	}
	for _, s := range d.shapes[1:] {
		types[s.typ] = &jsonschema.Schema{Ref: "#/$defs/" + s.name}
	}
	root, err := definition(d.shapes[0], types)
	if err != nil {
		return nil, err
	}
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.ID = "https://" + module + "/docs/schema/" + d.file + ".json"
	root.Title = strings.ReplaceAll(d.writer, "`", "")
	if s := root.Properties["schema"]; s != nil {
		s.Const = jsonschema.Ptr(any(report.Schema))
	}
	root.Defs = map[string]*jsonschema.Schema{}
	for _, s := range d.shapes[1:] {
		if s.typ == levelType || s.typ == ruleType {
			continue // parts of a pattern
		}
		if root.Defs[s.name], err = definition(s, types); err != nil {
			return nil, err
		}
	}
	js, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", d.title, err)
	}
	for _, c := range "<>&" { // MarshalIndent escapes what HTML has a meaning for
		js = bytes.ReplaceAll(js, fmt.Appendf(nil, `\u%04x`, c), []byte(string(c)))
	}
	return append(js, '\n'), nil
}

// definition is the schema of one type. Further keys are allowed: a newer gmpscope
// may write some.
func definition(s *shape, types map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{Description: s.doc.plain()}
	if s.fields == nil {
		out.Type = "string"
		for _, w := range s.words {
			out.Enum = append(out.Enum, w.text)
		}
		return out, nil
	}
	out.Type, out.Properties = "object", map[string]*jsonschema.Schema{}
	for _, f := range s.fields {
		p, err := jsonschema.ForType(f.typ, &jsonschema.ForOptions{TypeSchemas: types})
		if err != nil {
			return nil, fmt.Errorf("%s: key %s: %w", s.name, f.key, err)
		}
		if t := f.typ; t.Kind() == reflect.Map && isWord(t.Key()) {
			p.PropertyNames = &jsonschema.Schema{Ref: types[t.Key()].Ref}
		}
		p = asWritten(p, f.optional)
		p.Description = f.doc.plain()
		if isTime(f.key) {
			p.Description += " (ns)"
		}
		out.Properties[f.key] = p
		out.PropertyOrder = append(out.PropertyOrder, f.key)
		if !f.optional {
			out.Required = append(out.Required, f.key)
		}
	}
	return out, nil
}

// asWritten makes of the schema of a Go type that of what is written: a list is
// never null, nor is what is left out instead; the bounds of Go's integers mean
// nothing; and a type and null are one or the other.
func asWritten(s *jsonschema.Schema, optional bool) *jsonschema.Schema {
	s.Minimum, s.Maximum = nil, nil
	if len(s.Types) > 0 {
		if kind := s.Types[len(s.Types)-1]; optional || kind == "array" && s.Items != nil && s.MinItems == nil {
			s.Types, s.Type = nil, kind
		}
	}
	if s.Ref != "" && s.Types != nil || s.Ref != "" && s.Type != "" {
		ref := &jsonschema.Schema{Ref: s.Ref}
		s = ref
		if !optional {
			s = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{ref, {Type: "null"}}}
		}
	}
	if s.Items != nil {
		s.Items = asWritten(s.Items, false)
	}
	if s.AdditionalProperties != nil {
		s.AdditionalProperties = asWritten(s.AdditionalProperties, false)
	}
	return s
}

// isTime reports whether a key names a number of nanoseconds.
func isTime(key string) bool { return key == "ns" || strings.HasSuffix(key, "_ns") }

// basisPattern matches what reference.Basis.String gives.
func basisPattern() string {
	var levels, rules []string
	for l := reference.Unknown; l <= reference.Observed; l++ {
		levels = append(levels, l.String())
	}
	for r := reference.RuleNone + 1; r.String() != "invalid"; r++ {
		rules = append(rules, r.String())
	}
	return "^(" + strings.Join(levels, "|") + ")(:(" + strings.Join(rules, "|") + "))?$"
}

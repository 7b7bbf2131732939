package config

import (
	_ "embed"
	"encoding/json"
	"reflect"

	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

// schema is written by a test, which infers it from the types and takes its
// descriptions from the comments of their fields: go test ./analyze/config -update.
//
//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of a configuration file.
func Schema() []byte { return schema }

// Threshold describes one number that decides when a detector reports a finding, and that a
// configuration file can set.
type Threshold struct {
	Key     string // below the detector's, as in grade.note_ns
	Default string // as in JSON
	Text    string // what it means, with its unit
}

// node is what is read of a schema.
type node struct {
	Properties  map[string]node `json:"properties"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
}

// Thresholds returns the thresholds of a detector, in order; none for an unknown ID.
func Thresholds(id string) []Threshold {
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		panic(err) // it is part of the program
	}
	var out []Threshold
	for f := range reflect.TypeFor[all.Thresholds]().Fields() {
		if key(f) == id {
			out = describe(out, "", f.Type, root.Properties["thresholds"].Properties[id])
		}
	}
	return out
}

func describe(to []Threshold, above string, t reflect.Type, n node) []Threshold {
	for f := range t.Fields() {
		name := above + key(f)
		p := n.Properties[key(f)]
		if f.Type.Kind() == reflect.Struct {
			to = describe(to, name+".", f.Type, p)
			continue
		}
		to = append(to, Threshold{Key: name, Default: string(p.Default), Text: p.Description})
	}
	return to
}

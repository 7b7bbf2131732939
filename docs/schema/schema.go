// Package schema holds the JSON Schemas of what gmpscope writes for programs.
package schema

import "embed"

// Files has a schema for each command, under its name: analyze.json, check.json,
// diff.json, dump.json (of one line), fleet.json and replay.json.
//
//go:embed *.json
var Files embed.FS

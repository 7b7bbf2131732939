// Package schema holds the JSON Schemas of what gmpscope writes for programs.
package schema

import "embed"

// Version is the number of these schemas, which each document has in its key schema. It rises
// when a key changes its meaning or goes away, or a word that it can have, not when one is
// added.
//
//   - 2: in a basis, the rule phase became schedtick, and doubt became taint.
//   - 3: requests went into work.
const Version = 3

// Files has a schema for each command, under its name: analyze.json, check.json,
// diff.json, dump.json and units.json (of one line), fleet.json and replay.json; and meta.json, of the
// file beside a trace.
//
//go:embed *.json
var Files embed.FS

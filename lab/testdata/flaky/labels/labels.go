// Package labels renders metric names with labels, as a text exposition
// format has them.
package labels

import (
	"fmt"
	"strings"
)

// Set of labels.
type Set map[string]string

// Merge returns the union; later sets win.
func Merge(sets ...Set) Set {
	out := Set{}
	for _, s := range sets {
		for k, v := range s {
			out[k] = v
		}
	}
	return out
}

func quote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v) + `"`
}

// Valid reports whether a name may be a label.
func Valid(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// String renders the set: {a="1",b="2"}.
func (s Set) String() string {
	if len(s) == 0 {
		return ""
	}
	parts := make([]string, 0, len(s))
	for k, v := range s {
		if Valid(k) {
			parts = append(parts, k+"="+quote(v))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Line renders a sample.
func Line(name string, s Set, value float64) string {
	return fmt.Sprintf("%s%s %g", name, s, value)
}

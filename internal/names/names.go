// Package names answers: which names are meant? It matches patterns, and finds
// what somebody may have meant who wrote a name that does not exist.
package names

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Match reports whether pattern stands for name: * stands for any letters, also
// none. Nothing else in a pattern is special, so that the names of Go functions,
// which hold brackets, stand for themselves; so does (*T).Method.
func Match(pattern, name string) bool {
	first, rest, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == name
	}
	name, ok = strings.CutPrefix(name, first)
	for ok {
		var part string
		if part, rest, ok = strings.Cut(rest, "*"); !ok {
			return strings.HasSuffix(name, part)
		}
		_, name, ok = strings.Cut(name, part)
	}
	return false
}

// Near returns those of the candidates that are like name, nearest first: up to a
// third of its letters, and at most three, differ, or name is a part of it. Case
// does not count, nor need the path of a function's package be given.
func Near(name string, candidates []string) []string {
	low := strings.ToLower(strings.TrimSpace(name))
	if low == "" {
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	letters := utf8.RuneCountInString(low)
	limit := max(1, min(3, letters/3))
	for _, c := range candidates {
		other := strings.ToLower(c)
		if !strings.Contains(low, "/") {
			other, _, _ = strings.Cut(other, ", ") // how its goroutines were started
			other = other[strings.LastIndexByte(other, '/')+1:]
		}
		if d := utf8.RuneCountInString(other) - letters; d < -limit {
			continue // OPT: the difference in length is a lower bound of the distance
		}
		far := 1
		if len(low) < 3 || !strings.Contains(other, low) {
			far = distance(low, other)
		} else if low == other {
			far = 0
		}
		if far <= limit {
			near = append(near, candidate{c, far})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, c := range near {
		out = append(out, c.name)
	}
	return out
}

// Instead returns, for the error about a name that does not exist, the candidates that are
// like it, or else the first of them.
func Instead(name string, candidates []string) string {
	const likely, some = 3, 8
	quoted := func(list []string, most int) (out []string) {
		for _, n := range list[:min(len(list), most)] {
			out = append(out, fmt.Sprintf("%q", n))
		}
		return out
	}
	if near := Near(name, candidates); len(near) > 0 {
		return "did you mean " + strings.Join(quoted(near, likely), " or ") + "?"
	}
	if len(candidates) == 0 {
		return "there are none"
	}
	s := "there are " + strings.Join(quoted(candidates, some), ", ")
	if n := len(candidates) - some; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// distance is the number of letters to insert, delete or change.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diag := row[0]
		row[0] = i + 1
		for j := range y {
			d := diag
			if x[i] != y[j] {
				d = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], d
		}
	}
	return row[len(y)]
}

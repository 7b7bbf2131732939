// Package words holds what the writers of text and HTML say alike: sentences about waits and comparisons, and
// names fit for them. What causes, states and sources are called is in package vocabulary, how numbers are
// written in package quantity.
package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence returns s with a capital first letter.
func Sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// List joins words with commas and an "and".
func List(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		and := " and "
		if slices.ContainsFunc(words[:n-1], hasComma) {
			and = ", and "
		}
		return strings.Join(words[:n-1], ", ") + and + words[n-1]
	}
}

// hasComma reports whether there is a comma outside of brackets.
func hasComma(s string) bool {
	depth := 0
	for _, r := range s {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

// Ended returns s with a full stop if s does not end like a sentence.
func Ended(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?…") {
		return s
	}
	return s + "."
}

// link is a link of Markdown.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// WithoutLinks returns Markdown with each link replaced by its text, since no report has the targets.
func WithoutLinks(s string) string { return link.ReplaceAllString(s, "$1") }

package words

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/internal/term"
)

// Unknown is the name of a class whose start function the trace does not show,
// where a name stands alone.
const Unknown = "(unknown function)"

// maxName is the length, in runes, to which names are cut in a sentence.
const maxName = 72

// modulePath is the directory part of an import path.
var modulePath = regexp.MustCompile(`^(?:[A-Za-z0-9._~-]+/)+`)

// Class is what a class of goroutines is called in a sentence: its start
// function without the directory of the package.
func Class(s string) string {
	if s == "" {
		return "goroutines of unknown start function"
	}
	return Shortened(s, maxName)
}

// Shortened is the name of a function without the directory of its package, in
// at most n runes.
func Shortened(s string, n int) string { return Cut(Base(Visible(s)), n) }

// links stand between the two functions in the name of a class that is told apart by
// more than its start function.
var links = []string{", started by ", ", woken by ", ", last stopped in "}

// Base is the name of a function without the directory of its package. Only an
// import path is left out: anything stranger is shown.
func Base(s string) string {
	for _, link := range links {
		if what, who, ok := strings.Cut(s, link); ok {
			return Base(what) + link + Base(who)
		}
	}
	if dir := modulePath.FindString(s); dir != "" && len(dir) < len(s) {
		return s[len(dir):]
	}
	return s
}

// imported finds names of functions with their import path in a sentence.
var imported = regexp.MustCompile(`((?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)+)[A-Za-z0-9_~-][A-Za-z0-9._~-]*\.[A-Za-z_(]`)

// Prose makes a sentence of a detector harmless, and leaves the directories out
// of the names of functions in it: those of paths that begin with a domain or
// have three parts, so that runtime/debug.SetGCPercent stays what one looks up.
func Prose(s string) string {
	s = Visible(s)
	var b strings.Builder
	at := 0
	for _, m := range imported.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2], m[3]
		dir := s[from:to]
		first, _, _ := strings.Cut(dir, "/")
		if from > 0 && strings.ContainsRune("/:@", rune(s[from-1])) || !strings.Contains(first, ".") && strings.Count(dir, "/") < 2 {
			continue // of a file, of an address, or short
		}
		b.WriteString(s[at:from])
		at = to
	}
	b.WriteString(s[at:])
	return b.String()
}

// Cut shortens s to n runes, leaving out its middle.
func Cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n * 2 / 3
	tail := n - head - 1
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// Visible makes a string from a trace harmless: what hides, or hides others,
// becomes visible, and invalid UTF-8 becomes U+FFFD.
func Visible(s string) string { return term.Visible(s) }

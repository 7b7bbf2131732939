package html

import (
	"html/template"
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// typeset is the template function that makes text fit for a page: no line is broken between a number and its
// unit, and the minus of a number and the dash that stands for none are not hyphens.
func typeset(s string) string {
	switch {
	case s == "-":
		return "–"
	case len(s) > 1 && s[0] == '-' && s[1] >= '0' && s[1] <= '9':
		s = "−" + s[1:]
	}
	return quantity.NoBreak(s)
}

// breaks is the template function that lets the name of a function be broken after a dot or a
// slash, and nowhere else if that will do.
func breaks(s string) template.HTML {
	return template.HTML(nameBreaks.Replace(template.HTMLEscapeString(s)))
}

// headline is the template function that typesets a sentence that may be too narrow for a name
// in it: it can be broken after a dot of the name.
func headline(s string) template.HTML {
	s = strings.NewReplacer(".(", ".<wbr>(", ").", ").<wbr>").Replace(template.HTMLEscapeString(typeset(s)))
	return template.HTML(afterPackage.ReplaceAllString(s, "$1<wbr>$2"))
}

// afterPackage finds where a name goes on after a dot that no number has.
var afterPackage = regexp.MustCompile(`([\pL\pN_]\.)(\pL)`)

var nameBreaks = strings.NewReplacer(".(", ".<wbr>(", ").", ").<wbr>", "/", "/<wbr>", ".", ".<wbr>")

// Name is a string from a trace, safe to display, and cut if it is long.
type Name struct {
	Short string // what is shown
	Full  string // the whole of it, where Short is not
	Cut   bool   // even Full is not the whole
}

// Lengths, in runes, to which names are cut.
const (
	shortName = 96
	fullName  = 600
)

// name prepares the name of a function or a class. Invalid UTF-8 becomes U+FFFD, and
// characters that would change how others look become visible.
func name(s string, names *words.Names) Name {
	return named(words.Visible(s), names.Shortened(s, shortName))
}

// className is what a class is called; the trace does not always show its start function.
func className(s string, names *words.Names) Name {
	if s == "" {
		return Name{Short: words.Unknown}
	}
	return name(s, names)
}

// wholeName is name for what is told apart by its folders, such as traces.
func wholeName(s string) Name {
	s = words.Visible(s)
	return named(s, words.Cut(s, shortName))
}

func named(s, short string) Name {
	n := Name{Short: short}
	if n.Short != s {
		n.Full = words.Cut(s, fullName)
		n.Cut = n.Full != s
	}
	return n
}

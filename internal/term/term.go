// Package term answers: what may be written to this terminal? It is no API: it
// serves the command line and the text report.
package term

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Is reports whether f, such as an *os.File, is a terminal.
func Is(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Controls reports whether w takes control codes: it is a terminal, and not a dumb
// one. Getenv is os.Getenv or a stand-in.
func Controls(w io.Writer, getenv func(string) string) bool {
	return Is(w) && getenv("TERM") != "dumb"
}

// Color reports whether colours may be written to w: it takes control codes, and
// NO_COLOR is not set (https://no-color.org).
func Color(w io.Writer, getenv func(string) string) bool {
	return Controls(w, getenv) && getenv("NO_COLOR") == ""
}

// ordered matches what begins an order to a build service that reads the output,
// anywhere in a line: ##[add-mask]x, ##vso[task.complete].
var ordered = regexp.MustCompile(`##([A-Za-z]*)\[`)

// Visible makes what hides, or would drive a terminal or a build service, visible:
// control characters, those that change direction or have no width, bytes that are
// no UTF-8, and orders in the midst of a line. Strings that come from a trace or a
// name are hostile until then. What begins a line, [Lines] makes harmless.
func Visible(s string) string {
	if strings.Contains(s, "##") {
		s = ordered.ReplaceAllString(s, "##$1<U+005B>")
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || Hidden(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r) // U+FFFD where the bytes were invalid
		}
	}
	return b.String()
}

// Hidden reports whether r cannot be seen as it is, or would drive a terminal.
func Hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && hiddenBeyondASCII(r) // OPT: nearly all are letters
}

func hiddenBeyondASCII(r rune) bool {
	return r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

// Line returns the first line of s that says something, with what is invisible made visible.
func Line(s string) string {
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			return Visible(l)
		}
	}
	return ""
}

// Lines returns a writer of text to w. No line of it begins with "::", by which
// GitHub Actions knows a workflow command, such as ::add-mask:: or
// ::stop-commands::, in the output of a step: the second colon is written as
// <U+003A>.
func Lines(w io.Writer) io.Writer { return &lines{w: w, begins: true} }

type lines struct {
	w      io.Writer
	begins bool // no visible ASCII character came since the line began, but perhaps a colon
	colon  bool // it came
	buf    []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.buf = l.buf[:0]
	for _, c := range b {
		switch {
		case c == '\n':
			l.begins, l.colon = true, false
		case !l.begins || !l.colon && (c <= ' ' || c >= 0x7f): // which the service may take for space
		case c == ':' && l.colon:
			l.begins = false
			l.buf = append(l.buf, "<U+003A>"...)
			continue
		default:
			l.begins, l.colon = c == ':', true
		}
		l.buf = append(l.buf, c)
	}
	if _, err := l.w.Write(l.buf); err != nil {
		return 0, err
	}
	return len(b), nil
}

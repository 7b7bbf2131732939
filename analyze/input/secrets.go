package input

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// hiddenName is shown for a URL that cannot be taken apart: what in it is secret is not known.
	hiddenName = "a URL"

	// hiddenText stands where foreign text repeated a secret.
	hiddenText = "***"

	// A secret of at least secretPiece bytes is hidden where so many of them stand in a row; one of
	// fewer than secretWord only as a word of its own, or no text would be left.
	secretPiece = 8
	secretWord  = 4

	// maxForeign bounds the foreign text that is searched.
	maxForeign = 2 << 10
)

// harmless are the query parameters that are shown, if their value is a number.
var harmless = []string{"seconds", "debug"}

var plainNumber = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)

// ShownName returns the name of a trace for outputs and errors: a URL without user name, password,
// fragment, parameters of its path, and query parameters other than those known to be harmless.
// What looks like a URL that somebody mistyped loses the same. Another name is returned as it is.
func ShownName(name string) string {
	low := strings.ToLower(name)
	if strings.Contains(name, "://") || strings.HasPrefix(low, "http:") || strings.HasPrefix(low, "https:") {
		u, err := url.Parse(name)
		// A password with a slash, ? or # that is not escaped looks like a port.
		if err != nil || u.User == nil && strings.Contains(u.Host, ":") && strings.Contains(name, "@") {
			return hiddenName
		}
		return shownURL(u)
	}
	place, query, _ := strings.Cut(name, "?")
	at := strings.LastIndexByte(place, '@')
	switch {
	case at >= 0 && (strings.Contains(place[:at], ":") || strings.HasPrefix(place, "//")):
		place = place[at+1:]
	case strings.Contains(query, "="):
	case hostPort.MatchString(place):
	default:
		return name
	}
	place, _, fragment := strings.Cut(place, "#")
	place = shownPath(place)
	if query = shownQuery(query); query != "" && !fragment {
		place += "?" + query
	}
	return place
}

// hostPort matches the beginning of a URL that lacks its scheme.
var hostPort = regexp.MustCompile(`^[A-Za-z0-9.-]{2,}:[0-9]{1,5}(/|#|$)`)

// shownURL returns u without its secrets.
func shownURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	shown.Fragment, shown.RawFragment = "", ""
	shown.RawQuery, shown.ForceQuery = shownQuery(u.RawQuery), false
	shown.Opaque = shownPath(u.Opaque[strings.LastIndexByte(u.Opaque, '@')+1:])
	if p := shownPath(u.Path); p != u.Path {
		shown.Path, shown.RawPath = p, ""
	}
	return shown.String()
}

func shownQuery(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		if key, value, _ := strings.Cut(pair, "="); slices.Contains(harmless, key) && plainNumber.MatchString(value) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// shownPath removes parameters, such as a session, and user and password of a URL within the path.
func shownPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		part, _, _ = strings.Cut(part, ";")
		if at := strings.LastIndexByte(part, '@'); at >= 0 && strings.Contains(part[:at], ":") {
			part = part[at+1:]
		}
		parts[i] = part
	}
	return strings.Join(parts, "/")
}

// ShownText returns a text of gmpscope, such as an error about the command line, with the names in
// it as by [ShownName].
func ShownText(text string, names ...string) string {
	for _, name := range names {
		shown := ShownName(name)
		if shown == name {
			continue
		}
		text = strings.ReplaceAll(text, name, shown)
		// The text may have the name cleaned as a path, cut, or quoted.
		_, rest, ok := strings.Cut(name, "://")
		if !ok {
			rest = name
		}
		parts := []string{rest[:strings.LastIndexByte(rest, '@')+1], after(rest, "?"), after(rest, "#")}
		path, _, _ := strings.Cut(rest, "?")
		for segment := range strings.SplitSeq(path, "/") {
			parts = append(parts, after(segment, ";"))
		}
		for _, part := range parts {
			if part != "" {
				text = strings.ReplaceAll(text, part, "")
				quoted := fmt.Sprintf("%q", part)
				text = strings.ReplaceAll(text, quoted[1:len(quoted)-1], "")
			}
		}
	}
	return text
}

// after returns what follows the first sep in s, with it; "" if there is none.
func after(s, sep string) string {
	if i := strings.Index(s, sep); i >= 0 {
		return s[i:]
	}
	return ""
}

// Scrub returns a foreign text, such as an error of a server or of net/http, without the
// secrets of the URLs that led to it.
func Scrub(text string, urls ...string) string {
	var s secrets
	for _, raw := range urls {
		if u, err := url.Parse(raw); err == nil {
			s.add(u)
		}
	}
	return s.scrub(ShownText(text, urls...))
}

// secrets are what foreign text must not repeat, in all the ways in which it may be written: what is
// shorter than secretPiece as it is, and every piece of that length of what is longer.
type secrets map[string]bool

// add adds what is secret in u.
func (s *secrets) add(u *url.URL) {
	if user := u.User; user != nil {
		password, _ := user.Password()
		s.note(user.Username(), password, u.User.String())
		pair := []byte(user.Username() + ":" + password) // as the request's header has it
		s.note(base64.RawStdEncoding.EncodeToString(pair))
	}
	s.note(u.Fragment, u.RawFragment)
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		switch {
		case slices.Contains(harmless, key) && plainNumber.MatchString(value):
			continue
		case value == "":
			value = key
		}
		s.note(value)
		if plain, err := url.QueryUnescape(value); err == nil {
			s.note(plain)
		}
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if shown := shownPath(part); shown != part {
			s.note(strings.Split(strings.ReplaceAll(part, shown, ""), ";")...)
		}
	}
	s.note(u.Opaque[:strings.LastIndexByte(u.Opaque, '@')+1])
}

func (s *secrets) note(plain ...string) {
	if *s == nil {
		*s = secrets{}
	}
	for _, p := range plain {
		quoted := fmt.Sprintf("%q", p)
		object, err := json.Marshal(p)
		if err != nil {
			object = []byte(quoted)
		}
		for _, form := range []string{p, url.QueryEscape(p), url.PathEscape(p), html.EscapeString(p), quoted[1 : len(quoted)-1], string(object[1 : len(object)-1])} {
			form = lower(form)
			for size := min(len(form), secretPiece); len(form) >= size && size > 0; form = form[1:] {
				(*s)[form[:size]] = true
			}
		}
	}
}

// lower is strings.ToLower that changes no length.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// scrub returns text with its repetitions of secrets hidden.
func (s secrets) scrub(text string) string {
	if len(s) == 0 {
		return text
	}
	if len(text) > maxForeign {
		text = text[:maxForeign] + "..."
	}
	low := lower(text)
	secret := make([]bool, len(text)) // by byte
	for i := range len(low) {
		for size := 1; size <= min(secretPiece, len(low)-i); size++ {
			if s[low[i:i+size]] && (size >= secretWord || isWord(low, i, i+size)) {
				for k := range size {
					secret[i+k] = true
				}
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !secret[i]:
			b.WriteByte(text[i])
		case i == 0 || !secret[i-1]:
			b.WriteString(hiddenText)
		}
	}
	return b.String()
}

// isWord reports whether no letter or digit stands beside s[from:to].
func isWord(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	behind, _ := utf8.DecodeRuneInString(s[to:])
	inWord := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return !inWord(before) && !inWord(behind)
}

// scrubError returns an error that others made, without secrets in its text. What it wraps can be
// asked for by errors.Is only: by errors.As the text would be in reach.
func (s secrets) scrubError(err error) error {
	return &scrubbedError{s.scrub(err.Error()), err}
}

type scrubbedError struct {
	text string
	err  error
}

func (e *scrubbedError) Error() string { return e.text }

func (e *scrubbedError) Is(target error) bool { return errors.Is(e.err, target) }

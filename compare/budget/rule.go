package budget

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// Rule is one line of a budget: a path in the document of an analysis, and the bound for the
// number there.
type Rule struct {
	Line int    // in the file, from 1
	Text string // as written, without comment
	path []step
	op   operator
	// The bound: for findings a severity, else value, which is a factor of the
	// baseline, or to be added to it, or absolute.
	severity int
	value    float64
	relative relation
}

// step is one part of a path: a key, and perhaps the choice of elements.
type step struct {
	key    string
	choose string
	choice bool
}

type operator string

type relation uint8

const (
	absolute relation = iota
	times             // of the baseline
	plus              // on top of the baseline
)

// severities in their order, from "ok" on.
var severities = func() (names []string) {
	for _, t := range vocabulary.Of(vocabulary.Severity) {
		names = append(names, t.Name)
	}
	return names
}()

// Bounds on a budget file, which is untrusted like any other input.
const (
	maxRules = 10_000
	maxLine  = 4096
)

// Error is an invalid line of a budget: which line it is, and what is wrong with it.
type Error struct {
	Name string // of the budget, as given to Parse
	Line int    // from 1
	Why  string // what is wrong
}

// Error returns the name, the line and the mistake in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("budget %s, line %d: %s", e.Name, e.Line, e.Why)
}

// Parse reads a budget; name is for errors, which are of type *[Error] for invalid lines.
func Parse(r io.Reader, name string) ([]Rule, error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	var rules []Rule
	n := 0
	for s.Scan() {
		n++
		text := s.Text()
		if !utf8.ValidString(text) {
			return nil, &Error{name, n, "is not UTF-8 text"}
		}
		text, _, _ = strings.Cut(text, "#")
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if len(rules) == maxRules {
			return nil, &Error{name, n, fmt.Sprintf("more than %d rules", maxRules)}
		}
		rule, err := parseRule(text)
		if err != nil {
			return nil, &Error{name, n, err.Error()}
		}
		rule.Line = n
		rules = append(rules, rule)
	}
	if err := s.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, &Error{name, n + 1, fmt.Sprintf("is longer than %d bytes", maxLine)}
		}
		return nil, fmt.Errorf("reading budget %s: %w", name, err)
	}
	return rules, nil
}

func parseRule(text string) (Rule, error) {
	at, op := -1, ""
	depth := 0
	for i := 0; i < len(text) && at < 0; i++ {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '<', '>', '=':
			if depth > 0 {
				continue
			}
			at, op = i, text[i:i+1]
			if i+1 < len(text) && text[i+1] == '=' {
				op = text[i : i+2]
			}
		}
	}
	switch op {
	case "":
		return Rule{}, errors.New("has no comparison: write PATH <= BOUND")
	case "<", "<=", ">", ">=":
	default:
		return Rule{}, fmt.Errorf("%q is no comparison: use <=, <, >= or >", op)
	}
	r := Rule{Text: text, op: operator(op)}
	var err error
	if r.path, err = parsePath(strings.TrimSpace(text[:at])); err != nil {
		return Rule{}, err
	}
	bound := strings.TrimSpace(text[at+len(op):])
	if r.ofFindings() {
		if r.severity = slices.Index(severities, bound); r.severity < 0 {
			return Rule{}, fmt.Errorf("%q is no severity: use %s", bound, strings.Join(severities, ", "))
		}
		return r, nil
	}
	if err := checkPath(r.path); err != nil {
		return Rule{}, err
	}
	return r, r.bound(bound)
}

// Rename replaces the names by which the rule chooses goroutines, functions and units of work,
// also in its text: function does so for functions, annotation for types of tasks and regions.
// Words of gmpscope, such as causes and IDs, and patterns that match the names of any program
// stay.
func (r *Rule) Rename(function, annotation func(string) string) {
	for i := range r.path {
		x := &r.path[i]
		_, err := strconv.Atoi(x.choose)
		if !x.choice || r.ofFindings() || err == nil || len(vocabulary.Find(x.choose)) > 0 || strings.Trim(strings.TrimPrefix(x.choose, "main."), "*") == "" {
			continue
		}
		name := function
		if !strings.Contains(x.choose, ".") { // a function has a package
			name = annotation
		}
		renamed := name(x.choose)
		r.Text = strings.Replace(r.Text, "["+x.choose+"]", "["+renamed+"]", 1)
		x.choose = renamed
	}
}

// ofFindings reports whether the rule is about the severity of findings.
func (r *Rule) ofFindings() bool { return len(r.path) == 1 && r.path[0].key == "findings" }

func parsePath(s string) ([]step, error) {
	if s == "" {
		return nil, errors.New("has no path before the comparison")
	}
	var path []step
	for s != "" {
		var x step
		i := strings.IndexAny(s, ".[")
		if i < 0 {
			i = len(s)
		}
		x.key = strings.TrimSpace(s[:i])
		if x.key == "" {
			return nil, errors.New("has a path with an empty part")
		}
		s = s[i:]
		if strings.HasPrefix(s, "[") {
			j := closing(s)
			if j < 0 {
				return nil, errors.New("has a [ without its ]")
			}
			x.choose, x.choice = s[1:j], true
			s = s[j+1:]
		}
		path = append(path, x)
		if s == "" {
			break
		}
		if s[0] != '.' || len(s) == 1 {
			return nil, fmt.Errorf("has a path that cannot be read from %q on", s)
		}
		s = s[1:]
	}
	return path, nil
}

// closing is where the bracket ends with which s begins; names of generic
// functions hold brackets too.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (r *Rule) bound(s string) error {
	if rest, ok := strings.CutPrefix(s, "baseline"); ok {
		rest = strings.TrimSpace(rest)
		r.relative, r.value = times, 1
		if rest == "" {
			return nil
		}
		if rest[0] != '*' && rest[0] != '+' {
			return fmt.Errorf("%q after baseline: use * FACTOR or + AMOUNT", rest)
		}
		v, percent, err := number(rest[1:])
		r.value = v
		switch {
		case rest[0] == '+' && percent:
			r.value = 1 + v
		case rest[0] == '+':
			r.relative = plus
		}
		return err
	}
	v, _, err := number(s)
	r.value = v
	return err
}

var units = []struct {
	unit   string
	factor float64
}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"%", 0.01}}

func number(s string) (v float64, percent bool, err error) {
	s = strings.TrimSpace(s)
	factor := 1.0
	for _, u := range units {
		if t, ok := strings.CutSuffix(s, u.unit); ok {
			if t = strings.TrimSpace(t); t != "" && (t[len(t)-1] >= '0' && t[len(t)-1] <= '9' || t[len(t)-1] == '.') {
				s, factor, percent = t, u.factor, u.unit == "%"
				break
			}
		}
	}
	v, err = strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("%q is no number, such as 0.4, 40%% or 2ms", s)
	}
	return v * factor, percent, nil
}

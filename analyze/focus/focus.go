package focus

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/names"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Focus selects the part of a trace that is measured and judged. The zero value selects
// all of it.
type Focus struct {
	// From and To bound a window [From, To), ns since the beginning of the trace; To of
	// 0 is its end.
	From, To int64
	// Classes are patterns of names of classes of goroutines: a name as it is shown, a
	// function without the path of its package, or a glob of either, in which * stands
	// for any text and ? for any letter. None means all classes.
	Classes []string
	// Goroutines are IDs of goroutines. None means all.
	Goroutines []int64
}

// Window reports whether f selects a window of the trace.
func (f *Focus) Window() bool { return f.From > 0 || f.To > 0 }

// Selects reports whether f selects some goroutines only.
func (f *Focus) Selects() bool { return len(f.Classes)+len(f.Goroutines) > 0 }

// Whole reports whether f selects all of a trace.
func (f *Focus) Whole() bool { return !f.Window() && !f.Selects() }

// Check returns an error if f is invalid.
func (f *Focus) Check() error {
	if f.From < 0 || f.To < 0 || f.To > 0 && f.To <= f.From {
		return fmt.Errorf("a window from %s to %s has no time in it", quantity.Instant(f.From), quantity.Instant(f.To))
	}
	if slices.Contains(f.Classes, "") {
		return errors.New("an empty name of a class: name one as it is shown, or a part of it with *")
	}
	return nil
}

// Selection matches goroutines and classes with a Focus as they appear. It is not safe
// for concurrent use.
type Selection struct {
	focus    Focus
	patterns []*regexp.Regexp
	met      []bool // patterns
	numbers  map[int64]bool
	classes  []verdict // by handle
	name     func(class int32) string
}

// verdict reports whether a class is among those looked for.
type verdict uint8

const (
	unknown verdict = iota
	chosen
	passed
)

// NewSelection returns an empty Selection. name returns the current name of a class by
// its handle.
func NewSelection(f Focus, name func(class int32) string) *Selection {
	s := &Selection{focus: f, name: name, numbers: map[int64]bool{}}
	for _, p := range f.Classes {
		s.patterns = append(s.patterns, glob(p))
	}
	s.met = make([]bool, len(s.patterns))
	for _, g := range f.Goroutines {
		s.numbers[g] = false
	}
	return s
}

// glob is a pattern as an expression for the whole of a name.
func glob(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\*`, `.*`), `\?`, `.`)
	return regexp.MustCompile(`(?s)\A` + quoted + `\z`)
}

// Has reports whether the goroutine with ID g, of a class, is selected. class is a handle.
func (s *Selection) Has(g int64, class int32) bool {
	ofClass := len(s.patterns) == 0 || s.hasClass(class)
	if len(s.focus.Goroutines) == 0 {
		return ofClass
	}
	_, ok := s.numbers[g]
	if ok {
		s.numbers[g] = true
	}
	return ok && ofClass
}

// maxClasses bounds what is remembered.
const maxClasses = 1 << 16

func (s *Selection) hasClass(class int32) bool {
	if uint(class) >= maxClasses {
		return s.Named(s.name(class))
	}
	for int(class) >= len(s.classes) {
		s.classes = append(s.classes, unknown)
	}
	v := &s.classes[class]
	if *v == unknown {
		*v = passed
		if s.Named(s.name(class)) {
			*v = chosen
		}
	}
	return *v == chosen
}

// Named reports whether a class of that name is selected.
func (s *Selection) Named(name string) bool {
	hit := false
	for i, p := range s.patterns {
		if slices.ContainsFunc(funcname.Spellings(name), p.MatchString) {
			s.met[i], hit = true, true
		}
	}
	return hit
}

// Missing returns an error for a pattern or ID that nothing matched, with suggestions
// from the names of classes, most important first; nil if all matched.
func (s *Selection) Missing(classes []string) error {
	for i, met := range s.met {
		if !met {
			return fmt.Errorf("no goroutines of a class %q: %s", s.focus.Classes[i], names.Instead(s.focus.Classes[i], classes))
		}
	}
	for _, g := range s.focus.Goroutines {
		if !s.numbers[g] {
			return fmt.Errorf("goroutine %d neither ran nor waited: gmpscope dump lists those that did", g)
		}
	}
	return nil
}

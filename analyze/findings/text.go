package findings

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Text is a sentence of a finding, in parts: each report draws the names in it as it does elsewhere.
// In JSON it is a string, with names in full.
type Text []Piece

// A Piece is a part of a [Text]: some words, or one name.
type Piece struct {
	Text string    // as it reads in full
	Kind PieceKind // what Text is, by which a report may shorten or link it
}

// PieceKind is what the Text of a [Piece] is.
type PieceKind uint8

// The kinds of pieces.
const (
	Words    PieceKind = iota // shown as they are
	Function                  // the name of a function, or of a class of goroutines: a [Name]
	File                      // "file:line", a [Place]
	Detected                  // the ID of a [Detector], an [ID]
)

// A Name is the name of a function, or of a class of goroutines, as [Actor] has it.
type Name string

// A Place is a place in the source, as "file:line".
type Place string

// An ID is the ID of a detector, which reports may link to its explanation.
type ID string

// Say returns the Text that fmt.Sprintf would write. A [Name], a [Place] and an [ID] among the
// arguments become pieces of their kind, and the pieces of a Text keep theirs; then verbs must be
// without flags, one for each argument.
func Say(format string, args ...any) Text {
	t := Text{{Text: fmt.Sprintf(format, args...)}}
	for _, a := range args {
		switch a.(type) {
		case Name, Place, ID, Text:
			return pieces(format, args)
		}
	}
	return t
}

// pieces is Say for verbs without flags, each of which stands for one argument.
func pieces(format string, args []any) (t Text) {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			return t.add(format, Words)
		}
		t = t.add(format[:i], Words)
		verb := format[i : i+2]
		format = format[i+2:]
		if verb == "%%" {
			t = t.add("%", Words)
			continue
		}
		switch a := args[0].(type) {
		case Name:
			t = t.add(string(a), Function)
		case Place:
			t = t.add(string(a), File)
		case ID:
			t = t.add(string(a), Detected)
		case Text:
			t = append(t, a...)
		default:
			t = t.add(fmt.Sprintf(verb, a), Words)
		}
		args = args[1:]
	}
}

func (t Text) add(s string, k PieceKind) Text {
	if s == "" {
		return t
	}
	return append(t, Piece{s, k})
}

// String returns the text with names in full.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Len returns the number of characters (runes) of the text, with names in full.
func (t Text) Len() int { return utf8.RuneCountInString(t.String()) }

// Names returns the functions that the text names: of the name of a class the function that its
// goroutines run, and the one that started it, which may be "".
func (t Text) Names() (names []Name) {
	for _, p := range t {
		if p.Kind == Function {
			function, by := startedBy(Name(p.Text))
			names = append(names, function, by)
		}
	}
	return names
}

func (t Text) names(function Name) bool { return slices.Contains(t.Names(), function) }

// MarshalText returns the text with names in full, as [Text.String] does. The error is nil.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets the Text to one piece of words: which of them are names is not known any more.
// It returns nil.
func (t *Text) UnmarshalText(s []byte) error {
	*t = Text(nil).add(string(s), Words)
	return nil
}

// InBrief returns the headline of the finding, or the title if it has none.
func (f *Finding) InBrief() Text {
	if len(f.Headline) == 0 {
		return f.Title
	}
	return f.Headline
}

// Advise appends one piece of advice, as [Say] makes it, to the finding.
func (f *Finding) Advise(format string, args ...any) {
	f.Advice = append(f.Advice, Say(format, args...))
}

// AdviseOnly replaces all advice of the finding by one piece, as [Say] makes it.
func (f *Finding) AdviseOnly(format string, args ...any) { f.Advice = []Text{Say(format, args...)} }

// At returns what [Say] makes of a format with one verb and a place, a "file:line"; nil if place is
// "".
func At(format, place string) Text {
	if place == "" {
		return nil
	}
	return Say(format, Place(place))
}

// Frame returns a line of a stack, "function (file:line)" as [Facts.Frames] has it, as a Text in which
// the function is a [Name] and the rest a [Place].
func Frame(s string) Text {
	i := strings.LastIndex(s, " (")
	if i < 0 {
		return Say("%s", Name(s))
	}
	return Say("%s (%s)", Name(s[:i]), Place(strings.TrimSuffix(s[i+2:], ")")))
}

// List returns the names as a Text, with the words between, such as " and ", from one to the next.
func List(names []Name, between string) (t Text) {
	for i, x := range names {
		if i > 0 {
			t = t.add(between, Words)
		}
		t = t.add(string(x), Function)
	}
	return t
}

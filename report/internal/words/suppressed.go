package words

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// maxSuppressed is how many suppressed findings are named; the JSON has all.
const maxSuppressed = 12

// Suppressed describes suppressed findings: in one line, or in one and an item for
// each; "" if there are none.
func (n *Names) Suppressed(list []findings.Suppressed) (line string, items []string) {
	if len(list) == 0 {
		return "", nil
	}
	line = quantity.Plural(int64(len(list)), "finding", "findings") + " suppressed:"
	if len(list) == 1 {
		return line + " " + n.suppressed(&list[0]), nil
	}
	for i := range list {
		if i == maxSuppressed {
			items = append(items, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		items = append(items, n.suppressed(&list[i]))
	}
	return line, items
}

// Written returns text that somebody wrote into a configuration file, in one line of at most n
// characters.
func Written(s string, n int) string { return Cut(Visible(strings.Join(strings.Fields(s), " ")), n) }

func (n *Names) suppressed(s *findings.Suppressed) string {
	text := Visible(s.Finding.ID)
	if class, _ := s.Finding.Subject(); class != "" {
		text += " of " + n.Class(class)
	}
	text += fmt.Sprintf(" (%s; %s", Written(s.By.Reason, 200), Written(s.By.Owner, 60))
	if s.By.Until != "" {
		text += ", until " + s.By.Until
	}
	return text + ")"
}

// Doubt returns a name, of two words, for the [findings.Doubt] with an ID.
func Doubt(id string) string {
	switch id {
	case findings.Strained:
		return "lack of CPUs"
	case findings.OnlyShort:
		return "short recording"
	}
	return Visible(id)
}

// Doubts returns the names of doubts, as an enumeration.
func Doubts(ids []string) string {
	return strings.Join(each(ids, func(id *string) []string { return []string{Doubt(*id)} }), ", ")
}

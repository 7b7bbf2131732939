package words

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Doubt names a [findings.Doubt] in two words.
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
	var list []string
	for _, id := range ids {
		list = append(list, Doubt(id))
	}
	return strings.Join(list, ", ")
}

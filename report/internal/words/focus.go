package words

import (
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Focus reports which part of a trace a result is about: its window, and whose work, "" for
// all.
func Focus(f *analyze.Focused) (window, only string) {
	from, to := quantity.Window(f.FromNs, f.ToNs)
	window = from + " to " + to
	var parts []string
	if len(f.Classes) > 0 {
		names := make([]string, len(f.Classes))
		for i, name := range f.Classes {
			names[i] = Cut(Visible(name), 120)
		}
		parts = append(parts, "goroutines of "+firstOf(names))
	}
	if len(f.Goroutines) > 0 {
		numbers := make([]string, len(f.Goroutines))
		for i, g := range f.Goroutines {
			numbers[i] = strconv.FormatInt(g, 10)
		}
		what := "goroutine "
		if len(numbers) > 1 {
			what = "goroutines "
		}
		parts = append(parts, what+firstOf(numbers))
	}
	return window, strings.Join(parts, ", of them ")
}

// firstOf are the first few of a list.
func firstOf(list []string) string {
	const most = 5
	s := strings.Join(list[:min(len(list), most)], ", ")
	if n := len(list); n > most {
		s += " and " + quantity.Count(int64(n-most)) + " more"
	}
	return s
}

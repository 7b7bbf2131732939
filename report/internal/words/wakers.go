package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// Waker reports who or what made goroutines runnable.
func (n *Names) Waker(w waits.Waker) string {
	return n.wakerOf(w.Why, w.Name)
}

func (n *Names) wakerOf(why, class string) string {
	p := Phrase(vocabulary.Waker, why)
	if !strings.Contains(p, "%s") {
		return p
	}
	if class == "" {
		class = "a goroutine that is not known"
	} else {
		class = n.Class(class)
	}
	return strings.ReplaceAll(p, "%s", class)
}

// WokenBy reports by whom goroutines of a class were made runnable most often: at most so
// many; "" if they never were.
func (n *Names) WokenBy(c *waits.Class, most int) string {
	var parts []string
	for i, w := range byCount(c.WokenBy, func(w waits.Waker) int64 { return w.Count }) {
		if i == most {
			parts = append(parts, "others")
			break
		}
		parts = append(parts, n.Waker(w)+" "+quantity.Part(w.Count, c.Waits.Count))
	}
	if len(parts) == 0 {
		return ""
	}
	return "woken by " + List(parts)
}

// BlockedBefore reports what they were blocked on before, most often; "" if on nothing.
func BlockedBefore(c *waits.Class, most int) string {
	var parts []string
	for _, b := range byCount(c.BlockedBefore, func(b waits.BlockedBefore) int64 { return b.Count }) {
		if b.Reason == "" || len(parts) == most {
			continue
		}
		parts = append(parts, Title(vocabulary.Blocked, b.Reason)+" "+quantity.Part(b.Count, c.Waits.Count))
	}
	if len(parts) == 0 {
		return ""
	}
	return "before that blocked on: " + List(parts)
}

// byCount are those that occurred, most often first.
func byCount[T any](in []T, count func(T) int64) []T {
	var out []T
	for _, x := range in {
		if count(x) > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y T) int { return cmp.Compare(count(y), count(x)) })
	return out
}

// wokenBy reports who made the goroutine runnable, and what it was blocked on;
// "" if neither is known.
func (n *Names) wokenBy(s waits.WaitDetail) string {
	text := ""
	if b := s.By; b != nil {
		text = fmt.Sprintf("Goroutine %d", b.G)
		if b.Name != "" {
			text += " of " + n.Class(b.Name)
		}
		text += " made it runnable"
		if len(b.Stack) > 0 {
			text += ", in " + n.Class(b.Stack[0])
		}
		text += "."
	}
	if s.BlockedOn != "" {
		if text != "" {
			text += " "
		}
		text += "Before, it was blocked " + Phrase(vocabulary.Blocked, s.BlockedOn)
		if s.BlockedNs > 0 {
			text += " for " + quantity.Duration(s.BlockedNs)
		}
		text += "."
	}
	return text
}

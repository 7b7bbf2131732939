package words

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// waker reports who or what made goroutines runnable.
func (n *Names) waker(w waits.Waker) string {
	class := "a goroutine that is not known"
	if w.Name != "" {
		class = n.Class(w.Name)
	}
	return strings.ReplaceAll(Phrase(vocabulary.Waker, w.Why), "%s", class)
}

// WokenBy returns, in words, which goroutines made those of a class runnable most often, at
// most most of them; "" if none did.
func (n *Names) WokenBy(c *waits.Class, most int) string {
	var parts []string
	for i, w := range Largest(c.WokenBy, func(w waits.Waker) int64 { return w.Count }) {
		if i == most {
			parts = append(parts, "others")
			break
		}
		parts = append(parts, n.waker(w)+" "+quantity.Part(w.Count, c.Waits.Count))
	}
	if len(parts) == 0 {
		return ""
	}
	return "woken by " + List(parts)
}

// BlockedBefore returns, in words, what the goroutines of a class were blocked on before they
// waited, most often first, and at most most reasons; "" if on nothing.
func BlockedBefore(c *waits.Class, most int) string {
	var parts []string
	for _, b := range Largest(c.BlockedBefore, func(b waits.BlockedBefore) int64 { return b.Count }) {
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

// wokenBy reports who made the goroutine runnable, and what it was blocked on; "" if neither is known.
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

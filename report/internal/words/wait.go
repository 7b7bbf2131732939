package words

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// Bounds on the sentences on a wait.
const (
	maxMoves    = 3
	maxRanAhead = 2
)

// WaitSentences describes one wait in sentences: where the goroutine stood, what ran
// meanwhile, what else kept the P, and how the wait ended.
func (n *Names) WaitSentences(s waits.WaitDetail) []string {
	out := []string{queuePosition(s)}
	if by := n.wokenBy(s); by != "" {
		out = append(out, by)
	}
	if len(s.Ahead) > 0 {
		var who []string
		for i, a := range s.Ahead {
			if i == maxRanAhead {
				who = append(who, quantity.Plural(int64(len(s.Ahead)-i), "other class", "other classes"))
				break
			}
			who = append(who, fmt.Sprintf("%s for %s in %s", n.Class(a.Name), quantity.Duration(a.Ns), quantity.Plural(a.Runs, "run", "runs")))
		}
		text := fmt.Sprintf("Meanwhile ran %s.", List(who))
		if s.AheadFromNs > s.FromNs {
			text += fmt.Sprintf(" That is known only for the last %s of the wait.", quantity.Duration(s.ToNs-s.AheadFromNs))
		}
		out = append(out, text)
	}
	if len(s.Held) > 0 && (len(s.Ahead) == 0 || s.Held[0].Ns > s.Ahead[0].Ns) {
		out = append(out, fmt.Sprintf("For %s %s.", quantity.Duration(s.Held[0].Ns), n.Held(s.Held[0])))
	}
	end := fmt.Sprintf("Then P%d %s.", s.P, Phrase(vocabulary.Source, s.Source))
	if cs := BySize(s.Causes); len(cs) > 0 && s.WaitNs > 0 {
		end += fmt.Sprintf(" Chief cause: %s (%s).", Cause(cs[0].Cause), quantity.Part(cs[0].Ns, s.WaitNs))
	}
	return append(out, end)
}

// queuePosition reports where the goroutine stood.
func queuePosition(s waits.WaitDetail) string {
	text := fmt.Sprintf("At %s it", quantity.Instant(s.FromNs))
	if len(s.Path) == 0 {
		return text + " became runnable."
	}
	st := s.Path[0]
	text += fmt.Sprintf(" was put into %s %s", Queue(st.Queue, st.P), Phrase(vocabulary.Why, st.Why))
	for i, st := range s.Path[1:] {
		if i == maxMoves {
			text += fmt.Sprintf(", and moved %s", quantity.Plural(int64(len(s.Path)-1-i+s.MoreSteps), "more time", "more times"))
			break
		}
		text += fmt.Sprintf(", after %s %s", quantity.Duration(st.AtNs-s.FromNs), Moved(st))
	}
	return text + "."
}

// Since returns, in words, how long after the beginning of a wait something happened in it. ns
// is that time in nanoseconds.
func Since(ns int64) string {
	if ns <= 0 {
		return "0"
	}
	return "+" + quantity.Duration(ns)
}

// Moved returns, in words, how a waiting goroutine came into another queue: a step of its wait
// that is not the first.
func Moved(st waits.Step) string {
	if st.Queue == "direct" {
		return "taken out " + Phrase(vocabulary.Why, st.Why)
	}
	return fmt.Sprintf("moved to %s %s", Queue(st.Queue, st.P), Phrase(vocabulary.Why, st.Why))
}

// Held returns, in words, what kept a P from running a goroutine.
func (n *Names) Held(h waits.PHold) string {
	switch h.Cause {
	case waits.CauseSTW:
		if h.Reason != "" {
			return "the world was stopped for " + Cut(Visible(h.Reason), 60)
		}
		return "the world was stopped"
	case waits.CauseUnavailable:
		if h.Reason == "locked" {
			return "the P was handed to a locked thread"
		}
		s := "a system call of " + n.Class(h.Name) + " held the P"
		if len(h.Stack) > 0 {
			s += ", in " + n.Class(h.Stack[0])
		}
		return s
	case waits.CauseGC:
		return "the P ran a mark worker"
	case waits.CauseIdlePAvailable:
		if h.P < 0 {
			return "a P that never had a thread was idle"
		}
		return fmt.Sprintf("P%d was idle", h.P)
	}
	return "the reason was " + Cause(h.Cause)
}

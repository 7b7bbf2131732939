package html

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
)

// newStory tells one wait in sentences.
func newStory(s waits.Story) story {
	n := className(s.Name)
	o := story{
		Name:  n,
		Head:  fmt.Sprintf("Goroutine %d waited %s", s.G, dur(s.WaitNs)),
		Basis: basisWord(s.Basis),
		Bar:   bar(causeSegments(s.Causes, s.WaitNs), max(s.WaitNs, 1), 10, "why this goroutine waited"),
	}
	margin := max((s.ToNs-s.FromNs)/20, 1000)
	o.Href = window(max(s.FromNs-margin, 0), s.ToNs+margin)
	for _, c := range ordered(s.Causes) {
		if c.Ns > 0 {
			w := causeWordOf(c.Cause)
			o.Legend = append(o.Legend, legendItem{w.Key, fmt.Sprintf("%s %s", w.Title, dur(c.Ns))})
		}
	}
	for i, st := range s.Path {
		verb := "moved to"
		if i == 0 {
			verb = "became runnable and was put into"
		}
		o.Steps = append(o.Steps, step{
			At:   "+" + dur(st.AtNs-s.FromNs),
			Text: fmt.Sprintf("%s %s %s", verb, queueWord(st.Queue, st.P), word(whyWords, st.Why)),
		})
	}
	if s.MoreSteps > 0 {
		o.Steps = append(o.Steps, step{At: "…", Text: plural(int64(s.MoreSteps), "more move", "more moves")})
	}
	end := fmt.Sprintf("P%d %s", s.P, word(sourceWords, s.Source))
	o.Steps = append(o.Steps, step{At: "+" + dur(s.WaitNs), Text: end + ", and it ran"})

	text := fmt.Sprintf("At %s goroutine %d", clock(s.FromNs), s.G)
	if len(s.Path) > 0 {
		st := s.Path[0]
		text += fmt.Sprintf(" was put into %s %s.", queueWord(st.Queue, st.P), word(whyWords, st.Why))
	} else {
		text += " became runnable."
	}
	if len(s.Path) > 1 {
		var moves []string
		for i, st := range s.Path[1:] {
			if i == 3 {
				moves = append(moves, plural(int64(len(s.Path)-1-i+s.MoreSteps), "more time", "more times"))
				break
			}
			moves = append(moves, fmt.Sprintf("after %s to %s %s", dur(st.AtNs-s.FromNs), queueWord(st.Queue, st.P), word(whyWords, st.Why)))
		}
		text += " It was moved " + strings.Join(moves, ", then ") + "."
	}
	o.Text = append(o.Text, text)
	if len(s.Ahead) > 0 {
		var who []string
		partial := ""
		if s.AheadFromNs > s.FromNs {
			partial = fmt.Sprintf(" (Known only for the last %s of the wait.)", dur(s.ToNs-s.AheadFromNs))
		}
		for i, a := range s.Ahead {
			if i == 2 {
				who = append(who, plural(int64(len(s.Ahead)-i), "other class", "other classes"))
				break
			}
			who = append(who, fmt.Sprintf("%s, for %s in %s", className(a.Name).Short, dur(a.Ns), plural(a.Runs, "run", "runs")))
		}
		o.Text = append(o.Text, "Meanwhile there ran: "+strings.Join(who, "; ")+"."+partial)
	}
	top, ns := waits.Cause(""), int64(0)
	for _, c := range ordered(s.Causes) {
		if c.Ns > ns {
			top, ns = c.Cause, c.Ns
		}
	}
	why := ""
	if ns > 0 {
		why = fmt.Sprintf(" Chiefly to blame (%s): %s.", share(ns, s.WaitNs), causeWordOf(top).Title)
	}
	o.Text = append(o.Text, fmt.Sprintf("After %s %s.%s", dur(s.WaitNs), end, why))
	for _, a := range s.Ahead {
		o.Ahead = append(o.Ahead, aheadRow{Name: className(a.Name), Ns: dur(a.Ns), Runs: count(a.Runs)})
	}
	return o
}

// queueWord names a queue.
func queueWord(q string, p int32) string {
	switch {
	case q == "runnext" && p >= 0:
		return fmt.Sprintf("the runnext slot of P%d", p)
	case q == "local" && p >= 0:
		return fmt.Sprintf("the queue of P%d", p)
	case q == "global" || q == "local" && p < 0:
		return "the global queue"
	case q == "direct":
		return "no queue, to be run directly"
	default:
		return "a queue that is not known"
	}
}

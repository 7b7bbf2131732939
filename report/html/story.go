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
	for _, h := range s.Held {
		o.Held = append(o.Held, heldWords(h))
	}
	for _, r := range s.Runs {
		order := "became runnable earlier"
		if r.Later {
			order = "became runnable later"
		}
		x := runRow{Name: className(r.Name), At: "+" + dur(max(0, r.FromNs-s.FromNs)), Text: fmt.Sprintf("goroutine %d ran for %s", r.G, dur(r.ToNs-r.FromNs)), Note: order}
		if r.End != "" {
			x.Note += ", then " + endWord(r.End)
		}
		o.Runs = append(o.Runs, x)
	}
	o.MoreRuns = s.MoreRuns
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

// runRow is one run interval that went ahead.
type runRow struct {
	Name           Name
	At, Text, Note string
}

// endWord says why a run interval ended.
func endWord(why string) string {
	if w, ok := endWords[why]; ok {
		return w
	}
	return visible(why)
}

var endWords = map[string]string{
	"block": "blocked", "exit": "ended", "gosched": "yielded", "slice": "was preempted for its slice", "stw": "was stopped with the world",
	"gc": "was preempted for the GC", "generation-switch": "was preempted for the tracer", "goyield": "yielded to a waiter", "syscall": "went into a system call",
	"suspend": "was suspended", "coroutine": "switched to a coroutine", "sysmon": "lost its P in a system call", "returning-syscall": "lost its P in a system call",
}

// heldWords says what kept a P from running anyone.
func heldWords(h waits.Held) heldRow {
	r := heldRow{Ns: dur(h.Ns), Key: causeWordOf(h.Cause).Key}
	switch h.Cause {
	case waits.CauseSTW:
		r.Text = "the world was stopped"
		if h.Reason != "" {
			r.Text += " for " + cut(visible(h.Reason), 100)
		}
	case waits.CauseUnavailable:
		if h.Reason == "locked" {
			r.Text = "the P was handed to a locked thread"
			break
		}
		r.Text = "a system call held the P, of"
		n := className(h.Name)
		r.Name = &n
		if len(h.Stack) > 0 {
			r.Where = "in " + cut(visible(h.Stack[0]), 300)
		}
	case waits.CauseGC:
		r.Text = "the P ran a mark worker of the GC"
	case waits.CauseIdlePMissed:
		r.Text = "a P that never had a thread was idle"
		if h.P >= 0 {
			r.Text = fmt.Sprintf("P%d was idle, longest of all", h.P)
		}
	default:
		r.Text = causeWordOf(h.Cause).Title
	}
	return r
}

// heldRow is one thing that kept a P.
type heldRow struct {
	Key, Text, Where, Ns string
	Name                 *Name
}

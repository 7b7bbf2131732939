package workload

import (
	"cmp"
	"slices"
)

// Whether a timer is waited for may be the schedule's choice:
//
//   - Who waits for a channel, or a connection, and was woken by a timer set a deadline. Under
//     another schedule what it waited for may come first.
//   - Who sleeps, looks, and sleeps again at the same place, and does nothing in between that
//     others notice, waits for something (a file lock, say). Others that sleep there look for the
//     same, once or more often.
//   - A function that a timer runs (time.AfterFunc) may be stopped before. Who set it is not in
//     a trace, so it comes when it came.
//
// Any other time.Sleep lasts as long as it lasts.

// races reports whether the schedule may decide if a goroutine sleeps, as a step of it says.
func (w *Workload) races(g int32, s *step) bool {
	return w.gs[g].flags == 0 && (s.arg == none || w.polls[s.arg])
}

// findPolls finds the stacks at which goroutines sleep in order to look again.
func (w *Workload) findPolls() {
	w.polls = map[int32]bool{}
	for g := range w.gs {
		slept := none
		for i := w.gs[g].first; i != none; {
			s := w.steps.at(i)
			i = s.next
			switch {
			case s.kind != kSleep:
				if s.kind.noticed() {
					slept = none
				}
				continue
			case s.arg > 0 && s.arg == slept:
				w.polls[slept] = true
			}
			slept = s.arg
		}
	}
}

// functionsFirst returns what comes from outside, with the functions that timers run at the
// beginning.
func (w *Workload) functionsFirst() []arrival {
	out := slices.Clone(w.outer)
	for i := range out {
		if out[i].timer {
			out[i].at = 0
		}
	}
	slices.SortStableFunc(out, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return out
}

// Package schedtick estimates when a P looks at the global queue before its own: each 61st
// time that it schedules (runtime/proc.go: findRunnable, schedtick%61; all Go versions that
// are known). A trace records neither the value of schedtick at its start nor the look.
package schedtick

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"
)

// A Posterior is the probability of each value that a P's schedtick may have, modulo the
// period. Evidence for or against the tick being now changes that of one of these candidates.
// What the model takes for evidence can be wrong, and so can its count of the starts, so none
// is ever ruled out. The zero Posterior is of a P that has no tick.
type Posterior struct {
	weight []float64 // of: the tick comes when now is the index; empty if it never does
	sum    float64   // of the weights
	most   float64   // the largest of them
	now    uint16    // starts that did not inherit the time slice, modulo the period
}

// faint is the least probability of a candidate. It was chosen: half or
// twice changes what is uncertain by 0.1 or 1 point; twice takes 3 from gl of an uneven, too.
const faint = 1e-5

// A P of a young process has few starts behind it, and most Ps none: who is woken
// gets the next P of a list that is in the order of their numbers (procresize,
// pidleget). behind is how often, of 1000, a P that is so many places from one
// that runs when the trace begins had 0, 1, 2… starts behind it then; measured
// against the runtime's own truth, in 500 programs of up to 8 Ps. For more
// starts n it is rest/n²: half or twice changes what is uncertain in young programs (ristretto: 1.7
// points less, 4.2 more), and nothing else.
var behind = [...][7]float64{
	{130, 220, 240, 270, 90, 40, 5},
	{300, 280, 140, 200, 40, 30, 5},
	{700, 170, 80, 40, 5, 2, 1},
	{960, 20, 10, 5, 2, 1, 1},
}

const (
	rest = 30

	// Distant is the number of places, in the list of idle Ps, from which on a greater
	// distance makes no difference to [Young].
	Distant = len(behind) - 1

	// Alone, given to [Young] as the number of places, stands for the P of a process with no
	// other. That P has run all goroutines that began the program: n starts with a probability
	// like 1/(n+began)², and hardly more than many. Half or twice: nothing, but of many, 0.8
	// points less or 1.4 more of locked that are uncertain.
	Alone   = -1
	began   = 3
	many    = 30
	unusual = 0.02 // how often it had more than many
)

// Probabilities that the tick is now, or at a certain start, from which on the reconstruction
// draws a conclusion. They were chosen. Half or twice of Perhaps, Open and rival: nothing.
// Half of Never makes up to 4 points more uncertain (ristretto), twice 1.7 less. Half of
// Likely: nothing; without it exact of bbolt falls by 1. Certain with twice the room for
// doubt: nothing; with half of it ll falls by 0.01 and gl by 0.02.
const (
	Perhaps = 0.002  // from here on it may be the tick
	Open    = 0.01   // from here on it is worth a fork to find out whether it is
	Likely  = 0.65   // from here on it is taken for the tick
	Certain = 0.999  // from here on it is the tick for certain
	Never   = 0.0003 // below this it is not the tick for certain

	rival = 0.1 // of the most likely candidate's probability: one with less is no rival of it
)

// Unknown returns the posterior of a P of which nothing is known. period is the number of
// slices between two ticks, 0 if there is none.
func Unknown(period int) Posterior {
	p := Posterior{weight: make([]float64, period), sum: float64(period), most: 1}
	for i := range p.weight {
		p.weight[i] = 1
	}
	return p
}

// Young returns the posterior of a P of a young process, by its distance in the list of
// idle Ps from one that runs, or [Alone].
func Young(period, places int) Posterior {
	p := Posterior{weight: make([]float64, period)}
	if period == 0 {
		return p
	}
	for n := range period {
		w := rest / float64(max(n*n, 1))
		if places == Alone {
			w = 1 / float64((n+began)*(n+began))
			if n > many {
				w *= unusual
			}
		} else if often := &behind[min(places, Distant)]; n < len(often) {
			w = often[n]
		}
		p.weight[(period-n)%period] = w
		p.sum += w
	}
	p.most = slices.Max(p.weight)
	return p
}

// Next counts a start of a goroutine that does not inherit the time slice, which brings the
// tick nearer by one.
func (p *Posterior) Next() {
	if p.now++; int(p.now) >= len(p.weight) {
		p.now = 0
	}
}

// Candidate returns the number of the candidate "the tick is now", for a later call of
// [Posterior.Of]: the number stays valid when starts are counted.
func (p *Posterior) Candidate() uint16 { return p.now }

// Of returns the probability, from 0 to 1, of a candidate that [Posterior.Candidate] returned.
func (p *Posterior) Of(candidate uint16) float64 {
	if int(candidate) >= len(p.weight) {
		return 0
	}
	return p.weight[candidate] / p.sum
}

// Now returns the probability, from 0 to 1, that the tick is now.
func (p *Posterior) Now() float64 { return p.Of(p.now) }

// Is reports whether the tick is likely now: its probability is above [Likely].
func (p *Posterior) Is() bool { return p.Now() > Likely }

// May reports whether the tick may be now, with no candidate far more likely.
func (p *Posterior) May() bool {
	return p.Now() > Perhaps && p.weight[p.now] > rival*p.most
}

// Known reports whether the phase of the tick is certain.
func (p *Posterior) Known() bool { return p.most > Certain*p.sum }

// Learn adds evidence for the tick being now; negative evidence is against it.
func (p *Posterior) Learn(e evidence.Nats) {
	if len(p.weight) == 0 {
		return
	}
	old := p.weight[p.now]
	w := max(old*e.Ratio(), p.sum*faint)
	p.sum += w - old
	p.weight[p.now] = w
	if w >= p.most {
		p.most = w
	} else if old == p.most {
		p.most = slices.Max(p.weight)
	}
	if p.sum < 1e6 && p.sum > 1e-6 {
		return
	}
	sum := 0.0
	for i := range p.weight {
		p.weight[i] = max(p.weight[i]/p.sum, faint)
		sum += p.weight[i]
	}
	p.sum, p.most = sum, slices.Max(p.weight)
}

// Shift records that the last start was miscounted with some probability, so that the
// tick comes by starts later.
func (p *Posterior) Shift(by int, chance float64) {
	n := len(p.weight)
	if n == 0 {
		return
	}
	for i, w := range append(make([]float64, 0, 64), p.weight...) { // on the stack for the usual 61
		p.weight[(i+by+n)%n] += chance * w
		p.weight[i] -= chance * w
	}
	p.most = slices.Max(p.weight)
}

// CopyTo moves p's weights to the end of room, which may be p's own or another posterior's of
// which it is a copy, and returns room with them.
func (p *Posterior) CopyTo(room []float64) []float64 {
	n := len(room)
	room = append(room, p.weight...)
	p.weight = room[n:len(room):len(room)]
	return room
}

// Package pauses learns by how much longer a thread pauses between two goroutines if it
// takes a batch from the global queue in between: that needs the queue's lock and moves many
// (runtime/proc.go: globrunqget until Go 1.24, globrunqgetbatch), where the next of its own
// ring needs neither (runqget). How long either takes differs between machines.
package pauses

import "github.com/gmpscope/gmpscope/analyze/reconstruct/evidence"

// Kind is what a thread does in a pause.
type Kind int

const (
	Own   Kind = iota // takes the next of its own ring
	Batch             // takes a batch from the global queue
)

const (
	step   = 64      // ns: resolution of the tracer's clock on most platforms
	steps  = 32      // longer pauses are the system's
	many   = 1 << 14 // pauses of a kind after which older ones count half
	few    = 64      // pauses that are needed of each kind
	anew   = 256     // pauses after which the evidence is computed anew
	unsure = 2       // nats: the most that one pause says, since any may be longer for other reasons
)

// Pauses counts pauses in steps of 64 ns. The zero Pauses has seen none.
type Pauses struct {
	n     [2]float64
	count [2][steps]float64    // by Kind
	says  [steps]evidence.Nats // for a batch
	fresh int                  // pauses since that was computed
}

// Add notes a pause, in ns, of which it is known what the thread did.
func (p *Pauses) Add(kind Kind, ns int64) {
	i := ns / step
	if i < 0 || i >= steps {
		return
	}
	p.count[kind][i]++
	p.n[kind]++
	p.fresh++
	if p.n[kind] > many {
		p.n[kind] = 0
		for j := range p.count[kind] {
			p.count[kind][j] /= 2
			p.n[kind] += p.count[kind][j]
		}
	}
	if p.fresh <= anew {
		return
	}
	p.fresh = 0
	for j := range p.says {
		batch, own := (p.count[Batch][j]+1)/(p.n[Batch]+steps), (p.count[Own][j]+1)/(p.n[Own]+steps)
		p.says[j] = evidence.Ratio(batch / own).Within(unsure)
	}
}

// Batch returns how much a pause, in ns, speaks for a batch, below 0 for the own ring.
func (p *Pauses) Batch(ns int64) evidence.Nats {
	i := ns / step
	if i < 0 || i >= steps || p.n[Own] < few || p.n[Batch] < few {
		return 0
	}
	return p.says[i]
}

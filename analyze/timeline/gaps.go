package timeline

import "github.com/gmpscope/gmpscope/analyze/ledger"

// Gaps collects the gaps alone, for a Result without a timeline.
type Gaps struct {
	from, now int64
	spans     spans
}

// NewGaps returns Gaps for a result that begins at from, in ns. What precedes it must be a gap.
func NewGaps(from int64) *Gaps { return &Gaps{from: max(0, from)} }

// Add processes the next block of the stream.
func (g *Gaps) Add(b *ledger.Block) {
	for _, i := range b.Rare {
		if d := &b.Decisions[i]; b.Notes[i].Changed&ledger.Gap != 0 && d.Time >= g.from && d.Wait > 0 {
			g.pass(d.Time - g.from)
			g.spans.begin(g.now, gapName)
			g.pass(g.now + min(d.Wait, maxTime-g.now))
			g.spans.finish(g.now)
		}
	}
}

func (g *Gaps) pass(t int64) { g.now = min(max(g.now, t), maxTime) }

// Finish returns the result, without bins, lanes and windows. end is the time of the last
// event, in ns.
func (g *Gaps) Finish(end int64) Result {
	g.pass(end - g.from)
	r := Result{EndNs: g.now, NotRecorded: g.spans.list()}
	r.begin(g.from)
	return r
}

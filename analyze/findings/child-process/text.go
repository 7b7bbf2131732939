package childprocess

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	most := n.sites[0]
	alone, recorded, share := quantity.Duration(n.alone), quantity.Duration(f.RecordedNs()), quantity.Percent(f.Share(n.alone))
	waited := fmt.Sprintf("%s waited %s", most.in, quantity.Plural(most.n, "time", "times"))
	x.Headline = fmt.Sprintf("Waiting for a child process (%s): nothing else ran for %s of %s", most.in, alone, recorded)
	x.Title = fmt.Sprintf("For %s of %s (%s) the program only waited for processes that it had started: %s, %s in all and up to %s at a time",
		alone, recorded, share, waited, quantity.Duration(most.ns), quantity.Duration(most.longest.to-most.longest.began))
	x.Evidence = []findings.Evidence{
		{What: "time in which nothing ran but child processes", Value: alone + " (" + share + ")", Limit: quantity.Duration(w.t.MinNs) + " and " + quantity.Percent(w.t.NoteShare), Ns: n.alone},
		{What: "waits for a child process, summed", Value: quantity.Duration(n.ns), Ns: n.ns},
	}
	for _, s := range n.sites[:min(maxSites, len(n.sites))] {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "in " + s.in + " (" + s.place + ")", Value: quantity.Plural(s.n, "wait", "waits") + ", " + quantity.Duration(s.ns), Ns: s.ns})
	}
	x.Advice = []string{
		"Start fewer processes in " + most.in + ", or let one do the work of several; keep their answers where they stay the same.",
		"Do meanwhile what does not need their answers, or run several at once if the machine has the cores. No setting of the scheduler changes what they take.",
	}
}

// maxSites is how many functions are named.
const maxSites = 3

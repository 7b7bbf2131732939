package truth

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// cleanRun is the number of starts in a row that are right in source and queue
// lengths after which an error is one of its own, and no consequence.
const cleanRun = 20

// A cascade is a run of wrong starts with fewer than cleanRun right ones in
// between.
type cascade struct {
	at    int // index of its first match
	wrong int
}

// Cascades writes the n longest cascades of a comparison: what the Ps did
// before, the truth beside the dump, and between them what the dump believes to
// have been stolen, overflowed or corrected. A single wrong guess about a full
// ring or the end of a batch can make thousands of starts wrong.
func Cascades(w io.Writer, truth, dump []Line, starts []Match, n, before, after int) {
	var found []cascade
	partner := make(map[int]*Line, len(starts))
	clean := cleanRun
	for i, m := range starts {
		wrong := true
		if m.Dump >= 0 {
			t, d := &truth[m.Truth], &dump[m.Dump]
			partner[m.Truth] = d
			wrong = t.Src != d.Src || t.LL != d.LL || t.GL != d.GL
		}
		switch {
		case !wrong:
			clean++
			continue
		case clean >= cleanRun:
			found = append(found, cascade{at: i})
		}
		found[len(found)-1].wrong++
		clean = 0
	}
	slices.SortStableFunc(found, func(a, b cascade) int { return cmp.Compare(b.wrong, a.wrong) })
	for _, c := range found[:min(n, len(found))] {
		at := starts[c.at].Truth
		fmt.Fprintf(w, "\n%d starts wrong from t=%d\n", c.wrong, truth[at].T)
		lo := seek(truth, at, -1, before)
		hi := seek(truth, at, 1, after)
		j := slices.IndexFunc(dump, func(l Line) bool { return l.T >= truth[lo].T })
		quiet := 0
		for i := lo; i < hi; i++ {
			t := &truth[i]
			for ; j >= 0 && j < len(dump) && dump[j].T <= t.T; j++ {
				switch d := &dump[j]; {
				case d.K == "move" && d.Why != "corrected" && d.To != "direct":
				case d.K == "overflow", d.K == "steal", d.K == "global-batch", d.K == "move":
					fmt.Fprintf(w, "  %+12d P%-2d %-70s | %s G%d %s\n", d.T-truth[at].T, d.P, "", d.K, d.G, d.brief())
				}
			}
			if t.K == "ready" && t.To != "global" {
				quiet++
				continue
			}
			if quiet > 0 {
				fmt.Fprintf(w, "  %12s     %d goroutines put into local queues\n", "", quiet)
				quiet = 0
			}
			mark, other := " ", ""
			if d := partner[i]; d != nil {
				other = d.brief()
				if d.Src != t.Src || d.LL != t.LL || d.GL != t.GL {
					mark = "!"
				}
			}
			fmt.Fprintf(w, "%s %+12d P%-2d %-8s G%-7d %-52s | %s\n", mark, t.T-truth[at].T, t.P, t.K, t.G, t.brief(), other)
		}
	}
}

// seek returns the index of the line that is n starts away from line at.
func seek(lines []Line, at, step, n int) int {
	i := at
	for ; n > 0 && i+step >= 0 && i+step < len(lines); i += step {
		if lines[i].K == "start" {
			n--
		}
	}
	return i
}

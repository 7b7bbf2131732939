package truth

import (
	"fmt"
	"io"
	"strings"
)

// Mismatches reports which wrong starts to show, and with how much around them.
type Mismatches struct {
	Show    int    // how many
	Skip    int    // how many to pass over first
	Only    string // "TRUTH>DUMP", either may be empty: only these sources
	Lengths bool   // wrong queue lengths count as well
	Context int    // earlier decisions of the P, and of a victim, to show
	AllPs   bool   // show those of every P
	Roots   int    // only mismatches that come after this many starts without any
}

// Print writes the first mismatches of a comparison. Every one comes with what
// its goroutine and its P did before, the truth beside the dump.
func (o Mismatches) Print(w io.Writer, truth, dump []Line, starts []Match) {
	wantTruth, wantDump, _ := strings.Cut(o.Only, ">")
	partner := make(map[int]int, len(starts))
	for _, m := range starts {
		partner[m.Truth] = m.Dump
	}
	readies := make(map[[2]int64]string) // goroutine and ordinal of the next start
	count := make(map[int64]int64)
	for i := range dump {
		switch l := &dump[i]; l.K {
		case "ready":
			readies[[2]int64{l.G, count[l.G]}] = l.To
		case "start":
			count[l.G]++
		}
	}
	shown, clean := 0, 0
	for _, m := range starts {
		t := &truth[m.Truth]
		var d Line
		if m.Dump >= 0 {
			d = dump[m.Dump]
		}
		wrong := d.Src != t.Src || coarse(t.Src) == "steal" && (d.Victim != t.Victim || d.Batch != t.Batch)
		if o.Lengths {
			wrong = wrong || d.LL != t.LL || d.GL != t.GL
		}
		before := clean
		clean++
		if wrong {
			clean = 0
		}
		if before < o.Roots {
			continue
		}
		if !wrong || wantTruth != "" && t.Src != wantTruth || wantDump != "" && d.Src != wantDump {
			continue
		}
		if shown++; shown <= o.Skip {
			continue
		}
		if shown > o.Skip+o.Show {
			return
		}
		fmt.Fprintf(w, "\n#%d  t=%d  G%d starts on P%d\n", shown, t.T, t.G, t.P)
		fmt.Fprintf(w, "  truth  %s\n  dump   %s\n", t.brief(), d.brief())
		o.around(w, truth, dump, partner, readies, m.Truth)
	}
	if shown <= o.Skip {
		fmt.Fprintln(w, "no further mismatch")
	}
}

// around writes what led to the start truth[at].
func (o Mismatches) around(w io.Writer, truth, dump []Line, partner map[int]int, readies map[[2]int64]string, at int) {
	t := &truth[at]
	for i := at - 1; i >= 0; i-- {
		if l := &truth[i]; l.K == "ready" && l.G == t.G {
			fmt.Fprintf(w, "  made runnable t=%d (%d ns before) on P%d: truth %s, dump %s\n",
				l.T, t.T-l.T, l.P, l.To, readies[[2]int64{l.G, l.N}])
			break
		} else if l.K == "start" && l.G == t.G {
			break
		}
	}
	var back []int
	for i := at - 1; i >= 0 && len(back) < o.Context; i-- {
		l := &truth[i]
		if !o.AllPs && l.P != t.P && l.P != t.Victim {
			continue
		}
		// A steal is seen in the start that follows it, and moves would be most of
		// what there is.
		if l.K != "move" && (l.K != "steal" || l.P != t.P) {
			back = append(back, i)
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		l := &truth[back[i]]
		mark := " "
		other := ""
		switch l.K {
		case "start":
			if j, ok := partner[back[i]]; ok && j >= 0 {
				other = dump[j].brief()
				if dump[j].Src != l.Src {
					mark = "!"
				}
			}
		case "ready":
			other = readies[[2]int64{l.G, l.N}]
			if other != l.To {
				mark = "!"
			}
		}
		who := ""
		if l.G != none {
			who = fmt.Sprintf("G%d", l.G)
		}
		fmt.Fprintf(w, "  %s P%d %+10d  %-8s %-7s %-44s | %s\n", mark, l.P, l.T-t.T, l.K, who, l.brief(), other)
	}
}

// brief is what a line says about queues.
func (l Line) brief() string {
	var b []string
	for _, s := range []string{l.Src, l.To, l.Why, l.By} {
		if s != "" {
			b = append(b, s)
		}
	}
	num := func(k string, v int64) {
		if v != none && (l.K != "" || v != 0) {
			b = append(b, fmt.Sprintf("%s=%d", k, v))
		}
	}
	num("victim", l.Victim)
	num("batch", l.Batch)
	num("ll", l.LL)
	num("gl", l.GL)
	if l.Tick != none && l.K == "start" {
		b = append(b, fmt.Sprintf("tick=%d", l.Tick%61))
	}
	if l.Locked {
		b = append(b, "locked")
	}
	if l.Basis != "" {
		b = append(b, l.Basis)
	}
	return strings.Join(b, " ")
}

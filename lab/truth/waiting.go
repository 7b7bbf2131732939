package truth

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/report"
)

// A Waiting reports for which part of all waiting time a reconstruction knows what
// a goroutine waited in, and for what. A rate counts ns.
type Waiting struct {
	// Queue: in the true P's queue, the global one, or none. Place: runnext and
	// ring told apart as well. Cause: the time that has the same cause in the
	// account of the true queues; of each wait, the sum over the causes of what
	// both accounts have.
	Queue, Place, Cause Rate
	// OpenNs is the part of Queue.Of that is not right because the truth does not
	// show it.
	OpenNs int64
	// Causes is by true cause and the cause that the reconstruction has
	// instead: ns, the parts of a wait paired in proportion.
	Causes map[Pair]int64
	// Queues is by true place and the place that the reconstruction has, ns.
	Queues map[Pair]int64
	// Lost are the waits with most time of a wrong cause, the most first.
	Lost []LostWait
}

// A LostWait is a wait that has wrong causes.
type LostWait struct {
	G            int64
	From, To, Ns int64 // ns since the first event; Ns: of wrong cause
	Truth, Dump  string
}

// maxLost bounds Waiting.Lost.
const maxLost = 20

func (w *Waiting) lose(l LostWait) {
	i, _ := slices.BinarySearchFunc(w.Lost, l, func(a, b LostWait) int { return cmp.Compare(b.Ns, a.Ns) })
	if i < maxLost {
		w.Lost = slices.Insert(w.Lost, i, l)
		w.Lost = w.Lost[:min(len(w.Lost), maxLost)]
	}
}

// NewWaiting returns the score of nothing.
func NewWaiting() *Waiting {
	return &Waiting{Causes: make(map[Pair]int64), Queues: make(map[Pair]int64)}
}

// Add adds the times of another score.
func (w *Waiting) Add(o *Waiting) {
	w.Queue.add(o.Queue)
	w.Place.add(o.Place)
	w.Cause.add(o.Cause)
	w.OpenNs += o.OpenNs
	addCounts(w.Causes, o.Causes)
	addCounts(w.Queues, o.Queues)
	for _, l := range o.Lost {
		w.lose(l)
	}
}

// Summary is the score in one line of a Markdown table; WaitingHead its head.
func (w *Waiting) Summary() string {
	return fmt.Sprintf("%.3f | %s | %s", float64(w.Queue.Of)/1e9, w.Queue, w.Cause)
}

// WaitingHead names the columns of Summary, WaitingRule is the line below, for
// a table with one column before them.
const (
	WaitingHead = "waiting time, s | true queue | true cause"
	WaitingRule = "|---|---:|---:|---:|"
)

func (w *Waiting) print(out io.Writer) {
	if w.Queue.Of == 0 {
		return
	}
	n := func(label string, r Rate) {
		fmt.Fprintf(out, "  %-34s %8s %%  of %.3f s\n", label, r, float64(r.Of)/1e9)
	}
	n("waiting time: queue right", w.Queue)
	n("waiting time: place right", w.Place)
	n("waiting time: cause right", w.Cause)
	n("waiting time: truth open", Rate{w.OpenNs, w.Queue.Of})
	printPairs(out, "waiting in, ns", w.Queues, 12)
	printPairs(out, "waiting for, ns", w.Causes, 16)
}

// PrintLost writes the first n of Lost.
func (w *Waiting) PrintLost(out io.Writer, n int) {
	for _, l := range w.Lost[:min(n, len(w.Lost))] {
		fmt.Fprintf(out, "\nG%d waits from t=%d for %d ns, of which %d have a wrong cause\n  truth  %s\n  dump   %s\n",
			l.G, l.From, l.To-l.From, l.Ns, l.Truth, l.Dump)
	}
}

// An observedWait is a wait of a stream of decisions: the indices of its KindReady and
// its KindStart there, and where it was.
type observedWait struct {
	ready, start int
	stays        []stay
}

// CompareWaiting scores the queues and causes that decisions give to waiting
// time against the truth of the same recording.
func CompareWaiting(truth []Line, ds []reference.Decision) *Waiting {
	list := waitsOf(ds)
	real := histories(truth, ds, list)
	w := NewWaiting()
	for i := range list {
		w.compare(&list[i], &real[i], ds[list[i].ready].Time, ds[list[i].start].Time)
	}
	w.causes(ds, trueDecisions(ds, list, real), func(i int, ns int64) {
		from, to := ds[list[i].ready].Time, ds[list[i].start].Time
		w.lose(LostWait{
			G: ds[list[i].ready].G, From: from, To: to, Ns: ns,
			Truth: pathString(real[i].stays, from), Dump: pathString(list[i].stays, from),
		})
	})
	return w
}

// pathString reports where a wait was, with times in ns since its beginning.
func pathString(stays []stay, from int64) string {
	var b strings.Builder
	for i, s := range stays {
		if i == maxPath {
			fmt.Fprintf(&b, " and %d more", len(stays)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "+%d %s", s.from-from, s.in.Queue)
		if s.in.P != reference.NoP {
			fmt.Fprintf(&b, " P%d", s.in.P)
		}
	}
	return b.String()
}

// maxPath bounds how many stays are shown.
const maxPath = 8

// waitsOf lists all waits of a stream, in the order in which they end.
func waitsOf(ds []reference.Decision) []observedWait {
	var out []observedWait
	open := make(map[int64]*observedWait)
	for i := range ds {
		d := &ds[i]
		switch d.Kind {
		case reference.KindReady:
			open[d.G] = &observedWait{ready: i, stays: []stay{{d.Time, placeOf(d)}}}
		case reference.KindMove:
			if w := open[d.G]; w != nil {
				w.stays = append(w.stays, stay{d.Time, placeOf(d)})
			}
		case reference.KindStart:
			if w := open[d.G]; w != nil && d.Wait >= 0 {
				w.start = i
				out = append(out, *w)
			}
			delete(open, d.G)
		}
	}
	return out
}

// placeOf is where a decision puts its goroutine. One that a P's thread has
// taken and not started yet is at QueueDirect, with that P.
func placeOf(d *reference.Decision) reference.Place {
	taken := d.To == reference.QueueDirect && d.Kind == reference.KindMove
	if d.To == reference.QueueRunnext || d.To == reference.QueueLocal || taken {
		return reference.Place{Queue: d.To, P: d.P}
	}
	return reference.Place{Queue: d.To, P: reference.NoP}
}

// histories finds the truth of each wait. A wait whose start the truth does not
// have is open from its beginning.
func histories(truth []Line, ds []reference.Decision, list []observedWait) []history {
	// The decisions that have a partner in the truth; N is their index.
	var said []Line
	var procs []int
	for i := range ds {
		d := &ds[i]
		l := Line{T: d.Time, G: d.G, P: int64(d.P), N: int64(i)}
		switch d.Kind {
		case reference.KindStart:
			l.K = "start"
		case reference.KindReady:
			if d.Flags&reference.FlagFirst != 0 {
				continue
			}
			l.K = "ready"
		case reference.KindProcs:
			procs = append(procs, i)
			continue
		default:
			continue
		}
		said = append(said, l)
	}
	partner := make(map[int]*reference.Decision, len(said))
	waitOf := make(map[int]int, len(list)) // by index in ds of the start
	for i := range list {
		waitOf[list[i].start] = i
	}
	ended := make(map[int]int, len(list)) // by index in truth of the start
	for _, kind := range [...]string{"ready", "start"} {
		for _, m := range byGoroutine(truth, said, kind) {
			if m.Dump < 0 {
				continue
			}
			at := int(said[m.Dump].N)
			partner[m.Truth] = &ds[at]
			if i, ok := waitOf[at]; ok && kind == "start" {
				ended[m.Truth] = i
			}
		}
	}
	out := make([]history, len(list))
	for i := range list {
		from := ds[list[i].ready].Time
		out[i] = history{stays: []stay{{from, reference.Place{P: reference.NoP}}}, open: from}
	}
	r := newReplay()
	r.movesKnown = slices.ContainsFunc(truth, func(l Line) bool { return l.K == "move" })
	for i := range truth {
		l := &truth[i]
		t, p := l.T, l.P
		d := partner[i]
		if d != nil {
			t = d.Time
			if p == none {
				p = int64(d.P)
			}
		}
		for len(procs) > 0 && ds[procs[0]].Time <= t {
			r.procs(int(ds[procs[0]].Batch), ds[procs[0]].Time)
			procs = procs[1:]
		}
		if l.K != "start" {
			r.line(l, t, p)
			continue
		}
		from := t
		wait, ok := ended[i]
		if ok {
			from = ds[list[wait].ready].Time
		}
		h := r.start(l, p, t, from)
		if !ok {
			continue
		}
		if l.Locked && !r.movesKnown {
			h.handOver(list[wait].stays)
		}
		out[wait] = h
	}
	return out
}

// handOver adds when the goroutine's P was given to the thread that it is locked
// to. The truth says that it was, but not when; the events of P and threads do,
// so the time is that of the decisions, if they took it from the true queue.
func (h *history) handOver(said []stay) {
	last := len(said) - 1
	if last < 1 || said[last].in.Queue != reference.QueueDirect {
		return
	}
	taken, was := said[last], h.stays[len(h.stays)-1]
	if same(said[last-1].in, was.in) && taken.from >= was.from {
		h.stays = append(h.stays, taken)
	}
}

// compare adds a wait in [from, to).
func (w *Waiting) compare(said *observedWait, real *history, from, to int64) {
	w.Queue.Of += to - from
	w.Place.Of += to - from
	w.OpenNs += max(0, to-max(from, real.open))
	i, j := 0, 0
	for at := from; at < to; {
		for i+1 < len(said.stays) && said.stays[i+1].from <= at {
			i++
		}
		for j+1 < len(real.stays) && real.stays[j+1].from <= at {
			j++
		}
		end := to
		if i+1 < len(said.stays) {
			end = min(end, said.stays[i+1].from)
		}
		if j+1 < len(real.stays) {
			end = min(end, real.stays[j+1].from)
		}
		if at < real.open {
			end = min(end, real.open)
			a, b := real.stays[j].in, said.stays[i].in
			ns := end - at
			if same(a, b) {
				w.Queue.Right += ns
			}
			if a == b {
				w.Place.Right += ns
			}
			w.Queues[pairOf(a, b)] += ns
		}
		at = end
	}
}

// pairOf names two places. Those of equal kind on different Ps differ in name.
func pairOf(a, b reference.Place) Pair {
	p := Pair{a.Queue.String(), b.Queue.String()}
	if queueKey(a) >= 0 && queueKey(b) >= 0 && a.P != b.P {
		p.Dump += " of another P"
	}
	return p
}

// trueDecisions returns ds with the true queues: each KindReady puts its
// goroutine where the truth did, and the moves are those of the truth, at the
// end of their instant. What is unknown stays as in ds.
func trueDecisions(ds []reference.Decision, list []observedWait, real []history) []reference.Decision {
	type move struct {
		at int64
		d  reference.Decision
	}
	var moves []move
	known := make(map[int]int, len(list)) // wait by index in ds of its ready
	for i := range list {
		if real[i].open <= ds[list[i].ready].Time {
			continue
		}
		known[list[i].ready] = i
		for _, s := range real[i].stays[1:] {
			r := ds[list[i].ready]
			r.Kind, r.Time, r.To, r.P, r.Why = reference.KindMove, s.from, s.in.Queue, s.in.P, reference.WhyUnknown
			if s.from < ds[list[i].start].Time {
				moves = append(moves, move{s.from, r})
			}
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	kept := make(map[int64]bool) // goroutines whose wait under way is unknown
	out := make([]reference.Decision, 0, len(ds))
	for i := range ds {
		d := ds[i]
		for len(moves) > 0 && moves[0].at < d.Time {
			out = append(out, moves[0].d)
			moves = moves[1:]
		}
		switch d.Kind {
		case reference.KindMove:
			if !kept[d.G] {
				continue
			}
		case reference.KindReady:
			delete(kept, d.G)
			if w, ok := known[i]; ok {
				d.To, d.P = real[w].stays[0].in.Queue, real[w].stays[0].in.P
			} else {
				kept[d.G] = true
			}
		}
		out = append(out, d)
	}
	return out
}

// causes compares the accounts of two streams that differ in queues only, and
// calls lost for each wait, by its number, with ns of a wrong cause.
func (w *Waiting) causes(said, real []reference.Decision, lost func(i int, ns int64)) {
	truth, dump := accounts(real), accounts(said)
	names := waits.Causes()
	for i := range truth {
		a, b := truth[i], dump[i]
		var wrong int64
		for c := range a {
			w.Cause.Of += a[c]
			w.Cause.Right += min(a[c], b[c])
			w.Causes[Pair{string(names[c]), string(names[c])}] += min(a[c], b[c])
			wrong += max(0, a[c]-b[c])
		}
		if wrong == 0 {
			continue
		}
		lost(i, wrong)
		for c := range a {
			for e := range b {
				if lacks, has := a[c]-b[c], b[e]-a[e]; lacks > 0 && has > 0 {
					w.Causes[Pair{string(names[c]), string(names[e])}] += int64(float64(lacks) * float64(has) / float64(wrong))
				}
			}
		}
	}
}

// accounts returns every wait of a stream by cause, in ns, as they end.
func accounts(ds []reference.Decision) [][]int64 {
	var out [][]int64
	a := waits.New(waits.Options{Worst: -1, WorstPerClass: -1, Ended: true})
	ledger.NewFeed(a.Add, func(*ledger.Block) {
		for _, w := range a.Ended {
			out = append(out, w.Causes[:])
		}
	}).AddAll(ds)
	return out
}

// Reconstruct analyses the trace in a file and returns the decisions, and the lines of their
// dump. Of o, it heeds what changes or explains the reconstruction: Without and Answered.
func Reconstruct(ctx context.Context, name string, o analyze.Options) (dump []Line, ds []reference.Decision, err error) {
	src, err := input.Open(ctx, name, input.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	var text bytes.Buffer
	lines := report.NewDump(&text, report.DumpOptions{})
	_, err = analyze.Run(ctx, src, analyze.Options{Without: o.Without, Answered: o.Answered, OnDecision: func(d *reference.Decision) error {
		ds = append(ds, *d)
		return lines.Write(d)
	}})
	if err != nil {
		return nil, nil, err
	}
	dump, err = ReadLines(&text)
	return dump, ds, err
}

package truth

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Why a queue length is wrong: both streams are followed, goroutine by goroutine.
// At a start with a wrong length some goroutines are in the queue for one of them
// only. What brought most of these to where they are is the reason.

// The reasons.
const (
	whyOpen     = "open"      // the trace allows the dump's length as well, see Open
	whyUnderWay = "under way" // the operation's event has come and the operation has not
	whyOverflow = "overflow"  // half of a ring that was full
	whyDrain    = "drain"     // a ring that a mark worker gave away
	whySteal    = "steal"     // half of another P's ring
	whyBatch    = "batch"     // from the global queue, or a pick of one at the 61st tick
	whyPut      = "put"       // of one that became runnable
	whyBefore   = "before"    // one that was runnable when the trace began
	whyElse     = "other"     // a correction without any of these, a change of GOMAXPROCS
)

// A P's own queue has its number.
const (
	globalQueue = int64(none)
	noQueue     = globalQueue - 1
)

// whyOrder is which reason goes for a goroutine to which the two streams did
// different things: the one that moves most goroutines.
var whyOrder = []string{whyOverflow, whyDrain, whySteal, whyBatch, whyBefore, whyPut, whyElse}

// Reasons counts wrong lengths by why they are wrong.
type Reasons struct {
	LL, GL map[string]int64
	Starts int64 // all, right or wrong
}

// NewReasons returns the counts of nothing.
func NewReasons() *Reasons {
	return &Reasons{LL: make(map[string]int64), GL: make(map[string]int64)}
}

// Add adds the counts of another.
func (r *Reasons) Add(o *Reasons) {
	r.Starts += o.Starts
	addCounts(r.LL, o.LL)
	addCounts(r.GL, o.GL)
}

// Table is a Markdown table of the reasons with, for both kinds of length, the
// starts that have it and their share of the wrong ones.
func (r *Reasons) Table() string {
	sum := func(m map[string]int64) (n int64) {
		for _, k := range m {
			n += k
		}
		return n
	}
	ll, gl := sum(r.LL), sum(r.GL)
	both := maps.Clone(r.LL)
	addCounts(both, r.GL)
	keys := slices.SortedFunc(maps.Keys(both), func(a, b string) int {
		return cmp.Or(cmp.Compare(both[b], both[a]), strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("| why | ll wrong | share | gl wrong | share |\n|---|---:|---:|---:|---:|\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %s |\n", k, r.LL[k], Rate{r.LL[k], ll}, r.GL[k], Rate{r.GL[k], gl})
	}
	fmt.Fprintf(&b, "| **all**, of %d starts | %d | %s | %d | %s |\n", r.Starts, ll, Rate{ll, r.Starts}, gl, Rate{gl, r.Starts})
	return b.String()
}

// stands is where a stream has a goroutine, and what brought it there.
type stands struct {
	in  int64 // P, globalQueue or noQueue
	why string
}

// followed is the state of the queues by one stream.
type followed struct {
	at map[int64]stands
	in map[int64]map[int64]bool // by queue
}

func newFollowed() *followed {
	return &followed{at: make(map[int64]stands), in: make(map[int64]map[int64]bool)}
}

func (f *followed) put(g int64, to stands) {
	if was, ok := f.at[g]; ok {
		delete(f.in[was.in], g)
	}
	f.at[g] = to
	if to.in == noQueue {
		return
	}
	if f.in[to.in] == nil {
		f.in[to.in] = make(map[int64]bool)
	}
	f.in[to.in][g] = true
}

// line follows a line.
func (f *followed) line(l *Line) {
	was, ok := f.at[l.G]
	if !ok {
		was = stands{noQueue, whyBefore}
	}
	to := stands{l.P, whyPut}
	switch l.To {
	case toGlobal:
		to.in = globalQueue
	case toDirect, "":
		to.in = noQueue
	}
	switch l.K {
	case "start":
		to = stands{noQueue, was.why}
	case "ready":
	case "move":
		to.why = moved(l, was, to.in)
	default:
		return
	}
	f.put(l.G, to)
}

// moved is what a move was: of the dump, which says so, or of the truth, which has
// only from where to where.
func moved(l *Line, was stands, to int64) string {
	switch l.Why {
	case "":
	case "displaced":
		return was.why
	case "overflow":
		return whyOverflow
	case "gc":
		return whyDrain
	case "steal":
		return whySteal
	case "global-batch":
		return whyBatch
	default:
		return whyElse
	}
	switch {
	case to == was.in:
		return was.why // from runnext to the ring
	case to == globalQueue:
		return whyOverflow
	case was.in == globalQueue:
		return whyBatch
	case was.in == noQueue: // a thief's put of what it had in hand
		return was.why
	}
	return whySteal
}

// begin puts those that were runnable before the trace where their first start
// takes them from.
func (f *followed) begin(lines []Line) {
	seen := make(map[int64]bool)
	for i := range lines {
		l := &lines[i]
		if l.K != "ready" && l.K != "start" && l.K != "move" || seen[l.G] {
			continue
		}
		seen[l.G] = true
		if l.K != "start" {
			continue
		}
		switch coarse(l.Src) {
		case "own":
			f.put(l.G, stands{l.P, whyBefore})
		case "steal":
			f.put(l.G, stands{l.Victim, whyBefore})
		case "global":
			f.put(l.G, stands{globalQueue, whyBefore})
		}
	}
}

// FindReasons reports why lengths of a dump are wrong. The matches are those that
// [Compare] returned, open is what [FindOpen] did.
func FindReasons(truth, dump []Line, starts []Match, open []OpenLengths) *Reasons {
	r := NewReasons()
	opens := make(map[int]*OpenLengths, len(open))
	for i := range open {
		opens[open[i].Start] = &open[i]
	}
	partner := make(map[int]int, len(starts))
	for _, m := range starts {
		partner[m.Truth] = m.Dump
	}
	real, said := newFollowed(), newFollowed()
	real.begin(truth)
	next := 0
	for i := range truth {
		l := &truth[i]
		real.line(l)
		j, ok := partner[i]
		if !ok || j < 0 {
			continue
		}
		for ; next <= j; next++ {
			said.line(&dump[next])
		}
		r.Starts++
		d, o := &dump[j], opens[i]
		if l.LL != d.LL {
			r.LL[reason(real, said, l.P, l.LL, d.LL, o != nil && o.LL)]++
		}
		if l.GL != d.GL {
			r.GL[reason(real, said, globalQueue, l.GL, d.GL, o != nil && o.GL() && o.GLLeast <= d.GL && d.GL <= o.GLMost)]++
		}
	}
	return r
}

// reason is why a queue's length is n for the dump and not want.
func reason(real, said *followed, queue, want, n int64, open bool) string {
	if open {
		return whyOpen
	}
	more, fewer := said, real
	if n < want {
		more, fewer = real, said
	}
	count := make(map[string]int64)
	for g := range more.in[queue] {
		if !fewer.in[queue][g] {
			a, b := whyOf(more, g), whyOf(fewer, g)
			count[whyOrder[min(slices.Index(whyOrder, a), slices.Index(whyOrder, b))]]++
		}
	}
	if known := int64(len(real.in[queue])); known != want && (known > want) == (n > want) {
		count[whyUnderWay] = abs(known - want)
	}
	if len(count) == 0 {
		return whyUnderWay
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(count)), func(a, b string) int { return cmp.Compare(count[a], count[b]) })
}

func whyOf(f *followed, g int64) string {
	if s, ok := f.at[g]; ok {
		return s.why
	}
	return whyBefore
}

package truth

import "strings"

// At every 61st tick a P looks at the global queue before its own (findRunnable). If its
// own queue is empty, and the global one holds one goroutine, it does the same at any
// other time. So it is only other starts of the P that can tell when its tick comes: one
// from its own queue while the global one held something, a batch, or a pick while its
// own queue held something. [FindOpenTicks] tells from the truth for which starts none
// of them does.
//
// All that the trace does not say but could be known is taken as known, the lengths of
// the queues above all. The value of schedtick is not: where the trace begins with the
// program, it is small, which makes some candidates likelier than others.

// polls is after how many ticks a P looks at the global queue first.
const polls = 61

// FindOpenTicks returns, by the indices of their lines, the starts that may have been at
// the 61st tick or not, for anybody who has the trace only. The value reports whether it was.
func FindOpenTicks(lines []Line) map[int]bool {
	type candidates struct {
		out  [polls]bool
		left int
	}
	ps, procs := make(map[int64]*candidates), int64(1)
	for i := range lines {
		procs = max(procs, lines[i].P+1)
	}
	for i := range lines {
		l := &lines[i]
		if l.K != "start" || l.Tick == none {
			continue
		}
		c := ps[l.P]
		if c == nil {
			c = &candidates{left: polls}
			ps[l.P] = c
		}
		at, shows := tickAt(l), false
		switch l.Src {
		case srcTick:
			if !looksOrdinary(l, int(procs)) {
				for k := range c.out {
					c.out[k] = int64(k) != at
				}
				c.left = 1
			}
		case srcGlobal:
			shows = !looksOrdinary(l, int(procs))
		case srcLocal, srcRunnext:
			shows = l.GL > 0
		}
		if shows && !c.out[at] {
			c.out[at] = true
			c.left--
		}
	}
	open := make(map[int]bool)
	for i := range lines {
		l := &lines[i]
		if l.K != "start" || l.Tick == none || l.Src != srcGlobal && l.Src != srcTick || !looksOrdinary(l, int(procs)) {
			continue
		}
		if c := ps[l.P]; c.left > 1 && !c.out[tickAt(l)] {
			open[i] = l.Src == srcTick
		}
	}
	return open
}

// tickAt is the P's schedtick when it looked for a goroutine, modulo 61. A start from
// runnext inherits the time slice, and is no tick.
func tickAt(l *Line) int64 {
	if l.Src == srcRunnext {
		return l.Tick % polls
	}
	return (l.Tick - 1) % polls
}

// looksOrdinary reports whether a take of one from the global queue looks the same at the 61st
// tick and elsewhere: the own queue is empty, and elsewhere it would be one, too. The
// more Ps there are, the smaller are batches, and there are at least procs.
func looksOrdinary(l *Line, procs int) bool {
	return l.LL == 0 && (l.Src == srcGlobal && l.Batch <= 1 || l.Src == srcTick && ruleBook.GlobalBatch(int(l.GL)+1, procs) == 1)
}

// Ticks reports for how many starts the trace leaves open whether the 61st tick took the
// goroutine, and how many of the others a dump has right.
type Ticks struct {
	Open  Rate // of all starts, Right those that are open
	Ticks Rate // likewise, those that are open and were at the tick
	Exact Rate // exact source, of those that are not open
}

// Add adds the counts of another score.
func (s *Ticks) Add(o *Ticks) {
	s.Open.add(o.Open)
	s.Ticks.add(o.Ticks)
	s.Exact.add(o.Exact)
}

// CompareTicks scores the starts of a dump, whose matches [Compare] returned. open is
// what [FindOpenTicks] did.
func CompareTicks(truth, dump []Line, starts []Match, open map[int]bool) Ticks {
	var s Ticks
	for _, m := range starts {
		if m.Dump < 0 {
			continue
		}
		tick, is := open[m.Truth]
		s.Open.count(is)
		s.Ticks.count(tick)
		if !is {
			s.Exact.count(truth[m.Truth].Src == dump[m.Dump].Src)
		}
	}
	return s
}

// TicksHead names the columns of Summary, all per cent; TicksRule is the line below it,
// for a table with one column before it.
const (
	TicksHead = "tick open | open and a tick | exact source where not open"
	TicksRule = "|---|---:|---:|---:|"
)

// Summary is the score in one line of a Markdown table.
func (s *Ticks) Summary() string {
	return strings.Join([]string{s.Open.String(), s.Ticks.String(), s.Exact.String()}, " | ")
}

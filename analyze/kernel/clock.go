package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Point is a time at which a thread had an event in the trace, and so was on a CPU.
type Point struct {
	Time int64 // raw trace time, ns
	TID  int32 // ID of the thread in the trace
}

// Clock relates the clock of the records to that of the trace: since Go 1.22 both are
// CLOCK_MONOTONIC on Linux, if ftrace or perf was told so (nanotime; traceClockNow in
// runtime/tracetime.go).
type Clock struct {
	ShiftNs  int64   // time of the records minus that of the trace
	ErrorNs  int64   // uncertainty of ShiftNs
	Inside   float64 // share of the points compared at which their thread was on a CPU
	Compared int     // number of points
	// Threads maps threads of the trace to IDs in the records; nil if they are equal.
	Threads map[int32]int32
}

// ErrOther reports that records do not belong to a trace.
var ErrOther = errors.New("these records are not of this trace")

const (
	minPoints  = 20         // that can be compared
	maxPairs   = 1 << 20    // of a point and an interval of its thread
	enough     = 0.8        // Inside from which on the clocks agree
	nearNs     = 50_000_000 // shifts up to it are looked at where the clocks seem to agree
	slack      = 0.005      // of the points: shifts that put so few more outside are as good
	zeroSlack  = 0.02       // of the points: a shift that is not better by so many is none
	minShifted = 200        // points to find a shift by
	minBetter  = 5          // by so many points more inside a shift is better than none
	// How many points chance would put outside, so that it is not chance if no more than
	// chanceMisses of them are: with one shift of many, and with threads of one name.
	missesByShift  = 50
	missesByThread = 5
	chanceMisses   = 0.1
	lateStart      = 3_600_000_000_000 // records may begin so much later than the trace, ns
	maxErrorNs     = 1_000_000         // of a shift that is believed where the clocks do not agree
)

// span is from when to when a thread was on a CPU, ns of the records' clock.
type span struct{ from, to int64 }

// onCPU returns when threads were on a CPU, as some records have it.
func onCPU(records []Record) map[int32][]span {
	type thread struct {
		since int64 // that it is on, or when it was seen last
		on    bool
		spans []span
	}
	threads := map[int32]*thread{}
	of := func(tid int32, since int64) *thread {
		t := threads[tid]
		if t == nil {
			t = &thread{since: since}
			threads[tid] = t
		}
		return t
	}
	for i := range records {
		r := &records[i]
		if r.TID != 0 && r.Kind == Switch { // if it was off, the record of a switch to it is missing
			t := of(r.TID, records[0].Time)
			t.spans = append(t.spans, span{t.since, r.Time})
			t.on, t.since = false, r.Time
		}
		if r.TID != 0 && r.Kind == Wake {
			if t := of(r.TID, r.Time); !t.on {
				t.since = r.Time
			}
		}
		if r.Next != 0 && r.Kind == Switch {
			t := of(r.Next, r.Time)
			t.on, t.since = true, r.Time
		}
	}
	out := map[int32][]span{}
	for tid, t := range threads {
		if t.on {
			t.spans = append(t.spans, span{t.since, records[len(records)-1].Time})
		}
		if len(t.spans) > 0 {
			out[tid] = t.spans
		}
	}
	return out
}

// Compare returns the Clock by which points of a trace fit records with a resolution, in
// ns. It fails with [ErrOther] if there is none.
func Compare(points []Point, records []Record, resolution int64) (Clock, error) {
	if len(points) == 0 || len(records) == 0 {
		return Clock{}, fmt.Errorf("%w: no event of the trace lies within their time", ErrOther)
	}
	spans := onCPU(records)
	from, to := records[0].Time, records[len(records)-1].Time
	var known, covered []Point
	for _, p := range points {
		if len(spans[p.TID]) == 0 {
			continue
		}
		known = append(known, p)
		if p.Time >= from && p.Time <= to {
			covered = append(covered, p)
		}
	}
	if len(covered) >= minPoints {
		near := sweep(covered, spans, nearNs)
		if near.count(0) >= int(enough*float64(near.points)) {
			return near.clock(resolution), nil
		}
	}
	if last := points[len(points)-1].Time; len(covered) == 0 && from > last && from-last < lateStart {
		return Clock{ErrorNs: resolution}, nil // later events must show it: see Accumulator.Finish
	}
	c, err := shifted(known, spans, resolution)
	if err == nil && mayBeChance((1-c.Inside)*float64(len(known)), known, spans, to-from, missesByShift) {
		err = fmt.Errorf("%w: no shift between the clocks makes their threads fit better than chance does", ErrOther)
	}
	if err == nil {
		return c, nil
	}
	if c, ok := inNamespace(points, records, spans, resolution); ok {
		return c, nil
	}
	return c, err
}

// shifted compares clocks of which nothing is known, by points of threads that have spans.
func shifted(known []Point, spans map[int32][]span, resolution int64) (Clock, error) {
	if len(known) == 0 {
		return Clock{}, fmt.Errorf("%w: none of its threads is in them: they are of another machine, of another time, or of another process", ErrOther)
	}
	if len(known) < minShifted {
		return Clock{}, fmt.Errorf("%w: only %s of it by threads that are in them", ErrOther, quantity.Plural(int64(len(known)), "event is", "events are"))
	}
	all := sweep(known, spans, math.MaxInt64)
	c := all.clock(resolution)
	switch {
	case c.Inside < enough:
		return c, fmt.Errorf("%w: whatever the shift between the clocks, threads were on a CPU at %s of their events at most", ErrOther, quantity.Percent(c.Inside))
	case c.ErrorNs > maxErrorNs, all.points < minShifted:
		return c, fmt.Errorf("%w, or its clock cannot be told: record with the clock CLOCK_MONOTONIC (trace_clock mono, perf record -k mono)", ErrOther)
	}
	return c, nil
}

// inNamespace compares the clocks where the threads of the trace have numbers of their own.
func inNamespace(points []Point, records []Record, spans map[int32][]span, resolution int64) (Clock, bool) {
	threads := mapThreads(points, records)
	if threads == nil {
		return Clock{}, false
	}
	from, to := records[0].Time, records[len(records)-1].Time
	mapped := translated(points, threads)
	mapped = slices.DeleteFunc(mapped, func(p Point) bool { return p.Time < from || p.Time > to })
	s := sweep(mapped, spans, nearNs)
	c := s.clock(resolution)
	c.Threads = threads
	return c, true
}

// mayBeChance reports whether so few points may be outside although they have nothing to do
// with the records, of a length in ns: a thread that is always on a CPU proves nothing. Chance
// must be expected to put at least so many outside.
func mayBeChance(misses float64, points []Point, spans map[int32][]span, whole int64, least float64) bool {
	off := map[int32]float64{}
	byChance := 0.0
	for _, p := range points {
		x, known := off[p.TID]
		if !known {
			on := int64(0)
			for _, s := range spans[p.TID] {
				on += s.to - s.from
			}
			x = 1 - float64(on)/float64(max(1, whole))
			off[p.TID] = x
		}
		byChance += x
	}
	return byChance < least || misses > chanceMisses*byChance
}

// step is where the number of points that are inside changes, as the shift grows.
type step struct {
	at int64
	by int
}

// steps are all, by their place.
type steps struct {
	steps  []step
	points int
}

// sweep returns for which shifts of at most limit how many points lie in spans of their
// threads. Where there are too many pairs, some points are left out, evenly.
func sweep(points []Point, spans map[int32][]span, limit int64) steps {
	near := func(p Point) []span {
		list := spans[p.TID]
		if limit == math.MaxInt64 {
			return list
		}
		first, _ := slices.BinarySearchFunc(list, p.Time-limit, func(s span, t int64) int { return cmp.Compare(s.to, t) })
		last, _ := slices.BinarySearchFunc(list, p.Time+limit, func(s span, t int64) int { return cmp.Compare(s.from, t) })
		return list[min(first, last):last]
	}
	pairs := 0
	for _, p := range points {
		pairs += len(near(p))
	}
	var out steps
	for i := 0; i < len(points); i += 1 + pairs/maxPairs {
		p := points[i]
		out.points++
		for _, s := range near(p) {
			out.steps = append(out.steps, step{s.from - p.Time, 1}, step{s.to - p.Time + 1, -1})
		}
	}
	slices.SortFunc(out.steps, func(x, y step) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(y.by, x.by)) })
	return out
}

// count returns how many points are inside with a shift.
func (s *steps) count(shift int64) int {
	n := 0
	for _, x := range s.steps {
		if x.at > shift {
			break
		}
		n += x.by
	}
	return n
}

// clock returns the clock with the most points inside: that without a shift, if it is as
// good, else in the middle of the shifts that are.
func (s *steps) clock(resolution int64) Clock {
	most, at, n := 0, 0, 0
	for i, x := range s.steps {
		if n += x.by; n > most {
			most, at = n, i
		}
	}
	if len(s.steps) == 0 {
		return Clock{}
	}
	shift := s.steps[at].at
	good := most - max(1, int(slack*float64(s.points)))
	if zero := s.count(0); zero >= most-max(minBetter, int(zeroSlack*float64(s.points))) {
		shift, good = 0, min(good, zero)
	}
	from, to := s.plateau(good)
	if shift != 0 {
		from, to = s.all(good)
		shift = s.steps[at].at + s.width(at)/2
	}
	return Clock{
		ShiftNs: shift, ErrorNs: max(shift-from, to-shift, resolution),
		Inside: float64(s.count(shift)) / float64(max(1, s.points)), Compared: s.points,
	}
}

// width is how far the shifts reach that have as many points inside as that of step i.
func (s *steps) width(i int) int64 {
	if i+1 < len(s.steps) {
		return s.steps[i+1].at - s.steps[i].at - 1
	}
	return 0
}

// all returns the smallest and the largest shift with at least good points inside.
func (s *steps) all(good int) (from, to int64) {
	n, found := 0, false
	for i, x := range s.steps {
		n += x.by
		if n < good || i+1 < len(s.steps) && s.steps[i+1].at == x.at {
			continue
		}
		if !found {
			from, found = x.at, true
		}
		to = x.at + s.width(i)
	}
	return from, to
}

// plateau returns the shifts around none with at least good points inside.
func (s *steps) plateau(good int) (from, to int64) {
	n, open := 0, false
	for i, x := range s.steps {
		n += x.by
		if i+1 < len(s.steps) && s.steps[i+1].at == x.at {
			continue
		}
		switch {
		case n >= good && !open:
			open, from = true, min(x.at, 0)
		case n < good && open:
			if x.at > 0 {
				return from, x.at - 1
			}
			open, from = false, 0
		}
	}
	return from, 0
}

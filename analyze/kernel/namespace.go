package kernel

import (
	"cmp"
	"maps"
	"slices"
)

const (
	maxMapped     = 1024 // points that decide
	maxCandidates = 4096 // threads of the records
	mappedShare   = 0.9  // of the points that must be inside
	mappedLead    = 0.1  // by which share of them threads of another name must be worse
)

// mapThreads finds out which threads of the records are those of some points, where both
// have numbers of their own: those of a PID namespace, such as a container's. The kernel
// numbers threads in the order in which they are made, in all namespaces; those of one
// program have one name. So for each name the threads are matched in their order, such that
// the most points are inside. It returns nil if that is not clear.
func mapThreads(points []Point, records []Record) map[int32]int32 {
	from, to := records[0].Time, records[len(records)-1].Time
	covered := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Time < from || p.Time > to })
	if len(covered) < minPoints {
		return nil
	}
	sample := make([]Point, 0, maxMapped)
	for i := 0; i < len(covered); i += 1 + len(covered)/maxMapped {
		sample = append(sample, covered[i])
	}
	byComm := candidates(records)
	spans := onCPU(records)
	var best, second match
	for _, comm := range slices.Sorted(maps.Keys(byComm)) {
		m := matchThreads(sample, byComm[comm], spans)
		switch {
		case m.inside > best.inside:
			best, second = m, best
		case m.inside > second.inside:
			second = m
		}
	}
	n := float64(len(sample))
	misses := n - float64(best.inside)
	if misses > (1-mappedShare)*n || float64(best.inside-second.inside) < mappedLead*n {
		return nil
	}
	if mayBeChance(misses, translated(sample, best.threads), spans, to-from, missesByThread) {
		return nil
	}
	return best.threads
}

// translated returns points with the numbers that their threads have in the records; those
// of other threads are left out.
func translated(points []Point, threads map[int32]int32) (out []Point) {
	for _, p := range points {
		if tid, ok := threads[p.TID]; ok {
			out = append(out, Point{p.Time, tid})
		}
	}
	return out
}

// candidates returns the threads of the records by their names, each sorted.
func candidates(records []Record) map[Comm][]int32 {
	comms := map[int32]Comm{}
	for i := range records {
		r := &records[i]
		if r.Kind != Switch {
			continue
		}
		for _, x := range [2]struct {
			tid  int32
			comm Comm
		}{{r.TID, r.Comm}, {r.Next, r.Into}} {
			if _, known := comms[x.tid]; x.tid != 0 && (known || len(comms) < maxCandidates) {
				comms[x.tid] = x.comm
			}
		}
	}
	out := map[Comm][]int32{}
	for _, tid := range slices.Sorted(maps.Keys(comms)) {
		out[comms[tid]] = append(out[comms[tid]], tid)
	}
	return out
}

// match is which thread of the records is which of the trace, and how many points are
// inside with it.
type match struct {
	inside  int
	threads map[int32]int32
}

// matchThreads matches the threads of the points with others, both in their order: the
// alignment of two sequences, by dynamic programming.
func matchThreads(points []Point, others []int32, spans map[int32][]span) match {
	byThread := map[int32][]Point{}
	for _, p := range points {
		byThread[p.TID] = append(byThread[p.TID], p)
	}
	own := slices.Sorted(maps.Keys(byThread))
	most := make([][]int, len(own)+1) // with the first i of own and the first j of others
	most[0] = make([]int, len(others)+1)
	for i, tid := range own {
		row := make([]int, len(others)+1)
		for j, other := range others {
			row[j+1] = max(row[j], most[i][j+1], most[i][j]+inside(byThread[tid], spans[other]))
		}
		most[i+1] = row
	}
	m := match{inside: most[len(own)][len(others)], threads: map[int32]int32{}}
	for i, j := len(own), len(others); i > 0 && j > 0; {
		switch most[i][j] {
		case most[i][j-1]:
			j--
		case most[i-1][j]:
			i--
		default:
			i, j = i-1, j-1
			m.threads[own[i]] = others[j]
		}
	}
	return m
}

func inside(points []Point, spans []span) (n int) {
	for _, p := range points {
		i, _ := slices.BinarySearchFunc(spans, p.Time, func(s span, t int64) int { return cmp.Compare(s.to, t) })
		if i < len(spans) && spans[i].from <= p.Time {
			n++
		}
	}
	return n
}

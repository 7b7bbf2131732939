package waits

import "github.com/gmpscope/gmpscope/analyze/breakdown"

// ClassOthers is the ID of the account shared by all classes beyond [Options.Classes].
const ClassOthers = breakdown.ClassOthers

const classOthers = int32(0) // its index

// class is the account of a class of goroutines.
type class struct {
	id           int32
	system       bool
	goroutines   int64
	starts       int64
	running      int64
	waits        [numKinds]score // those that have ended; the totals come of them
	open, openNs int64
	cutNs        int64
	coarse       *coarse // nil: none has ended
	series       *series // likewise
	long         pooled
	worst        int32 // index of its longest waits, or none
	worstMin     int64 // what is longer is among them; -1 as long as all are
	pairs        int32 // classes that ran while it waited
	recent       [8]recentCell
	wakings      *wakings // nil: none has waited
}

// class returns the index of a class, of which the ledger has another.
func (a *accounts) class(of int32) int32 {
	for int(of) >= len(a.classAt) {
		a.classAt = append(a.classAt, 0)
	}
	if ci := a.classAt[of] - 1; ci >= 0 {
		return ci
	}
	if len(a.classes) > a.most {
		return classOthers
	}
	ci := int32(len(a.classes))
	a.classes = append(a.classes, class{id: a.handles[of], worst: none, worstMin: -1})
	a.classAt[of] = ci + 1
	return ci
}

// Bounds of the pairs of a waiting class and a culprit; of what is beyond them
// only the kind is known: a class that runs is [ClassOthers].
const (
	maxPairsPerClass = 256
	maxPairs         = 1 << 18
)

// charge books waiting time of one class under the run intervals of another.
func (a *accounts) charge(waiting, running int32, ns int64, shared bool) {
	if ns == 0 {
		return
	}
	a.cellOfRecent(waiting, culpritRun|culprit(running)).add(ns, shared)
}

// recentCell remembers the cell of a culprit.
type recentCell struct {
	by   culprit // plus 1
	cell int32
}

func (a *accounts) cellOfRecent(waiting int32, by culprit) *cell {
	c := &a.classes[waiting]
	r := &c.recent[uint32(by^by>>culpritBits)%uint32(len(c.recent))]
	if r.by != by+1 {
		r.by, r.cell = by+1, a.cell(c, waiting, by)
	}
	return &a.cells[r.cell]
}

func (a *accounts) cell(c *class, waiting int32, by culprit) int32 {
	key := uint64(waiting)<<32 | uint64(uint32(by))
	if i, ok := a.cellOf[key]; ok {
		return i
	}
	if by.of() != 0 && (c.pairs >= maxPairsPerClass || len(a.cells) >= maxPairs) {
		return a.cell(c, waiting, by.kind())
	}
	c.pairs++
	i := int32(len(a.cells))
	a.cells = append(a.cells, cell{})
	a.cellKeys = append(a.cellKeys, key)
	a.cellOf[key] = i
	return i
}

package work

import (
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// Bounds of annotations that are open at one time.
const (
	maxTasks   = 1 << 14
	maxRegions = 16 // of a goroutine
	maxNotes   = 32 // log messages of a task, and regions
)

// annotations are the tasks and regions that are open.
type annotations struct {
	tasks   map[int64]*task
	regions map[int32][]annotation // by life
	missed  bool                   // some that began may not be here: too many were open, or there was a gap
}

// annotation is a task or a region.
type annotation struct {
	label int32
	from  mark
	task  int64 // its number, or of the region's task; 0: none
}

// task is one that is open, with the goroutine that began it.
type task struct {
	annotation
	notes
	class, handle int32 // as in life
	g             int64
}

// notes are what the program says about a task.
type notes struct {
	logs                  []logged
	regions               []region
	moreLogs, moreRegions int64
}

// logged is a message that the program logged.
type logged struct {
	at, g int64
	label int32
}

// region is one of a task that is over.
type region struct {
	from, to, g int64
	label       int32
}

// annotate processes an annotation of a goroutine, number at of the lives.
func (a *Accumulator) annotate(d *reference.Decision, l *life, at int32) {
	now, t := a.mark(l), a.annotations.tasks[d.By]
	switch d.Kind {
	case reference.KindTaskBegin:
		l.annotated = d.Time
		if t != nil || len(a.annotations.tasks) == maxTasks {
			a.annotations.missed = true
			return
		}
		a.annotations.tasks[d.By] = &task{annotation: annotation{d.Label, now, d.By}, class: l.class, handle: l.handle, g: l.id}
	case reference.KindLog:
		switch {
		case t == nil:
		case len(t.logs) == maxNotes:
			t.moreLogs++
		default:
			t.logs = append(t.logs, logged{d.Time, d.G, d.Label})
		}
	case reference.KindTaskEnd:
		if t == nil {
			a.beganBefore(l, Task, d.Label)
			return
		}
		delete(a.annotations.tasks, d.By)
		if s := a.annotated(l, Task, t.annotation, now); s != nil {
			s.task, s.notes = d.By, t.notes
		}
	case reference.KindRegionBegin:
		l.annotated = d.Time
		if rs := a.annotations.regions[at]; len(rs) < maxRegions {
			a.annotations.regions[at] = append(rs, annotation{d.Label, now, d.By})
		} else {
			a.annotations.missed = true
		}
	case reference.KindRegionEnd:
		a.endRegion(l, at, d.Label, now)
	}
}

// endRegion ends the innermost region of a type. Those within it end without a unit: the
// trace is damaged.
func (a *Accumulator) endRegion(l *life, at, label int32, now mark) {
	rs := a.annotations.regions[at]
	for i := len(rs) - 1; i >= 0; i-- {
		if rs[i].label != label {
			continue
		}
		x := rs[i]
		if t := a.annotations.tasks[x.task]; t != nil {
			if len(t.regions) < maxNotes {
				t.regions = append(t.regions, region{x.from.at, now.at, l.id, label})
			} else {
				t.moreRegions++
			}
		}
		if !slices.ContainsFunc(rs[:i], func(outer annotation) bool { return outer.label == label }) {
			if s := a.annotated(l, Region, x, now); s != nil {
				s.task = x.task
			}
		}
		if a.annotations.regions[at] = rs[:i]; i == 0 {
			delete(a.annotations.regions, at)
		}
		return
	}
	a.beganBefore(l, Region, label)
}

// annotated counts a task or region that has ended. It returns where it is kept, nil if it is not.
func (a *Accumulator) annotated(l *life, how How, x annotation, to mark) *slow {
	if r := &a.lastRun; r.g == l.id && x.from.at < r.to.at {
		r.is = false // it was within what is annotated
	}
	if to.at <= x.from.at {
		return nil
	}
	return a.found(a.sumOf(kindKey{class: l.class, name: x.label, how: how}), l.id, l.handle, x.from, to)
}

// beganBefore counts a task or region that ends and has begun before the trace.
func (a *Accumulator) beganBefore(l *life, how How, label int32) {
	if !a.annotations.missed {
		a.cut(a.sumOf(kindKey{class: l.class, name: label, how: how}), l.id, l.handle, 0, a.now)
	}
}

// leaveTasks counts the tasks that are under way as ones that the trace does not have whole.
func (a *Accumulator) leaveTasks() {
	for _, id := range slices.Sorted(maps.Keys(a.annotations.tasks)) {
		t := a.annotations.tasks[id]
		a.cut(a.sumOf(kindKey{class: t.class, name: t.label, how: Task}), t.g, t.handle, t.from.at, a.now)
	}
	clear(a.annotations.tasks)
}

// leaveRegions counts likewise the regions of a goroutine, number at of the lives.
func (a *Accumulator) leaveRegions(l *life, at int32) {
	for _, x := range a.annotations.regions[at] {
		a.cut(a.sumOf(kindKey{class: l.class, name: x.label, how: Region}), l.id, l.handle, x.from.at, a.now)
	}
	delete(a.annotations.regions, at)
}

package work

import "github.com/gmpscope/gmpscope/reference"

// Bounds of annotations that are open at one time.
const (
	maxTasks   = 1 << 14
	maxRegions = 16 // of a goroutine
	maxLogs    = 32 // of a task
)

// annotations are the tasks and regions that are open.
type annotations struct {
	tasks   map[int64]annotation
	regions map[int32][]annotation // by life
}

// annotation is a task or a region.
type annotation struct {
	label int32
	from  mark
	task  int64 // its number, or of the region's task; 0: none
	logs  []logged
	more  int64 // logs
}

// logged is a message that the program logged.
type logged struct {
	at, g int64
	label int32
}

func newAnnotations() annotations {
	return annotations{tasks: map[int64]annotation{}, regions: map[int32][]annotation{}}
}

// annotate processes an annotation of a goroutine, number at of the lives.
func (a *Accumulator) annotate(d *reference.Decision, l *life, at int32) {
	now := a.mark(l)
	switch d.Kind {
	case reference.KindTaskBegin:
		l.annotated = d.Time
		if len(a.annotations.tasks) < maxTasks {
			a.annotations.tasks[d.By] = annotation{label: d.Label, from: now, task: d.By}
		}
	case reference.KindLog:
		if x, ok := a.annotations.tasks[d.By]; ok {
			x.log(logged{d.Time, d.G, d.Label})
			a.annotations.tasks[d.By] = x
		}
	case reference.KindTaskEnd:
		if x, ok := a.annotations.tasks[d.By]; ok {
			delete(a.annotations.tasks, d.By)
			a.annotated(l, Task, x, now)
		}
	case reference.KindRegionBegin:
		l.annotated = d.Time
		if rs := a.annotations.regions[at]; len(rs) < maxRegions {
			a.annotations.regions[at] = append(rs, annotation{label: d.Label, from: now, task: d.By})
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
		x, nested := rs[i], false
		for _, outer := range rs[:i] {
			nested = nested || outer.label == label
		}
		if !nested {
			a.annotated(l, Region, x, now)
		}
		if a.annotations.regions[at] = rs[:i]; i == 0 {
			delete(a.annotations.regions, at)
		}
		return
	}
}

// annotated hands on a task or region that has ended.
func (a *Accumulator) annotated(l *life, how How, x annotation, to mark) {
	if r := &a.lastRun; r.g == l.id && x.from.at < r.to.at {
		r.is = false // it was within what is annotated
	}
	if to.at <= x.from.at {
		return
	}
	if s := a.found(a.sumOf(kindKey{class: l.class, name: x.label, how: how}), l.id, l.handle, x.from, to); s != nil {
		s.marked = x
	}
}

// log adds a message to those of a task.
func (x *annotation) log(l logged) {
	if len(x.logs) == maxLogs {
		x.more++
		return
	}
	x.logs = append(x.logs, l)
}

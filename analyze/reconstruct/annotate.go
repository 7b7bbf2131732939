package reconstruct

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// maxAnnotated bounds the pairs of class and name that are kept.
const maxAnnotated = 4096

// annotation is a type of tasks or regions that goroutines of a class began.
type annotation struct {
	class int32
	task  bool
	name  events.Handle
}

var annotations = [...]reference.Kind{
	events.TaskBegin: reference.KindTaskBegin, events.TaskEnd: reference.KindTaskEnd,
	events.Region: reference.KindRegionBegin, events.RegionEnd: reference.KindRegionEnd, events.Log: reference.KindLog,
}

// annotate passes on what a goroutine notes about itself, and counts the types of the tasks and regions
// that it begins.
func (r *stepper) annotate(rec *record) {
	if rec.context() < 0 || r.engine.on {
		return
	}
	gp := r.ahead.gStates.At(r.model.goroutine(rec.context()))
	d := r.out.draftOf(gp, annotations[rec.Kind], rec.p, rec.m)
	d.By, d.Victim, d.Label, d.Basis = rec.res(), reference.NoP, int32(rec.Reason), observed
	r.out.commit()
	if rec.Reason == 0 || rec.Kind != events.TaskBegin && rec.Kind != events.Region {
		return
	}
	if n := r.annotated.of(annotation{gp.class, rec.Kind == events.TaskBegin, rec.Reason}); n != nil {
		*n++
	}
}

// counts are how often each pair was begun, with a small cache: most programs have few pairs.
type counts struct {
	all    map[annotation]*int64
	recent [16]struct {
		annotation
		n *int64
	}
}

// of returns the count of a pair, nil if there are too many.
func (c *counts) of(a annotation) *int64 {
	e := &c.recent[(uint32(a.class)^uint32(a.name))%uint32(len(c.recent))]
	if e.annotation == a && e.n != nil {
		return e.n
	}
	n, ok := c.all[a]
	if !ok && len(c.all) < maxAnnotated {
		n = new(int64)
		c.all[a] = n
	}
	e.annotation, e.n = a, n
	return n
}

// Annotated returns the types of tasks and of regions that goroutines of each class began, most
// frequent first, up to a bounded number of types.
func (r *Reconstructor) Annotated() (tasks, regions map[int32][]string) {
	counted := r.step.annotated.all
	all := slices.SortedFunc(maps.Keys(counted), func(a, b annotation) int {
		return cmp.Or(cmp.Compare(*counted[b], *counted[a]), cmp.Compare(a.name, b.name))
	})
	tasks, regions = map[int32][]string{}, map[int32][]string{}
	for _, a := range all {
		to := regions
		if a.task {
			to = tasks
		}
		to[a.class] = append(to[a.class], r.step.ahead.tables.Name(a.name))
	}
	return tasks, regions
}

package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// The limits of what is kept of tasks and regions.
const (
	ringNoted  = 64 * 1024 // from which windows are cut
	maxNoted   = 1 << 14   // tasks, and goroutines in regions, that are open
	maxNested  = 16        // regions of a goroutine
	maxNames   = 256       // types that are told apart
	otherNames = 0         // of Result.Annotations: types that have no place in it
)

// Annotation is a task or region of the program, cut to the window.
type Annotation struct {
	G    int64 `json:"g"`              // who began it
	From int64 `json:"from"`           // ns
	To   int64 `json:"to"`             // ns
	Name int32 `json:"name"`           // its type: the position, from 0, in the list of annotations
	Task bool  `json:"task,omitempty"` // it is a task; absent for regions
	// Of is the type of the task that a region is for, likewise; absent if there is none, or
	// its beginning was not seen.
	Of    int32 `json:"of,omitempty"`
	Depth uint8 `json:"depth,omitempty"` // regions of the goroutine around it; absent if none
}

// noted is a task or region. Names are handles.
type noted struct {
	g, from, to int64
	name, of    int32
	task        bool
	depth       uint8
}

// annotations follows tasks and regions, from one pass over the decisions that annotate.
type annotations struct {
	over    ring[noted] // in the order of their ends
	regions map[int64]*nested
	tasks   map[int64]noted
	free    []*nested // to be used again
}

// nested are the open regions of a goroutine, the innermost last.
type nested struct {
	open    []noted
	skipped int // further ones inside these
}

// annotate takes what the program notes about itself.
func (a *Accumulator) annotate(d *reference.Decision) {
	if a.noted == nil {
		a.noted = &annotations{over: newRing[noted](ringNoted), regions: map[int64]*nested{}, tasks: map[int64]noted{}}
	}
	m := a.noted
	switch d.Kind {
	case reference.KindTaskBegin:
		if len(m.tasks) < maxNoted {
			m.tasks[d.By] = noted{g: d.G, from: a.now, name: d.Label, task: true}
		}
	case reference.KindTaskEnd:
		if x, ok := m.tasks[d.By]; ok {
			m.end(x, a.now)
			delete(m.tasks, d.By)
		}
	case reference.KindRegionBegin:
		m.enter(d, a.now)
	case reference.KindRegionEnd:
		m.leave(d, a.now)
	}
}

// enter begins a region of d's goroutine.
func (m *annotations) enter(d *reference.Decision, now int64) {
	in := m.regions[d.G]
	switch {
	case in == nil && len(m.regions) == maxNoted:
		return
	case in == nil:
		in = m.newNested()
		m.regions[d.G] = in
	case len(in.open) == maxNested:
		in.skipped++
		return
	}
	in.open = append(in.open, noted{g: d.G, from: now, name: d.Label, of: m.tasks[d.By].name, depth: uint8(len(in.open))})
}

// newNested returns one that is empty.
func (m *annotations) newNested() *nested {
	n := len(m.free)
	if n == 0 {
		return &nested{}
	}
	in := m.free[n-1]
	m.free = m.free[:n-1]
	return in
}

// leave ends the innermost region of d's goroutine of that type, and those inside it.
func (m *annotations) leave(d *reference.Decision, now int64) {
	in := m.regions[d.G]
	switch {
	case in == nil:
		return
	case in.skipped > 0:
		in.skipped--
		return
	}
	for i := len(in.open) - 1; i >= 0; i-- {
		if in.open[i].name == d.Label {
			m.endAll(d.G, in, i, now)
			return
		}
	}
}

// exited ends the regions of a goroutine that is over.
func (m *annotations) exited(g, now int64) {
	if len(m.regions) == 0 {
		return
	}
	if in := m.regions[g]; in != nil {
		m.endAll(g, in, 0, now)
	}
}

// endAll ends the open regions of g from number i on.
func (m *annotations) endAll(g int64, in *nested, i int, now int64) {
	for _, x := range slices.Backward(in.open[i:]) {
		m.end(x, now)
	}
	if in.open, in.skipped = in.open[:i], 0; i == 0 {
		delete(m.regions, g)
		m.free = append(m.free, in)
	}
}

func (m *annotations) end(x noted, now int64) {
	x.to = now
	*m.over.next() = x
}

// cut adds to w the tasks and regions in it, of more than most the longest, with handles for
// the numbers of names.
func (m *annotations) cut(w *Window, most int) {
	var all []noted
	add := func(x noted) {
		if x.from < w.ToNs && x.to > w.FromNs {
			x.from, x.to = max(x.from, w.FromNs), min(x.to, w.ToNs)
			all = append(all, x)
		}
	}
	first := m.over.first()
	for i := m.over.n - 1; i >= first; i-- {
		x := m.over.at(i)
		if x.to <= w.FromNs {
			break
		}
		add(*x)
	}
	for _, x := range m.tasks {
		x.to = math.MaxInt64
		add(x)
	}
	for _, in := range m.regions {
		for _, x := range in.open {
			x.to = math.MaxInt64
			add(x)
		}
	}
	if len(all) > most {
		slices.SortFunc(all, func(x, y noted) int { return cmp.Or(cmp.Compare(y.to-y.from, x.to-x.from), x.compare(y)) })
		w.MoreAnnotations = len(all) - most
		all = all[:most]
	}
	slices.SortFunc(all, noted.compare)
	for _, x := range all {
		w.Annotations = append(w.Annotations, Annotation{G: x.g, From: x.from, To: x.to, Name: x.name, Task: x.task, Of: x.of, Depth: x.depth})
	}
}

// compare orders by goroutine and time, so that the order of maps has no part in it.
func (x noted) compare(y noted) int {
	kind := func(x noted) int {
		if x.task {
			return 0
		}
		return 1 + int(x.depth)
	}
	return cmp.Or(cmp.Compare(x.g, y.g), cmp.Compare(x.from, y.from), cmp.Compare(kind(x), kind(y)), cmp.Compare(x.to, y.to), cmp.Compare(x.name, y.name), cmp.Compare(x.of, y.of))
}

// nameAnnotations gives windows the numbers of names for handles.
func (r *Result) nameAnnotations(name func(handle int32) string) {
	list, numbers := []string{"(others)"}, map[int32]int32{}
	number := func(handle int32) int32 {
		n, ok := numbers[handle]
		if !ok {
			if n = otherNames; len(list) < maxNames {
				n, list = int32(len(list)), append(list, name(handle))
			}
			numbers[handle] = n
		}
		return n
	}
	for i := range r.Windows {
		all := r.Windows[i].Annotations
		for j := range all {
			x := &all[j]
			x.Name = number(x.Name)
			if x.Of != 0 {
				x.Of = number(x.Of)
			}
		}
	}
	if len(list) > 1 {
		r.Annotations = list
	}
}

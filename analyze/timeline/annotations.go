package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ids"
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
	G     int64 `json:"g"`               // goroutine that began it
	From  int64 `json:"from"`            // ns
	To    int64 `json:"to"`              // ns
	Name  int32 `json:"name"`            // its type: index in annotations
	Task  bool  `json:"task,omitempty"`  // a task; absent for regions
	Of    int32 `json:"of,omitempty"`    // type of the task that a region is for: index in annotations; absent if none or unknown
	Depth uint8 `json:"depth,omitempty"` // number of regions around it; absent if none
}

// annotations follows tasks and regions, from one pass over the decisions that annotate. Their names
// are handles.
type annotations struct {
	over    ring[Annotation]    // in the order of their ends
	regions ids.Table[nested]   // by goroutine
	tasks   ids.Table[openTask] // by task
	inside  int                 // goroutines in regions
	begun   int                 // tasks that are open
}

// openTask is a task, if it is open.
type openTask struct {
	Annotation
	open bool
}

// nested are the open regions of a goroutine, the innermost last; none if it is in no region.
type nested struct {
	open    []Annotation
	skipped int // further ones inside these
}

func (a *Accumulator) annotate(d *reference.Decision) {
	if a.noted == nil {
		a.noted = &annotations{over: newRing[Annotation](ringNoted), regions: ids.NewTable[nested](), tasks: ids.NewTable[openTask]()}
	}
	m := a.noted
	switch d.Kind {
	case reference.KindTaskBegin:
		m.begin(d, a.now)
	case reference.KindTaskEnd:
		if at := m.tasks.Find(d.By); at > 0 {
			x := m.tasks.At(at)
			m.end(x.Annotation, a.now)
			x.open = false
			m.tasks.Remove(d.By, at)
			m.begun--
		}
	case reference.KindRegionBegin:
		m.enter(d, a.now)
	case reference.KindRegionEnd:
		m.leave(d, a.now)
	}
}

func (m *annotations) begin(d *reference.Decision, now int64) {
	if m.begun == maxNoted {
		return
	}
	at := m.tasks.Find(d.By)
	if at == 0 {
		at = m.tasks.Add(d.By)
		m.begun++
	}
	*m.tasks.At(at) = openTask{Annotation{G: d.G, From: now, Name: d.Label, Task: true}, true}
}

// enter begins a region of d's goroutine.
func (m *annotations) enter(d *reference.Decision, now int64) {
	at := m.regions.Find(d.G)
	if at == 0 {
		if m.inside == maxNoted {
			return
		}
		at = m.regions.Add(d.G)
		m.inside++
	}
	in := m.regions.At(at)
	if len(in.open) == maxNested {
		in.skipped++
		return
	}
	x := Annotation{G: d.G, From: now, Name: d.Label, Depth: uint8(len(in.open))}
	if of := m.tasks.Find(d.By); of > 0 {
		x.Of = m.tasks.At(of).Name
	}
	in.open = append(in.open, x)
}

// leave ends the innermost region of d's goroutine of that type, and those inside it.
func (m *annotations) leave(d *reference.Decision, now int64) {
	at := m.regions.Find(d.G)
	if at == 0 {
		return
	}
	in := m.regions.At(at)
	if in.skipped > 0 {
		in.skipped--
		return
	}
	for i := len(in.open) - 1; i >= 0; i-- {
		if in.open[i].Name == d.Label {
			m.endAll(d.G, at, i, now)
			return
		}
	}
}

// exited ends the regions of a goroutine that is over.
func (m *annotations) exited(g, now int64) {
	if m.inside == 0 {
		return
	}
	if at := m.regions.Find(g); at > 0 {
		m.endAll(g, at, 0, now)
	}
}

// endAll ends the open regions of g, which is at a place, from number i on.
func (m *annotations) endAll(g int64, at int32, i int, now int64) {
	in := m.regions.At(at)
	for _, x := range slices.Backward(in.open[i:]) {
		m.end(x, now)
	}
	if in.open, in.skipped = in.open[:i], 0; i == 0 {
		m.regions.Remove(g, at)
		m.inside--
	}
}

func (m *annotations) end(x Annotation, now int64) {
	x.To = now
	*m.over.next() = x
}

// cut adds to w the tasks and regions in it, of more than most the longest.
func (m *annotations) cut(w *Window, most int) {
	var all []Annotation
	add := func(x Annotation) {
		if x.From < w.ToNs && x.To > w.FromNs {
			x.From, x.To = max(x.From, w.FromNs), min(x.To, w.ToNs)
			all = append(all, x)
		}
	}
	first := m.over.first()
	for i := m.over.n - 1; i >= first; i-- {
		x := m.over.at(i)
		if x.To <= w.FromNs {
			break
		}
		add(*x)
	}
	for at := range m.tasks.Len() {
		if x := *m.tasks.At(at); x.open {
			x.To = math.MaxInt64
			add(x.Annotation)
		}
	}
	for at := range m.regions.Len() {
		for _, x := range m.regions.At(at).open {
			x.To = math.MaxInt64
			add(x)
		}
	}
	if len(all) > most {
		slices.SortFunc(all, func(x, y Annotation) int { return cmp.Or(cmp.Compare(y.To-y.From, x.To-x.From), x.compare(y)) })
		w.MoreAnnotations = len(all) - most
		all = all[:most]
	}
	slices.SortFunc(all, Annotation.compare)
	w.Annotations = all
}

// compare orders by goroutine and time, so that the order of maps has no part in it.
func (x Annotation) compare(y Annotation) int {
	kind := func(x Annotation) int {
		if x.Task {
			return 0
		}
		return 1 + int(x.Depth)
	}
	return cmp.Or(cmp.Compare(x.G, y.G), cmp.Compare(x.From, y.From), cmp.Compare(kind(x), kind(y)),
		cmp.Compare(x.To, y.To), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Of, y.Of))
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

package stacks

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// Result is how long goroutines waited, and were blocked, by the stacks at which they had
// stopped.
type Result struct {
	Frames []Frame `json:"frames"` // at most 4096; a stack ends before a frame that is not among them
	Rows   []Row   `json:"rows"`   // all waiting, by class and stack, most first; sums to the waiting of the classes exactly
	// Woken are stacks that made goroutines of each class runnable, by the waiting that
	// followed: at most 3 a class, and 100 in all; go statements are in Rows.
	Woken []Woken `json:"woken"`
}

// Frame is a place in the program.
type Frame struct {
	Function string `json:"function"` // full name
	File     string `json:"file"`     // path of the source file
	Line     int64  `json:"line"`     // in that file
}

// Row is the waiting for a P of the goroutines of one class at one stack.
type Row struct {
	Class     int32             `json:"class"`      // ID of the class: that of a waits.Class
	Place     Place             `json:"place"`      // whose stack it is
	Stack     []int32           `json:"stack"`      // indices in frames, innermost first; empty if there is none
	Waits     int64             `json:"waits"`      // number of waits that ended
	WaitNs    int64             `json:"ns"`         // sum of these waits
	Causes    []waits.CauseTime `json:"causes"`     // the parts of that sum by cause; those of 0 are left out
	BlockedNs int64             `json:"blocked_ns"` // time that goroutines of the class were blocked there, to the end of the trace at most
}

// Woken are waits for a P of the goroutines of one class that other goroutines made runnable at one
// stack.
type Woken struct {
	Class  int32   `json:"class"` // ID of the class that waited: that of a waits.Class
	Stack  []int32 `json:"stack"` // where it was made runnable: indices in frames, innermost first
	Waits  int64   `json:"waits"` // number of waits that ended
	WaitNs int64   `json:"ns"`    // sum of these waits
}

// Bounds of a result.
const (
	mostWaiting = 300 // stacks for their waiting
	mostBlocked = 100 // further ones for their blocked time
	mostRows    = 480 // with those of classes that would have none
	coverage    = 99  // per cent of the time that they need not exceed

	wokenPerClass = 3
	mostWoken     = 100

	mostFrames = 4096
)

// Resolver resolves the handles of stacks and classes that decisions have.
type Resolver struct {
	// Frames returns a stack, innermost frame first.
	Frames func(stack int32) []Frame
	// Class returns the ID of a class in the result of package waits; [waits.ClassOthers] for
	// classes that share an account there.
	Class func(handle int32) int32
}

// Finish ends the account at a time, in ns, and returns the result. open is
// [ledger.Ledger.Live]. The Accumulator must not be used afterwards.
func (a *Accumulator) Finish(end int64, open []ledger.Live, r Resolver) Result {
	for _, o := range open {
		if o.Blocked {
			a.bookBlocked(&ledger.Blocked{From: o.Since, To: end, G: o.G, Class: o.Class, Stack: o.Stack})
		}
	}
	t := NewFrames(r.Frames)
	rows := a.rows(r.Class)
	out := Result{Rows: []Row{}, Woken: a.mostOf(r.Class, t)}
	shown := chosen(rows)
	rest := map[int32]*sums{}
	for _, s := range rows {
		if shown[s.key] {
			out.Rows = append(out.Rows, s.row(t))
			continue
		}
		to := rest[s.class]
		if to == nil {
			to = &sums{key: key{class: s.class, place: others}}
			rest[s.class] = to
		}
		to.add(&s.account)
	}
	for _, s := range rest {
		out.Rows = append(out.Rows, s.row(t))
	}
	slices.SortFunc(out.Rows, compareRows)
	out.Frames = t.List
	return out
}

// compareRows orders rows by their waiting, then by what they are.
func compareRows(x, y Row) int {
	return cmp.Or(cmp.Compare(y.WaitNs, x.WaitNs), cmp.Compare(y.BlockedNs, x.BlockedNs), cmp.Compare(x.Class, y.Class),
		cmp.Compare(x.Place, y.Place), slices.Compare(x.Stack, y.Stack))
}

// sums is the account of a key.
type sums struct {
	key
	account
	ns int64
}

func (s *sums) add(o *account) {
	s.waits += o.waits
	s.blockedNs += o.blockedNs
	for i, ns := range o.causes {
		s.causes[i] += ns
		s.ns += ns
	}
}

func (s *sums) row(t *Frames) Row {
	r := Row{Class: s.class, Place: places[s.place], Stack: t.Stack(s.stack), Waits: s.waits, WaitNs: s.ns, BlockedNs: s.blockedNs, Causes: []waits.CauseTime{}}
	for i, c := range waits.Causes() {
		if s.causes[i] != 0 {
			r.Causes = append(r.Causes, waits.CauseTime{Cause: c, Ns: s.causes[i]})
		}
	}
	return r
}

// rows are the accounts, by the ids of the classes, in a fixed order.
func (a *Accumulator) rows(class func(int32) int32) []*sums {
	var out []*sums
	of := map[key]*sums{}
	for i, k := range a.waiting.keys {
		if k.class != noClass {
			k.class = class(k.class)
		}
		s := of[k]
		if s == nil {
			s = &sums{key: k}
			of[k] = s
			out = append(out, s)
		}
		s.add(&a.waiting.accounts[i])
	}
	return out
}

// chosen are the keys whose accounts have rows of their own: those of the most waiting
// and the most blocked time, and the first of each class.
func chosen(rows []*sums) map[key]bool {
	shown := map[key]bool{}
	most(rows, mostWaiting, shown, func(s *sums) int64 { return s.ns })
	most(rows, mostBlocked, shown, func(s *sums) int64 { return s.blockedNs })
	sortBy(rows, func(s *sums) int64 { return s.ns })
	has := map[int32]bool{}
	for k := range shown {
		has[k.class] = true
	}
	for _, s := range rows {
		if len(shown) < mostRows && s.ns > 0 && s.place != others && !has[s.class] {
			shown[s.key], has[s.class] = true, true
		}
	}
	return shown
}

// most chooses at most n rows that cover enough of a time.
func most(rows []*sums, n int, shown map[key]bool, time func(*sums) int64) {
	sortBy(rows, time)
	var all, covered int64
	for _, s := range rows {
		all += time(s)
	}
	for _, s := range rows {
		if n == 0 || time(s) == 0 || covered/coverage*100 >= all {
			return
		}
		covered += time(s)
		if s.place != others && !shown[s.key] {
			shown[s.key] = true
			n--
		}
	}
}

// sortBy puts the rows with the most of a time first. Those with as much stay in their order.
func sortBy(rows []*sums, time func(*sums) int64) {
	type entry struct { // OPT: so that comparing looks at no row
		time int64
		at   int
	}
	entries := make([]entry, len(rows))
	for i, s := range rows {
		entries[i] = entry{time(s), i}
	}
	slices.SortFunc(entries, func(x, y entry) int {
		return cmp.Or(cmp.Compare(y.time, x.time), x.at-y.at)
	})
	before := slices.Clone(rows)
	for i, e := range entries {
		rows[i] = before[e.at]
	}
}

// mostOf returns the stacks that made most of each class runnable.
func (a *Accumulator) mostOf(class func(int32) int32, t *Frames) []Woken {
	type wakers struct {
		key
		wakeUps
		at int
	}
	var list []wakers
	for i, k := range a.woken.keys {
		if k.stack != 0 && class(k.class) != waits.ClassOthers {
			list = append(list, wakers{k, a.woken.accounts[i], i})
		}
	}
	slices.SortFunc(list, func(x, y wakers) int { return cmp.Or(cmp.Compare(y.ns, x.ns), x.at-y.at) })
	out, has := []Woken{}, map[int32]int{}
	for _, w := range list {
		if len(out) == mostWoken {
			break
		}
		if id := class(w.class); has[id] < wokenPerClass {
			has[id]++
			out = append(out, Woken{Class: id, Stack: t.Stack(w.stack), Waits: w.waits, WaitNs: w.ns})
		}
	}
	return out
}

// Frames is the set of the distinct frames of some stacks, at most 4096 of them.
type Frames struct {
	List    []Frame // the distinct frames; stacks refer to them by index
	resolve func(stack int32) []Frame
	index   map[Frame]int32
	stacks  map[int32][]int32
}

// NewFrames returns an empty set of frames, each of which is kept once however many stacks
// have it. resolve returns the stack with a handle, innermost frame first.
func NewFrames(resolve func(stack int32) []Frame) *Frames {
	return &Frames{List: []Frame{}, resolve: resolve, index: map[Frame]int32{}, stacks: map[int32][]int32{}}
}

// Stack returns the frames of a stack by their indices in the list. It ends before a frame
// for which there is no room.
func (f *Frames) Stack(handle int32) []int32 {
	if s, ok := f.stacks[handle]; ok {
		return s
	}
	out := []int32{}
	if handle != 0 {
		for _, frame := range f.resolve(handle) {
			i, ok := f.index[frame]
			if !ok && len(f.List) == mostFrames {
				break
			}
			if !ok {
				i = int32(len(f.List))
				f.List, f.index[frame] = append(f.List, frame), i
			}
			out = append(out, i)
		}
	}
	f.stacks[handle] = out
	return out
}

// Of returns the frames of a stack, innermost first. stack has their indices in r.Frames, as the
// Stack of a [Row] or [Woken] of r.
func (r *Result) Of(stack []int32) []Frame {
	out := make([]Frame, len(stack))
	for i, f := range stack {
		out[i] = r.Frames[f]
	}
	return out
}

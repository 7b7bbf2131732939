package findings

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// MaxKept is the number of values that detectors keep in a [Table], where they have no other limit:
// it bounds memory, and keys that come later are left out.
const MaxKept = 1024

// Table keeps a value for each of a limited number of keys. [NewTable] makes one.
type Table[K comparable, V any] struct {
	List  []*V // the values, in the order in which their keys came
	at    map[K]*V
	limit int
	begin func(K) V
}

// NewTable returns a Table of at most limit values, so that memory is bounded. begin makes the value
// of a new key.
func NewTable[K comparable, V any](limit int, begin func(K) V) Table[K, V] {
	return Table[K, V]{at: map[K]*V{}, limit: limit, begin: begin}
}

// At returns the value of a key, and makes it if the key is new; nil if the key is new and the Table
// is full. The value may be changed.
func (t *Table[K, V]) At(key K) *V {
	v := t.at[key]
	if v == nil && len(t.List) < t.limit {
		v = new(t.begin(key))
		t.at[key] = v
		t.List = append(t.List, v)
	}
	return v
}

// Find returns the value of a key; nil if the Table has none.
func (t *Table[K, V]) Find(key K) *V { return t.at[key] }

// A CachedTable is a [Table] in which the same few keys are looked up again and again.
type CachedTable[K comparable, V any] struct {
	Table[K, V]
	recent [64]struct {
		key   K
		value *V // nil: none yet
	}
}

// AtHash is [Table.At] for a key with a hash, whose low bits select where it is remembered.
func (t *CachedTable[K, V]) AtHash(key K, hash uint32) *V {
	r := &t.recent[hash%uint32(len(t.recent))]
	if r.value == nil || r.key != key {
		v := t.At(key)
		if v == nil {
			return nil
		}
		r.key, r.value = key, v
	}
	return r.value
}

// CountIn counts one more of a key in at, unless the key is new and there are limit keys already.
func CountIn[K comparable](at map[K]int64, key K, limit int) {
	if _, known := at[key]; known || len(at) < limit {
		at[key]++
	}
}

// Entry returns entry i of a list, for what is kept by P, say. Entries up to there that the list lacks
// are appended as copies of empty.
func Entry[T any](list *[]T, i int32, empty T) *T {
	for int(i) >= len(*list) {
		*list = append(*list, empty)
	}
	return &(*list)[i]
}

// Few keeps a value for each of a few keys, in the order in which these came. It takes less memory
// than a map. The zero value is empty.
type Few[K comparable, V any] struct {
	Keys   []K
	Values []V // Values[i] belongs to Keys[i]
}

// Find returns the index of a key in Keys and Values. A new key is appended, with a zero value; if
// there are limit keys already, Find returns -1 for it.
func (f *Few[K, V]) Find(key K, limit int) int {
	i := slices.Index(f.Keys, key)
	if i < 0 && len(f.Keys) < limit {
		i = len(f.Keys)
		f.Keys, f.Values = append(f.Keys, key), append(f.Values, *new(V))
	}
	return i
}

// Pending keeps a T for each live goroutine for which one was made, such as what it did last, until
// the goroutine ends. The zero value is empty.
type Pending[T any] struct{ of ids.Parts[kept[T]] }

// kept is what is kept of a goroutine. Another one may get its slot.
type kept[T any] struct {
	g     int64
	value T
}

// Find returns the value kept for g; nil if there is none.
func (p *Pending[T]) Find(g *Goroutine) *T { return p.FindSlot(g.slot, g.ID) }

// FindSlot is [Pending.Find] for the goroutine with ID g that has, or had, a [View.Slot].
func (p *Pending[T]) FindSlot(slot int32, g int64) *T {
	if x := p.of.Find(slot); x != nil && x.g == g {
		return &x.value
	}
	return nil
}

// Make returns the value kept for g; if there was none, it keeps and returns a zero value.
func (p *Pending[T]) Make(g *Goroutine) *T {
	x := p.of.Make(g.slot)
	if x.g != g.ID {
		*x = kept[T]{g: g.ID}
	}
	return &x.value
}

// Recent keeps a T for at most 1,024 goroutines, in a table in which a new one may replace another. It
// serves where few goroutines are of interest at a time, and it does not matter if one is missed. The
// zero value is empty.
type Recent[T any] struct{ of [1024]kept[T] }

// Find returns the value kept for the goroutine with ID g; nil if there is none.
func (r *Recent[T]) Find(g int64) *T {
	if x := &r.of[uint64(g)%uint64(len(r.of))]; x.g == g {
		return &x.value
	}
	return nil
}

// Make returns the value kept for the goroutine with ID g; if there was none, it keeps and returns a
// zero value.
func (r *Recent[T]) Make(g int64) *T {
	x := &r.of[uint64(g)%uint64(len(r.of))]
	if x.g != g {
		*x = kept[T]{g: g}
	}
	return &x.value
}

// Majority finds which value has more than half of all votes, if any has, in constant memory (Boyer
// and Moore). The zero value has counted none.
type Majority[T comparable] struct {
	For   T     // the value with the majority; any value if none has it
	Votes int64 // lower bound of the votes for For, if that has the majority
}

// Add counts n votes for x.
func (m *Majority[T]) Add(x T, n int64) {
	switch {
	case m.For == x:
		m.Votes += n
	case m.Votes >= n:
		m.Votes -= n
	default:
		m.For, m.Votes = x, n-m.Votes
	}
}

// Reasons sum up times, in ns, by what goroutines were blocked for. The index is a reference.Reason.
type Reasons[N int64 | float64] [masks]N

// Add adds ns nanoseconds to the time of a reason.
func (r *Reasons[N]) Add(reason reference.Reason, ns N) { r[reason%masks] += ns }

// Merge adds the times in x.
func (r *Reasons[N]) Merge(x *Reasons[N]) {
	for i, ns := range x {
		r[i] += ns
	}
}

// Most returns the reason with the longest time, and that time in ns; zero values if all are 0.
func (r *Reasons[N]) Most() (reason reference.Reason, ns N) {
	for i, n := range r {
		if n > ns {
			reason, ns = reference.Reason(i), n
		}
	}
	return reason, ns
}

// Windows divides the trace into windows of equal length, in each of which a detector sums up what
// happens in a T. The windows that are remarkable add up to Total. [NewWindows] makes one.
type Windows[T any] struct {
	Total          T     // sum of the windows that count
	N              int64 // number of windows that count
	Worst, WorstAt int64 // largest weight of such a window, and the time at which that began, ns
	now            T
	ns, from       int64
	weigh          func(now *T) (weight int64, counts bool)
	add            func(total, now *T)
}

// NewWindows returns Windows of ns nanoseconds each. weigh is called with a window that is over, and
// returns its weight, in any unit, and whether it counts; add then adds it to total.
func NewWindows[T any](ns int64, weigh func(now *T) (weight int64, counts bool), add func(total, now *T)) Windows[T] {
	return Windows[T]{ns: ns, weigh: weigh, add: add}
}

// Now returns the sums of the present window, for the caller to update.
func (w *Windows[T]) Now() *T { return &w.now }

// At returns the sums of the window in which the time now lies, in ns, for the caller to update. If
// the present window ended before that, it is closed first. Times must not decrease.
func (w *Windows[T]) At(now int64) *T {
	if now >= w.from+w.ns {
		w.Close(now)
	}
	return &w.now
}

// Close ends the present window, and begins the one in which the time now lies, in ns.
func (w *Windows[T]) Close(now int64) {
	if weight, counts := w.weigh(&w.now); counts {
		w.add(&w.Total, &w.now)
		w.N++
		if weight > w.Worst {
			w.Worst, w.WorstAt = weight, w.from
		}
	}
	w.now, w.from = *new(T), now-now%w.ns
}

package findings

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ids"
	"github.com/gmpscope/gmpscope/reference"
)

// Table keeps a value for each key, in the order in which they came.
type Table[K comparable, V any] struct {
	List  []*V
	at    map[K]*V
	limit int
	begin func(K) V
}

// NewTable returns a Table of at most limit values, to bound memory. begin makes the value of a new key.
func NewTable[K comparable, V any](limit int, begin func(K) V) Table[K, V] {
	return Table[K, V]{at: map[K]*V{}, limit: limit, begin: begin}
}

// At returns the value of a key; nil if the key came when there were too many.
func (t *Table[K, V]) At(key K) *V {
	v := t.at[key]
	if v == nil && len(t.List) < t.limit {
		v = new(t.begin(key))
		t.at[key] = v
		t.List = append(t.List, v)
	}
	return v
}

// Find returns the value of a key; nil if there is none.
func (t *Table[K, V]) Find(key K) *V { return t.at[key] }

// Few keeps a value for each of a few keys, in the order in which they came. The zero value is empty.
type Few[K comparable, V any] struct {
	Keys   []K
	Values []V
}

// Find returns the place of a key in Keys and Values, a zero value if it is new; -1 if there are limit already.
func (f *Few[K, V]) Find(key K, limit int) int {
	i := slices.Index(f.Keys, key)
	if i < 0 && len(f.Keys) < limit {
		i = len(f.Keys)
		f.Keys, f.Values = append(f.Keys, key), append(f.Values, *new(V))
	}
	return i
}

// Pending keeps what a goroutine did last, until it does what follows. The zero value is empty.
type Pending[T any] struct{ of ids.Parts[kept[T]] }

// kept is what is kept of a goroutine. Another one may get its slot.
type kept[T any] struct {
	g     int64
	value T
}

// Find returns what is kept of g; nil if nothing is.
func (p *Pending[T]) Find(g *Goroutine) *T {
	if x := p.of.Find(g.slot); x != nil && x.g == g.ID {
		return &x.value
	}
	return nil
}

// Make returns what is kept of g; a zero value if nothing was.
func (p *Pending[T]) Make(g *Goroutine) *T {
	x := p.of.Make(g.slot)
	if x.g != g.ID {
		*x = kept[T]{g: g.ID}
	}
	return &x.value
}

// Recent keeps something for each of the goroutines that were asked for last. One overwrites another, so that
// it is of use where few are looked at, and it does not matter if one is missed. The zero value is empty.
type Recent[T any] struct{ of [1024]kept[T] }

// Find returns what is kept of a goroutine; nil if nothing is.
func (r *Recent[T]) Find(g int64) *T {
	if x := &r.of[uint64(g)%uint64(len(r.of))]; x.g == g {
		return &x.value
	}
	return nil
}

// Make returns what is kept of a goroutine; a zero value if nothing was.
func (r *Recent[T]) Make(g int64) *T {
	x := &r.of[uint64(g)%uint64(len(r.of))]
	if x.g != g {
		*x = kept[T]{g: g}
	}
	return &x.value
}

// Majority finds who has more than half of all votes, if anybody has (Boyer and Moore). The zero value has none.
type Majority[T comparable] struct {
	For   T
	Votes int64 // more than the others have; at least as many as that, if it has the majority
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

// Reasons are times, in ns, by what goroutines were blocked for.
type Reasons[N int64 | float64] [masks]N

// Add adds to the time of a reason.
func (r *Reasons[N]) Add(reason reference.Reason, ns N) { r[reason%masks] += ns }

// Merge adds the times of another.
func (r *Reasons[N]) Merge(x *Reasons[N]) {
	for i, ns := range x {
		r[i] += ns
	}
}

// Most returns the reason with the longest time.
func (r *Reasons[N]) Most() (reason reference.Reason, ns N) {
	for i, n := range r {
		if n > ns {
			reason, ns = reference.Reason(i), n
		}
	}
	return reason, ns
}

// Windows sums up what happens in a T for each window of so many ns, and adds those that count to a total.
type Windows[T any] struct {
	Total          T
	N              int64 // windows that count
	Worst, WorstAt int64 // the largest weight of one, and when that window began
	now            T
	ns, from       int64
	weigh          func(now *T) (weight int64, counts bool)
	add            func(total, now *T)
}

// NewWindows returns Windows of ns each. weigh judges one that is over, and add adds it to the total.
func NewWindows[T any](ns int64, weigh func(now *T) (weight int64, counts bool), add func(total, now *T)) Windows[T] {
	return Windows[T]{ns: ns, weigh: weigh, add: add}
}

// Now returns the present window.
func (w *Windows[T]) Now() *T { return &w.now }

// At returns the window of a time, which is no earlier than the last one.
func (w *Windows[T]) At(now int64) *T {
	if now >= w.from+w.ns {
		w.Close(now)
	}
	return &w.now
}

// Close ends the present window, and begins that of a time.
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

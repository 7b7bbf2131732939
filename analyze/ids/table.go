package ids

// Table keeps a T for each id that was added, at a place: a number from 1 on. The
// place of an id that was removed goes to the next one that is added; so memory
// follows the most ids that were in it at one time. The zero value is not ready:
// use [NewTable].
type Table[T any] struct {
	all   Parts[T]
	len   int32
	free  []int32
	index Index // place less 1
}

// NewTable returns an empty Table.
func NewTable[T any]() Table[T] {
	t := Table[T]{len: 1, index: New()}
	t.all.Make(0)
	return t
}

// Find returns the place of id, or 0.
func (t *Table[T]) Find(id int64) int32 { return t.index.Find(id) + 1 }

// Add returns the place of an id that is not in the table yet. What is there is
// zero, or of one that was removed.
func (t *Table[T]) Add(id int64) int32 {
	place := t.len
	if n := len(t.free); n > 0 {
		place, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.all.Make(place)
		t.len++
	}
	t.index.Add(id, place-1)
	return place
}

// At returns what is at a place; at 0, of nobody. The pointer stays good.
func (t *Table[T]) At(place int32) *T { return t.all.At(place) }

// Remove removes an id that is at place. What is there stays until the place is
// given away again.
func (t *Table[T]) Remove(id int64, place int32) {
	t.index.Remove(id)
	t.free = append(t.free, place)
}

// Len is one more than the highest place that was ever given.
func (t *Table[T]) Len() int32 { return t.len }

// CopyFrom makes what is at each place of t equal to what is there in u. It does
// not copy the ids: until the next copy, nothing may be found, added or removed.
func (t *Table[T]) CopyFrom(u *Table[T]) {
	t.len = u.len
	t.all.copyFrom(&u.all)
}

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

// Find returns the place of id, or 0 if it is not in the table.
func (t *Table[T]) Find(id int64) int32 { return t.index.Find(id) + 1 }

// Add adds an id that is not in the table, and returns its place. The element there is
// zero, or that of an id that was removed.
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

// At returns the element at a place; place 0 belongs to no id. The pointer stays valid.
func (t *Table[T]) At(place int32) *T { return t.all.At(place) }

// Remove removes an id at a place. The element stays until the place is reused.
func (t *Table[T]) Remove(id int64, place int32) {
	t.index.Remove(id)
	t.free = append(t.free, place)
}

// Len returns one more than the highest place ever used.
func (t *Table[T]) Len() int32 { return t.len }

// CopyFrom copies the elements of u to the same places of t. It does not copy the ids:
// until the next copy, Find, Add and Remove must not be called.
func (t *Table[T]) CopyFrom(u *Table[T]) {
	t.len = u.len
	t.all.copyFrom(&u.all)
}

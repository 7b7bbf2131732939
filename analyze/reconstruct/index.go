package reconstruct

// index numbers things by their ids. The ids of what lives at the same time
// mostly differ in their low bits, so a table by these serves nearly always; a
// map holds the rest.
type index struct {
	table []numbered
	rest  map[int64]int32
	n     int
}

type numbered struct {
	id int64
	ix int32 // plus 1; 0 is a free place
}

func newIndex() index {
	return index{table: make([]numbered, 64), rest: map[int64]int32{}}
}

func (x *index) place(id int64) *numbered { return &x.table[id&int64(len(x.table)-1)] }

func (x *index) find(id int64) (ix int32, ok bool) {
	at := x.place(id)
	if at.id == id && at.ix > 0 {
		return at.ix - 1, true
	}
	if len(x.rest) == 0 {
		return 0, false
	}
	ix, ok = x.rest[id]
	return ix, ok
}

// add adds an id that is not there yet.
func (x *index) add(id int64, ix int32) {
	if x.n++; 2*x.n > len(x.table) {
		x.grow()
	}
	x.put(id, ix)
}

func (x *index) put(id int64, ix int32) {
	if at := x.place(id); at.ix == 0 {
		*at = numbered{id, ix + 1}
		return
	}
	x.rest[id] = ix
}

func (x *index) grow() {
	old := x.table
	x.table = make([]numbered, 2*len(old))
	for _, o := range old {
		if o.ix > 0 {
			x.put(o.id, o.ix-1)
		}
	}
	for id, ix := range x.rest {
		if at := x.place(id); at.ix == 0 {
			delete(x.rest, id)
			*at = numbered{id, ix + 1}
		}
	}
}

func (x *index) remove(id int64) {
	x.n--
	if at := x.place(id); at.id == id && at.ix > 0 {
		at.ix = 0
		return
	}
	delete(x.rest, id)
}

package work

// marker is what a loop does once in each unit, on a line of its own function. It tells units apart
// that follow each other without a wait between them.
type marker struct {
	line   int32 // node of the class's tree, at or above that of events; 0 is none
	what   what
	family family
	wakes  bool
}

// maxMarks is how many markers of a unit count. Further ones belong to the last unit.
const maxMarks = 64

// markerOf returns what a moment away from home may be a marker of. Its line is 0 if it is none:
// it has to be on another line of the function that has the line of home.
func (h *home) markerOf(t *tree, m *moment) marker {
	if m.what != acted && (m.what != blocked || !m.family.shown()) {
		return marker{}
	}
	n, top := m.node, &t.nodes[h.top]
	for t.nodes[n].depth > top.depth {
		n = t.nodes[n].parent
	}
	if x := &t.nodes[n]; n == h.top || x.depth != top.depth || x.parent != top.parent || x.function != top.function {
		return marker{}
	}
	return marker{n, m.what, m.family, m.wakes}
}

// tally is how often something was seen that may be a marker.
type tally struct {
	marker
	units, once   int64 // that have it; that have it once
	before, after int64 // ns in the latter, before and after it
}

// sight is one of them in a unit.
type sight struct {
	tally int // index
	n, at int64
}

// tallies are of all that may be markers of a class.
type tallies struct {
	list  []tally
	index map[marker]int
	units int64
}

// end ends a unit.
func (t *tallies) end(seen []sight, from, to int64) {
	t.units++
	for _, s := range seen {
		x := &t.list[s.tally]
		if x.units++; s.n == 1 {
			x.once++
			x.before += s.at - from
			x.after += to - s.at
		}
	}
}

// see returns the sights of a unit with one more.
func (t *tallies) see(seen []sight, m marker, at int64) []sight {
	i, ok := t.index[m]
	if !ok {
		i = len(t.list)
		t.list, t.index[m] = append(t.list, tally{marker: m}), i
	}
	for j := range seen {
		if seen[j].tally == i {
			seen[j].n++
			return seen
		}
	}
	return append(seen, sight{i, 1, at})
}

// mark finds out what marks the units of a class at home h, by its log: nine in ten have it, and
// most once.
func (h *home) mark(c *class) {
	type unit struct {
		from int64
		seen []sight
	}
	t, under := tallies{index: map[marker]int{}}, map[int32]*unit{}
	for i := range c.log {
		m := &c.log[i]
		u := under[m.life]
		switch home := h.at(&c.tree, m); {
		case m.what == exited || m.what == lost:
			delete(under, m.life)
		case m.what == blocked && home:
			if u != nil {
				t.end(u.seen, u.from, m.from.at)
			}
			under[m.life] = &unit{from: m.to.at}
		case !home && u != nil:
			if x := h.markerOf(&c.tree, m); x.line != 0 {
				u.seen = t.see(u.seen, x, m.to.at)
			}
		}
	}
	for i := range t.list {
		if x := &t.list[i]; 10*x.units >= 9*t.units && 2*x.once > t.units {
			h.marker, h.cutAfter = x.marker, x.after <= x.before
			return
		}
	}
}

// noteMarker notes that the unit which a goroutine does has a marker, at a moment.
func (a *Accumulator) noteMarker(m *moment, h *home) {
	at := m.from
	if h.cutAfter {
		at = m.to
	}
	if xs := a.marks[m.life]; len(xs) < maxMarks {
		a.marks[m.life] = append(xs, at)
	}
}

// emitMarked counts the units that a goroutine, number at of the lives, has done in a row up to a
// mark: one for each marker.
func (a *Accumulator) emitMarked(c *class, l *life, at int32, to mark) {
	cuts := a.marks[at]
	if len(cuts) > 0 && c.home.cutAfter {
		cuts = cuts[:len(cuts)-1]
	} else if len(cuts) > 0 {
		cuts = cuts[1:]
	}
	for _, cut := range cuts {
		a.emit(l, Cycle, &l.unit, cut, l.handler)
		l.unit.cut, l.unit.from = false, cut
	}
	a.emit(l, Cycle, &l.unit, to, l.handler)
}

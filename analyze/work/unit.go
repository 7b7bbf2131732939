package work

// Unit is a unit of work that was found whole.
type Unit struct {
	Class    string // start function of its goroutine
	Kind     string // handler or test, or what is annotated; the class if no stack shows one
	How      How
	G        int64
	From, To int64 // ns
}

// emit hands on the unit of a goroutine that has ended at a mark. What the goroutine marked
// itself since is not inferred again.
func (a *Accumulator) emit(l *life, c *class, how How, from, to mark, handler int32) {
	if to.at <= from.at || l.marked > 0 && l.marked >= from.at && l.marked <= to.at {
		return
	}
	c.units++
	a.found(l, c, how, a.kindName(c, handler), from, to)
}

// kindName returns the name of the units of a class that were seen in a function.
func (a *Accumulator) kindName(c *class, handler int32) string {
	if handler == 0 || a.places.functions[handler] == "" {
		handler = c.name
		if c.does != 0 {
			handler = c.does
		}
	}
	return a.places.functions[handler]
}

// found hands on a unit.
func (a *Accumulator) found(l *life, c *class, how How, kind string, from, to mark) {
	if a.opt.OnUnit != nil && to.at >= a.opt.From && (a.opt.To == 0 || to.at < a.opt.To) {
		a.opt.OnUnit(Unit{Class: a.places.functions[c.name], Kind: kind, How: how, G: l.id, From: from.at, To: to.at})
	}
}

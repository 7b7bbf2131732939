package work

// For separates, in UnitKind.Name, the function of the units from the class that asks for them, where
// the same function serves several classes and has a kind for each.
const For = " for "

// Unit is one unit of work that the trace shows from its beginning to its end.
type Unit struct {
	Class    string // start function of its goroutine
	Kind     string // handler, test function or annotation; else the class
	How      How    // how it was found
	G        int64  // ID of its goroutine
	From, To int64  // it is [From, To), ns since the first event of the trace
}

// emit counts the unit that a goroutine has done up to a mark. What the goroutine marked
// itself meanwhile is not inferred again.
func (a *Accumulator) emit(l *life, how How, u *open, to mark, handler int32) {
	if to.at <= u.from.at || l.marked > 0 && l.marked >= u.from.at && l.marked <= to.at {
		return
	}
	key := a.kindOf(l.class, how, handler)
	if a.classOf(l).home.split {
		key.by = u.by
	}
	k := a.sumOf(key)
	switch {
	case u.cut:
		a.cut(k, l.id, l.handle, u.from.at, to.at)
		return
	case u.source.outside() || u.waker != 0 && a.apart(u):
		k.entries++
	case u.wakerUnit >= 0:
		k.parts++
	}
	a.classes[l.class].busy += to.at - u.from.at
	a.found(k, l.id, l.handle, u.from, to)
}

// apart reports whether the goroutine that began a unit does none itself, or has ended the one in
// which it did.
func (a *Accumulator) apart(u *open) bool {
	switch c := a.classes[u.by]; {
	case u.wakerUnit == noUnit, c.how == none, c.how == Phase, c.how == Run, a.places.isMain(c.name):
		return true
	case u.wakerUnit == unitUnknown:
		return false
	}
	w := a.lives.At(u.waker)
	return !w.unit.is || w.unit.from.at != u.wakerUnit || w.visit.is
}

// kindOf returns the kind of units of a class that were seen in a function.
func (a *Accumulator) kindOf(class int32, how How, handler int32) kindKey {
	c := a.classes[class]
	if c.lent != 0 && how == Lifetime {
		if c.does == 0 { // some other goroutine may have shown it
			c.does = a.places.function(a.opt.Class(c.lent).Does)
		}
		if handler == 0 || handler == c.does {
			handler = c.name // for those that ended before, too
		}
		return kindKey{class: class, name: handler, how: how}
	}
	if handler == 0 {
		handler = c.runs()
	}
	if how == Lifetime || how == Test || how == Benchmark || how == Calibration { // whatever their start function runs
		class = a.byStart[c.name]
	}
	return kindKey{class: class, name: handler, how: how}
}

// found counts a unit of a goroutine, of a class (a handle), if it ended in the window. It
// returns where the unit is kept, nil if it is not.
func (a *Accumulator) found(k *kind, g int64, class int32, from, to mark) (kept *slow) {
	k.found = true
	if !a.opt.Has(g, class) {
		return nil
	}
	if k.inside += a.opt.Within(from.at, to.at); to.at <= a.opt.From || a.opt.To > 0 && to.at > a.opt.To {
		return nil
	}
	ns := to.at - from.at
	if !k.octaves {
		k.series.add(to.at-a.opt.From, ns)
	}
	keeps := k.keeps(ns)
	a.walk.subTests = a.subTests[g]
	path := a.walk.divide(k, k.add(ns), k.class, from.at, to, keeps)
	if keeps {
		kept = k.keep(g, from.at, to.at, path)
	}
	if a.opt.OnUnit != nil {
		a.opt.OnUnit(Unit{Class: a.places.functions[a.classes[k.class].name], Kind: a.nameOf(k, a.raw), How: k.how, G: g, From: from.at, To: to.at})
	}
	return kept
}

// cut counts a unit of a goroutine, of a class (a handle), that the trace does not have whole.
func (a *Accumulator) cut(k *kind, g int64, class int32, from, to int64) {
	if ns := a.opt.Within(from, to); ns > 0 && a.opt.Has(g, class) {
		k.open++
		k.inside += ns
	}
}

// nameOf returns the name of a kind.
func (a *Accumulator) nameOf(k *kind, n Names) string {
	switch k.how {
	case undecided:
		return "(other kinds)"
	case Task, Region:
		return n.Label(k.name)
	}
	name := n.Function(a.places.functions[k.name])
	if c := a.classes[k.class]; c.lent != 0 && k.name == c.name {
		name = a.actor(k.class, n)
	}
	if k.by != 0 {
		name += For + a.actor(k.by, n)
	}
	return name
}

// actor returns the name of what goroutines of a class run.
func (a *Accumulator) actor(class int32, n Names) string {
	c := a.classes[class]
	name := n.Function(a.places.functions[c.runs()])
	if c.lent != 0 && c.runs() == c.name {
		name = n.Class(c.lent)
	}
	return name
}

// leave counts the unit that a goroutine does at a time as one that the trace does not have
// whole.
func (a *Accumulator) leave(c *class, l *life, at int64) {
	whole := c.how == Lifetime || c.how == Test
	switch {
	case l.unit.is && !l.visit.is && l.unit.from.at < at:
		a.cut(a.sumOf(a.kindOf(l.class, c.how, l.handler)), l.id, l.handle, l.unit.from.at, at)
	case whole && !l.unit.is && l.seen < at:
		a.cut(a.sumOf(a.kindOf(l.class, c.how, l.handler)), l.id, l.handle, l.seen, at)
	}
}

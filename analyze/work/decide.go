package work

// classify finds the class of a life: by the handle of a decision's class, or by the root of a
// stack of its own.
func (a *Accumulator) classify(l *life, handle, root int32) {
	at := int32(0)
	if handle != 0 {
		at = a.byDecision(handle)
	}
	if at == 0 && root != 0 {
		at = a.class(classKey{name: root})
	}
	l.class = at
}

// byDecision returns the class with a handle in decisions; 0 if its start function is not
// known.
func (a *Accumulator) byDecision(handle int32) int32 {
	a.byHandle = grown(a.byHandle, int(handle)+1)
	if at := a.byHandle[handle]; at != 0 {
		return at - 1
	}
	c := a.opt.Class(handle)
	at := int32(0)
	switch {
	case c.Call != 0:
		at = a.class(classKey{name: a.places.function(c.Start), lent: handle})
		if at != 0 { // there is room for it
			a.classes[at].by, a.classes[at].call = a.places.function(c.Creator), c.Call
		}
	case c.Start != "":
		at = a.class(classKey{name: a.places.function(c.Start), does: a.places.function(c.Does)})
	}
	a.byHandle[handle] = at + 1
	return at
}

// class returns the number of a class.
func (a *Accumulator) class(k classKey) int32 {
	at, ok := a.byKey[k]
	if !ok && len(a.classes) < maxClasses {
		at = int32(len(a.classes))
		a.classes = append(a.classes, newClass(&a.places, k))
		a.byKey[k] = at
		if _, ok := a.byStart[k.name]; !ok {
			a.byStart[k.name] = at
		}
	}
	return at
}

func (a *Accumulator) classOf(l *life) *class { return a.classes[l.class] }

// place returns what is known of a stack of a life, with its node in the tree of its class.
func (a *Accumulator) place(l *life, handle, stack int32) *facts {
	f := a.places.at(stack)
	if l.class == 0 && (f.root != 0 || handle != 0) {
		a.classify(l, handle, f.root)
	}
	a.places.improve(&l.benchHandler, f.handler)
	if f.class == l.class {
		return f
	}
	c := a.classes[l.class]
	n, ok := c.nodes[stack]
	if !ok && c.how != none {
		n = c.tree.add(a.places.core(a.places.frames(stack)))
		c.nodes[stack] = n
	}
	f.class, f.node = l.class, n
	return f
}

// notify passes an event of a life on to its class.
func (a *Accumulator) notify(l *life, m *event) {
	m.wrote, m.marked, l.wrote = l.wrote, l.annotated, mark{}
	switch c := a.classes[l.class]; c.how {
	case none:
	case undecided:
		a.keep(c, l, m)
	default:
		a.move(c, l, m)
		if c.home.given == 0 && (c.how == Cycle || c.how == Producer || c.how == Run) {
			a.review(c, m)
		}
	}
}

// keep keeps an event of a class that is not decided yet.
func (a *Accumulator) keep(c *class, l *life, m *event) {
	if m.what == exited && l.born {
		c.ends++
	}
	switch full := a.log(c, m); {
	case full, c.ends >= enoughEnds:
	case c.blocks < max(a.enough, c.review):
		return
	case c.blocks < mostBlocks && a.judge(c).early():
		c.review = 4 * c.blocks
		return
	}
	a.decide(c)
}

// log adds an event to the log of a class, and reports whether there is no room for more.
func (a *Accumulator) log(c *class, m *event) (full bool) {
	if n := len(a.spare); c.log == nil && n > 0 {
		c.log, a.spare = a.spare[n-1], a.spare[:n-1]
	}
	if m.what == blocked && m.family.shown() {
		c.blocks++
	}
	c.log = append(c.log, *m)
	a.events++
	return len(c.log) >= maxClassEvents || a.events >= a.limit
}

// logged returns the log of a class, which has none then.
func (a *Accumulator) logged(c *class) []event {
	log := c.log
	c.log = nil
	a.events -= len(log)
	if len(a.spare) < maxSpare {
		a.spare = append(a.spare, log[:0])
	}
	return log
}

// decide finds out what the units of a class are, and replays its events.
func (a *Accumulator) decide(c *class) {
	j := a.judge(c)
	if h := j.given(a.opt.IsHome); h.given != 0 {
		c.how, c.home = Cycle, h
	} else {
		c.how, c.home = j.verdict()
	}
	c.review = 10 * a.enough
	log := a.logged(c)
	for i := range log {
		m := &log[i]
		l := a.lives.At(m.life)
		a.move(c, l, m)
		if m.what == exited {
			a.release(m.life)
		}
	}
}

// review has a class that has blocked ten times as often as when it was decided last be decided
// again, by the next of its events. What is home changes only if another place is it by far.
func (a *Accumulator) review(c *class, m *event) {
	if c.blocks < c.review {
		if m.what == blocked && m.family.shown() {
			c.blocks++
		}
		return
	}
	full, done := a.log(c, m), c.blocks >= c.review+a.enough
	if !full && !done {
		return
	}
	if how, h, beats := a.judge(c).beats(c); done && beats {
		c.how, c.home, c.since = how, h, a.now
	}
	a.logged(c)
	c.review *= 10
}

// move has the rules of a class take an event.
func (a *Accumulator) move(c *class, l *life, m *event) {
	l.marked = m.marked
	if l.unit.is && l.unit.from.at < c.since {
		a.leave(c, l, m.from.at) // it began where home was before
		l.unit, l.visit, l.handler = open{}, visit{}, 0
	}
	if m.what == lost {
		a.leave(c, l, m.to.at)
		l.seen = m.ran.at
		l.unit, l.visit, l.handler, l.line = open{}, visit{}, 0, 0
		return
	}
	switch c.how {
	case Cycle:
		a.cycle(c, l, m)
	case Producer:
		a.producer(c, l, m)
	case Lifetime, Test, Run:
		a.lifetime(c, l, m)
	case Phase:
		a.phase(c, l, m)
	}
}

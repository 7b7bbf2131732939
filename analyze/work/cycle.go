package work

// spurious is for how long a goroutine that was woken for nothing runs at most, ns.
const spurious = 5000

// at reports whether an event is at home.
func (h *home) at(t *tree, m *event) bool {
	switch {
	case m.what == blocked && m.family != h.family:
		return false
	case h.given != 0:
		return t.calls(m.node, h.given)
	case h.library && t.nodes[m.node].own:
		return false
	case h.exact:
		return m.node == h.node
	}
	return t.under(m.node, h.node)
}

// cycle processes an event of a class whose goroutines come home.
func (a *Accumulator) cycle(c *class, l *life, m *event) {
	if m.wrote.at > 0 {
		l.unit.wrote = m.wrote
	}
	switch m.what {
	case created:
		if c.home.family != sleep {
			l.unit = begin(m, m.to)
			l.unit.fresh = true
		}
	case exited:
		if l.unit.is && l.unit.wrote.at > l.unit.from.at && !l.visit.is {
			a.emit(l, Cycle, &l.unit, l.unit.wrote, l.handler)
		}
	case blocked, acted:
		if m.what == blocked && !m.family.shown() {
			return
		}
		if !c.home.at(&c.tree, m) {
			a.away(c, l, m)
			return
		}
		a.come(c, l, m)
	}
}

// begin returns a unit that an event began at a mark.
func begin(m *event, from mark) open {
	return open{is: true, source: m.source, waker: m.waker, by: m.by, wakerUnit: m.wakerUnit, from: from}
}

// away is for what a goroutine does away from home.
func (a *Accumulator) away(c *class, l *life, m *event) {
	if l.visit.is || l.handler == 0 {
		l.handler = m.handler
	}
	l.visit.is = false
	if !l.unit.is && !l.born {
		l.unit = open{is: true, cut: true, from: m.from} // it was under way when the trace began
	}
	l.unit.fresh = l.unit.fresh && c.home.family == read && m.handler == 0 // what the library does with a new connection
	if l.unit.fresh && m.what == blocked && m.family == read {
		l.unit = begin(m, m.to) // the first request is read elsewhere
		l.unit.fresh = true
	}
}

// come is for an event at home.
func (a *Accumulator) come(c *class, l *life, m *event) {
	if l.visit.is && !(l.visit.blocked && m.what == blocked) { // the same visit goes on
		if m.what == blocked {
			c.idle += m.to.at - m.from.at
			l.visit.blocked, l.visit.ran, l.unit = true, m.ran.at, begin(m, m.to)
		} else if !l.visit.blocked {
			l.unit = begin(m, m.to)
		}
		return
	}
	if m.what == blocked {
		c.idle += m.to.at - m.from.at
	}
	switch {
	case l.visit.is && c.home.family == cond && m.from.at-l.visit.ran < spurious:
		c.woken++
	case l.unit.is && (!l.unit.fresh || l.unit.wrote.at > l.unit.from.at):
		a.home(c, l, m.from)
	}
	l.visit = visit{is: true, blocked: m.what == blocked, ran: m.ran.at}
	l.unit, l.handler = begin(m, m.to), 0
}

// home ends the unit of a goroutine that is back home.
func (a *Accumulator) home(c *class, l *life, back mark) {
	if c.home.family == read {
		switch {
		case l.unit.wrote.at > l.unit.from.at:
			back = l.unit.wrote
		case c.home.server:
			return // a part of a request was read
		}
	}
	a.emit(l, Cycle, &l.unit, back, l.handler)
}

// producer processes an event of a class that loops at a send. A unit ends when the goroutine
// runs again.
func (a *Accumulator) producer(c *class, l *life, m *event) {
	if l.handler == 0 {
		l.handler = m.handler
	}
	sent := m.ran
	switch {
	case !c.home.at(&c.tree, m):
		return
	case m.what == acted && m.wakes:
		sent = m.to
	case m.what != blocked:
		return
	}
	if l.unit.is {
		a.emit(l, Producer, &l.unit, sent, l.handler)
	}
	l.unit, l.handler = begin(m, sent), 0
}

package work

// lifetime processes an event of a class whose goroutines do one job.
func (a *Accumulator) lifetime(c *class, l *life, m *event) {
	switch m.what {
	case created:
		l.unit = begin(m, m.to)
	case exited:
		switch {
		case c.how == Run:
			a.run(l, m.to)
		case l.unit.is:
			a.emit(l, c.how, &l.unit, a.returned(c, l, m.to), l.handler)
		default:
			a.leave(c, l, m.to.at)
		}
	default:
		a.places.improve(&l.handler, m.handler)
		if m.traits&inParallel != 0 && c.how == Test && m.what == blocked {
			l.unit = begin(m, m.ran)
		}
		c.follow(l, m)
	}
}

// follow notes on which line of its start function a goroutine is.
func (c *class) follow(l *life, m *event) {
	line := c.tree.nodes[m.node].line
	if line == l.line || line == 0 {
		return
	}
	if l.line != 0 {
		c.tree.nodes[l.line].left = true
	}
	l.line, l.lineAt = line, m.from
}

// returned is when the start function of a goroutine, which ended at a mark, returned. Where a
// goroutine runs function literals of its start function, on a line from which none of the
// class ever went on, these are deferred calls.
func (a *Accumulator) returned(c *class, l *life, end mark) mark {
	n := &c.tree.nodes[l.line]
	if l.line != 0 && n.closure && !n.left && (n.done || c.tree.lines() > 1) {
		return l.lineAt
	}
	return end
}

package work

// phases follow what main does, line after line. They are indexed by the nodes of the
// class's tree.
type phases struct {
	g      int64
	handle int32 // of the class, in decisions
	marked bool  // main marks what it does
	spans  []span
}

// span is the time in which main was seen at a node or below.
type span struct {
	from, to mark
	current  int32 // the child that main is in
	children int32
	seen     bool
	returns  bool // main came back to a child that it had left
}

// A phase that is shorter than this share of what it is a part of is none, nor one that is all of
// it but that share. Lines of libraries are none either.
const shortPhase = 200 // one in so many

func (a *Accumulator) phase(c *class, l *life, m *event) {
	if m.what != blocked && m.what != acted || m.family == collector || m.family == preempted {
		return
	}
	if c.phases == nil {
		c.phases = &phases{g: l.id, handle: l.handle}
	}
	p := c.phases
	p.marked = m.marked > 0
	for len(p.spans) < len(c.tree.nodes) {
		p.spans = append(p.spans, span{})
	}
	below, first := int32(0), false
	for n := m.node; ; n = c.tree.nodes[n].parent {
		s := &p.spans[n]
		if below != 0 && s.current != below {
			s.returns = s.returns || !first
			s.current = below
			if first {
				s.children++
			}
		}
		below, first = n, !s.seen
		if first {
			s.from, s.seen = m.from, true
		}
		if s.to = m.to; n == 0 {
			return
		}
	}
}

// emitPhases counts the phases of main, a class, at the end of the trace.
func (a *Accumulator) emitPhases(at int32) {
	c := a.classes[at]
	p := c.phases
	if p == nil || p.marked {
		return
	}
	for n := int32(1); int(n) < len(p.spans); n++ {
		s, up := &p.spans[n], &p.spans[c.tree.nodes[n].parent]
		split := up.children > 1 && !up.returns && p.straight(&c.tree, c.tree.nodes[n].parent)
		if ns, of := s.to.at-s.from.at, up.to.at-up.from.at; !split || ns*shortPhase < of || up != &p.spans[0] && ns > of-of/shortPhase || !a.places.named[c.tree.nodes[n].function].own {
			continue
		}
		a.found(a.sumOf(kindKey{class: at, name: c.tree.callee(n), how: Phase}), p.g, p.handle, s.from, s.to)
	}
}

// straight reports whether main came back to nothing above a node.
func (p *phases) straight(t *tree, n int32) bool {
	for ; n > 0; n = t.nodes[n].parent {
		if p.spans[t.nodes[n].parent].returns {
			return false
		}
	}
	return true
}

// callee returns the function that a place calls, if it was seen to call one.
func (t *tree) callee(n int32) int32 {
	for i := range t.nodes {
		if t.nodes[i].parent == n {
			return t.nodes[i].function
		}
	}
	return t.nodes[n].function
}

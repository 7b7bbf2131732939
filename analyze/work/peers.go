package work

// Both ends of a connection may be goroutines of the program. The trace does not show who is
// connected with whom, so it is inferred from what comes after what, again and again.
const (
	keptSends  = 16
	answerNs   = 100_000 // how long before a wait ends the answer is written, at most
	minAnswers = 10      // waits before an answer is believed, and three quarters of all
	maxPeers   = 4       // of a class
)

// sent is a write to the network.
type sent struct {
	from  mark
	unit  int64 // when the writer's unit had begun, as in event
	class int32
	used  bool // it has answered
}

// peers are the classes that write just before waits of another one end.
type peers struct {
	waits int64
	class [maxPeers]int32 // 0 is none
	n     [maxPeers]int64
}

// send keeps a write to the network that begins.
func (a *Accumulator) send(l *life, from mark) {
	a.classes[l.class].sends++
	a.sent[a.sends%keptSends] = sent{from: from, unit: a.unitOf(l), class: l.class}
	a.sends++
}

// answer returns the write that ended a wait of a life for the network, as m says; nil if that
// is not clear.
func (a *Accumulator) answer(l *life, m *event) (out *sent) {
	p := &a.classes[l.class].peers
	p.waits++
	seen := 0
	for i := a.sends - 1; i >= max(0, a.sends-keptSends); i-- {
		s := &a.sent[i%keptSends]
		if s.from.at < max(m.from.at, a.now-answerNs) {
			break
		}
		k := p.of(s.class)
		if s.used || s.class == l.class || k < 0 || seen>>k&1 != 0 {
			continue
		}
		seen |= 1 << k
		s.used = true
		p.n[k]++
		often := 3*a.classes[s.class].sends*answerNs > 2*a.now // so that an answer may be chance
		if out == nil && p.waits >= minAnswers && 4*p.n[k] >= 3*p.waits && !often {
			out = s
		}
	}
	return out
}

// of returns the place of a class among peers; -1 if there is no room.
func (p *peers) of(class int32) int {
	for k := range p.class {
		if p.class[k] == 0 {
			p.class[k] = class
		}
		if p.class[k] == class {
			return k
		}
	}
	return -1
}

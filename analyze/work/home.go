package work

import (
	"slices"
	"strings"
)

// home is the place where the goroutines of a class wait for something to do.
type home struct {
	node    int32 // of the class's tree: events at it or below are there
	exact   bool  // not below it
	library bool  // not in functions of the program's own module
	family  family
	server  bool  // it is a read, and what is read are requests
	byName  bool  // only a function's name says so
	few     bool  // it was decided by few waits
	given   int32 // function that Options.IsHome has; 0 if it was found
	carries bool  // it is in a loop that carries the requests of others
	split   bool  // its goroutines are woken by those of several classes
}

// candidate is a place that may be home.
type candidate struct {
	home
	top     int32 // the highest node under which all blocks are of its family
	blocks  int64
	ns      int64
	traits  trait
	wakers  map[int32]int64 // by class
	asked   int64           // blocks that ended with an answer to the goroutine's own question
	visits  map[int32]int64 // by life
	visited int64           // lives that came twice or more
	answers bool            // what is read there was asked for, while what the library reads is to be answered
}

// When a class is decided.
const (
	enoughBlocks = 400
	mostBlocks   = 16 * enoughBlocks // where they may be too early
	enoughEnds   = 20
	fewPairs     = 10 // of waits one after the other that show a round
	fewBlocks    = 20 // below which a home is ambiguous
)

// serving are parts of the names of functions that read requests rather than answers, in any case.
var serving = []string{"serve", "handle", "accept", "session", "listen"}

func serves(function string) bool {
	name := strings.ToLower(function)
	return slices.ContainsFunc(serving, func(part string) bool { return strings.Contains(name, part) })
}

// judgement is what the log of a class says.
type judgement struct {
	c       *class
	classes []*class
	places  *places
	at      []int32 // by node: index of the candidate with that top, plus 1
	inner   []int32 // by node: likewise, of those that only have the blocks of the node itself
	own     []int32 // by node: likewise, of those that have what the program's own module does below it
	list    []candidate
	blocks  map[int32]int64 // by life
	waits   int64           // of all lives
	all     trait           // of all blocks
	whole   int             // lives whose creation and end are in the log
	born    bool            // a life was created for a connection
}

// judge reads the log of a class.
func (a *Accumulator) judge(c *class) *judgement {
	j := &judgement{c: c, classes: a.classes, places: &a.places, blocks: map[int32]int64{}}
	j.collect()
	j.count()
	return j
}

// given returns the home that is known from elsewhere: a function that is, and what goroutines wait
// for in it most often.
func (j *judgement) given(is func(start, function string) bool) (h home) {
	if is == nil {
		return h
	}
	t, start := &j.c.tree, j.places.functions[j.c.name]
	for n := 1; n < len(t.nodes) && h.given == 0; n++ {
		if fn := t.nodes[n].function; is(start, j.places.functions[fn]) {
			h.node, h.given = int32(n), fn
		}
	}
	var counts [numFamilies]int
	for i := range j.c.log {
		if m := &j.c.log[i]; m.what == blocked && m.family.shown() && t.calls(m.node, h.given) {
			if counts[m.family]++; counts[m.family] > counts[h.family] {
				h.family = m.family
			}
		}
	}
	if h.family == unknown {
		return home{}
	}
	if x := j.of(h.node, h.family); x != nil {
		h.server = x.server
	}
	return h
}

// beats returns what the units of a class are rather than what was decided, and whether that has
// twice the weight at least.
func (j *judgement) beats(c *class) (How, home, bool) {
	how, h := j.verdict()
	if how != Cycle && (how != Producer || c.how == Cycle) {
		return how, h, false
	}
	was, is := j.of(c.home.node, c.home.family), j.of(h.node, h.family)
	return how, h, was != is && (c.how == Run || was == nil || is.server && j.better(is, was) || is.weight() >= 2*was.weight())
}

// verdict returns the home of the class, or what else its units are.
func (j *judgement) verdict() (How, home) {
	c, p := j.c, j.places
	main := p.isMain(c.name)
	best, send := j.best(), j.producer()
	if j.born && best != nil && !best.server && best.traits&leavesProgram != 0 {
		best = j.outermost() // it asks others for what its request needs
	}
	if main && best != nil && j.answered(best) {
		best = nil
	}
	switch {
	case !c.served && j.watch(), main && j.all&inHarness != 0, best == nil && j.all&inAccept != 0, best != nil && best.traits&inAccept != 0:
		return none, home{}
	case best != nil:
		return Cycle, best.home
	case main:
		return Phase, home{}
	case send != nil:
		return Producer, send.home
	case j.whole > 0:
		return Lifetime, home{}
	}
	return Run, home{}
}

// watch reports whether the goroutines wait all their lives in one select, for another's unit
// to end.
func (j *judgement) watch() bool {
	idle, acts, blocks := map[int32]bool{}, map[int32]bool{}, map[int32]int{}
	for i := range j.c.log {
		switch m := &j.c.log[i]; m.what {
		case blocked:
			blocks[m.life]++
			acts[m.life] = acts[m.life] || m.family != selects
		case acted:
			acts[m.life] = true
		case exited:
			idle[m.life] = !acts[m.life] && blocks[m.life] == 1
		}
	}
	n := 0
	for _, is := range idle {
		if is {
			n++
		}
	}
	return j.whole > 0 && 10*n >= 9*j.whole
}

// collect finds the candidates: the highest nodes of the tree under which all blocks are of
// one family, and nodes with blocks of their own above such.
func (j *judgement) collect() {
	t := &j.c.tree
	own, below := make([]families, len(t.nodes)), make([]families, len(t.nodes))
	ownBelow := make([]bool, len(t.nodes)) // the program's own module waits there
	for i := range j.c.log {
		if m := &j.c.log[i]; m.what == blocked && m.family.shown() {
			own[m.node] |= 1 << m.family
			ownBelow[m.node] = t.nodes[m.node].own
		}
	}
	kids := make([]int32, len(t.nodes)) // the only child with blocks; -1 if there are more
	for n := len(t.nodes) - 1; n >= 0; n-- {
		if below[n] |= own[n]; n > 0 && below[n] != 0 {
			up := t.nodes[n].parent
			below[up] |= below[n]
			ownBelow[up] = ownBelow[up] || ownBelow[n]
			if kids[up] == 0 {
				kids[up] = int32(n)
			} else {
				kids[up] = -1
			}
		}
	}
	j.at, j.inner, j.own = make([]int32, len(t.nodes)), make([]int32, len(t.nodes)), make([]int32, len(t.nodes))
	for n := int32(1); n < int32(len(t.nodes)); n++ {
		switch up := t.nodes[n].parent; {
		case below[n] == 0 || up != 0 && below[up].one() != unknown:
		case below[n].one() != unknown:
			prefix := n
			for own[prefix] == 0 && kids[prefix] > 0 {
				prefix = kids[prefix]
			}
			h := home{node: prefix, family: below[n].one()}
			if h.library = h.family == read && !t.nodes[prefix].own && ownBelow[n]; h.library {
				j.add(&j.own[n], home{node: prefix, family: read}, n)
				j.list[j.own[n]-1].answers = true
			}
			j.add(&j.at[n], h, n)
		case own[n].one() != unknown:
			j.add(&j.inner[n], home{node: n, exact: true, family: own[n].one()}, n)
		}
	}
}

func (j *judgement) add(index *int32, h home, top int32) {
	j.list = append(j.list, candidate{home: h, top: top, visits: map[int32]int64{}, wakers: map[int32]int64{}})
	*index = int32(len(j.list))
}

// of returns the candidate to which a block at a node belongs, or nil.
func (j *judgement) of(n int32, f family) *candidate {
	if i := j.inner[n]; i > 0 && j.list[i-1].family == f {
		return &j.list[i-1]
	}
	own := j.c.tree.nodes[n].own
	for ; n > 0; n = j.c.tree.nodes[n].parent {
		if i := j.own[n]; i > 0 && own {
			return &j.list[i-1]
		}
		if i := j.at[n]; i > 0 {
			return &j.list[i-1]
		}
	}
	return nil
}

// count counts the visits to the candidates.
func (j *judgement) count() {
	births := map[int32]bool{}
	for i := range j.c.log {
		m := &j.c.log[i]
		switch m.what {
		case created:
			births[m.life] = true
			j.born = j.born || m.source == sourceServer
		case lost:
			delete(births, m.life)
		case exited:
			if births[m.life] {
				j.whole++
			}
		case blocked:
			if !m.family.shown() {
				continue
			}
			j.blocks[m.life]++
			j.waits++
			j.all |= m.traits
			if x := j.of(m.node, m.family); x != nil {
				x.count(m)
			}
		}
	}
	for i := range j.list {
		x := &j.list[i]
		name := j.named(x)
		x.server = x.family == read && !x.answers && (j.born || name != 0)
		x.byName = x.server && !j.born && j.places.named[name].module
		x.carries = x.traits&inProtocol != 0
		x.few = j.waits < fewBlocks
		x.split = x.family == selects && x.mixed()
	}
}

func (x *candidate) count(m *event) {
	x.blocks++
	x.traits |= m.traits
	x.ns += m.to.at - m.from.at
	if m.asked {
		x.asked++
	}
	x.wakers[m.by]++
	if x.visits[m.life]++; x.visits[m.life] == 2 {
		x.visited++
	}
}

// mixed reports whether goroutines of several classes each end a tenth of the blocks.
func (x *candidate) mixed() bool {
	classes := 0
	for by, n := range x.wakers {
		if by != 0 && 10*n >= x.blocks {
			classes++
		}
	}
	return classes > 1
}

// named returns a function, of those down to the top of a candidate, whose name says that it
// serves; 0 if there is none.
func (j *judgement) named(x *candidate) int32 {
	for n := x.top; n > 0; n = j.c.tree.nodes[n].parent {
		if fn := j.c.tree.nodes[n].function; serves(j.places.functions[fn]) {
			return fn
		}
	}
	return 0
}

// returnsTo reports whether goroutines come back to a candidate again and again. Of those of a server
// some may serve a single request: how often they block in one says nothing about that.
func (j *judgement) returnsTo(x *candidate) bool {
	lives := int64(len(x.visits))
	busy := int64(0)
	for _, n := range j.blocks {
		if n >= 3 {
			busy++
		}
	}
	if x.blocks < 3 || x.blocks < 2*lives || 3*x.visited < busy && !x.server {
		return false
	}
	mostlyWhole := j.whole >= 3 && 2*j.whole > len(j.blocks)
	return !mostlyWhole || x.blocks >= 3*lives
}

// early reports whether most goroutines have read where requests may be read, but have not come back to that
// yet, and have no home, or were created for connections and have one further in, where answers may be read.
func (j *judgement) early() bool {
	best := j.best()
	return (best == nil || j.born) && slices.ContainsFunc(j.list, func(x candidate) bool {
		return x.server && 2*len(x.visits) >= len(j.blocks) && (best == nil || j.better(&x, best)) && !j.returnsTo(&x)
	})
}

// best returns the candidate that is home, or nil. If the goroutines wait longer where they do not
// come back to, home may lie there: then nothing is claimed.
func (j *judgement) best() (best *candidate) {
	elsewhere := int64(0)
	for i := range j.list {
		x := &j.list[i]
		switch {
		case !x.mayBeHome():
		case !j.returnsTo(x):
			elsewhere += x.weight()
		case best == nil || j.better(x, best):
			best = x
		}
	}
	if best != nil && !best.server && best.weight() < elsewhere {
		return nil
	}
	for best != nil {
		longest := j.round(best)
		if longest == nil {
			break
		}
		best = longest
	}
	return best
}

// answered reports whether most waits at a place end when a library has an answer from the network.
func (j *judgement) answered(x *candidate) bool {
	n := int64(0)
	for by, ended := range x.wakers {
		if t := j.places.named[j.classes[by].name].traits; t&inProtocol != 0 && t&inServer == 0 {
			n += ended
		}
	}
	return 2*n > x.blocks
}

// outermost returns the outermost place where requests may be read, or nil.
func (j *judgement) outermost() (best *candidate) {
	for i := range j.list {
		if x := &j.list[i]; x.server && (best == nil || j.better(x, best)) {
			best = x
		}
	}
	return best
}

// round returns the place under a candidate where goroutines wait longest, if there are several,
// which they come to in turn: then it is one round that is a unit, not each of its waits.
func (j *judgement) round(x *candidate) (longest *candidate) {
	t, places, last := &j.c.tree, map[int32]*candidate{}, map[int32]int32{}
	pairs, again := 0, 0
	for i := range j.c.log {
		m := &j.c.log[i]
		if m.what != blocked || x.exact || !x.at(t, m) || m.node == x.node {
			continue
		}
		at := m.node
		for t.nodes[at].parent != x.node {
			at = t.nodes[at].parent
		}
		y := places[at]
		if y == nil {
			y = &candidate{home: x.home, visits: map[int32]int64{}, wakers: map[int32]int64{}}
			y.node, y.top, places[at] = at, at, y
		}
		if y.count(m); longest == nil || y.ns > longest.ns {
			longest = y
		}
		if before := last[m.life]; before != 0 {
			if pairs++; before == at {
				again++
			}
		}
		last[m.life] = at
	}
	if len(places) < 2 || pairs < fewPairs || again*20 > pairs {
		return nil
	}
	return longest
}

// mayBeHome reports whether a place of the kind can be home: a lock, a send or a write never
// is, nor a sleep within a library's call.
func (x *candidate) mayBeHome() bool {
	switch x.family {
	case lock, send, write:
		return false
	case sleep:
		return x.traits&leavesProgram == 0
	}
	return true
}

// better reports whether x rather than y is home.
func (j *judgement) better(x, y *candidate) bool {
	if x.server != y.server {
		return x.server
	}
	if x.server {
		dx, dy := j.c.tree.nodes[x.node].depth, j.c.tree.nodes[y.node].depth
		return dx < dy || dx == dy && x.ns > y.ns
	}
	if x.seldom(y) || y.seldom(x) {
		return x.ns > y.ns
	}
	return x.weight() > y.weight()
}

// seldom reports whether goroutines wait at a place far less often than at another: it is where they
// do once in a while, rather than pace themselves.
func (x *candidate) seldom(y *candidate) bool { return 8*x.blocks < y.blocks }

// weight is the time waited, a tenth of it where the goroutine mostly asked for what it
// waited for.
func (x *candidate) weight() int64 {
	if 2*x.asked > x.blocks {
		return x.ns / 10
	}
	return x.ns
}

// producer returns the send at which the class loops, or nil.
func (j *judgement) producer() (best *candidate) {
	for i := range j.list {
		if x := &j.list[i]; x.family == send && j.returnsTo(x) && (best == nil || x.ns > best.ns) {
			best = x
		}
	}
	return best
}

package work

// life is a goroutine of the program, from when it is first seen to its end. Its record is used again for
// another one. It holds no pointers.
type life struct {
	id     int64
	class  int32
	handle int32 // of it, in decisions
	slot   int32

	seen  int64 // when it was first
	head  int64 // its newest interval
	since int64 // when that ended
	doing activity
	site  int32 // function, of a block, a system call or a stop of the world
	p     int32 // that it ran on last

	yieldedAt int64 // when it called runtime.Gosched, until it runs again; 0: it runs
	yielded   int64 // how long it has waited after such calls since then, ns
	waits     [4]pastWait

	blocked        bool // it is, at pending
	ended          bool
	writes         bool  // the system call under way is a write to the network
	pending        event // the block, or the system call under way
	wrote          mark  // since the last event
	wroteSinceWait bool
	woken          [2]int32 // lives that it woke since it was blocked last

	handler   int32 // function that the unit under way was last seen in
	unit      open
	visit     visit
	line      int32 // root line at which it was seen last
	lineAt    mark  // since when
	marked    int64 // when it had marked something last, by its events
	annotated int64 // when it has
	born      bool  // it was created in the trace

	bench        mark  // since when a benchmark's timer runs; at 0: it does not
	benchStarts  bool  // the stop of the world under way starts it
	benchHandler int32 // function in which it was seen since
}

// maxSubTests bounds the sub-tests that are kept.
const maxSubTests = 1 << 16

// subTest is a wait of a test for one of its sub-tests. A test may last much longer than paths look
// back: then its sub-tests are what is known of it.
type subTest struct {
	begin, end  int64 // ns
	class, site int32
}

// pastWait is the last interval in which a life was blocked at a site.
type pastWait struct {
	node int64
	site int32
	as   activity
}

// waitedAt returns the last interval in which a life was blocked at a site; 0 if it is not kept.
func (l *life) waitedAt(site int32, as activity) int64 {
	for i := range l.waits {
		if w := &l.waits[i]; w.site == site && w.as == as {
			return w.node
		}
	}
	return 0
}

// waited keeps the interval in which a life was blocked at a site. It keeps the last few sites.
func (l *life) waited(site int32, as activity, node int64) {
	i := 0
	for i < len(l.waits)-1 && (l.waits[i].site != site || l.waits[i].as != as) {
		i++
	}
	copy(l.waits[1:i+1], l.waits[:i])
	l.waits[0] = pastWait{node, site, as}
}

// open is a unit under way.
type open struct {
	is        bool
	source    source
	waker     int32 // life
	by        int32 // class of the waker
	wakerUnit int64 // as in event
	cut       bool  // it was under way when the trace began
	fresh     bool  // nothing has been done in it: the goroutine was just created
	from      mark
	wrote     mark
}

// visit is a stay of a goroutine at home: events there that follow each other, at most one of them a
// block.
type visit struct {
	is      bool
	blocked bool
	ran     int64 // when it ran after the block
}

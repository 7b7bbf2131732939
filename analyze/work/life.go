package work

// life is a goroutine of the program. It holds no pointers.
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

	blocked        bool // it is, at pending
	ended          bool
	writes         bool   // the system call under way is a write to the network
	pending        moment // the block, or the system call under way
	wrote          mark   // since the last moment
	wroteSinceWait bool
	woken          [2]int32 // lives that it woke since it was blocked last

	handler   int32 // function that the unit under way was last seen in
	unit      open
	visit     visit
	line      int32 // root line at which it was seen last
	lineAt    mark  // since when
	marked    int64 // when it had marked something last, by its moments
	annotated int64 // when it has
	born      bool  // it was created in the trace

	bench        mark  // since when a benchmark's timer runs; at 0: it does not
	benchStarts  bool  // the stop of the world under way starts it
	benchHandler int32 // function in which it was seen since
}

// open is a unit under way.
type open struct {
	is        bool
	source    source
	waker     int32 // life
	by        int32 // class of the waker
	wakerUnit int64 // as in moment
	cut       bool  // it was under way when the trace began
	fresh     bool  // nothing has been done in it: the goroutine was just created
	from      mark
	wrote     mark
}

// visit is one of a goroutine to its home.
type visit struct {
	is      bool
	blocked bool
	ran     int64 // when it ran after the block
}

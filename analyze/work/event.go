package work

// mark is an instant in the life of a goroutine.
type mark struct {
	at   int64 // ns
	node int64 // of its path, see path.go
}

// what a goroutine does in an event.
type what uint8

const (
	created what = iota + 1
	blocked      // and runs again
	acted        // called the system, woke or created another goroutine
	exited
	lost // a part of the trace is missing
)

// source is what began a unit.
type source uint8

const (
	sourceUnknown source = iota
	sourceNetwork
	sourceTimer
	sourceGoroutine
	sourceServer // a goroutine that accepts connections, or begins one for each request
)

// outside reports whether what it began came from outside of the program.
func (s source) outside() bool { return s == sourceNetwork || s == sourceTimer || s == sourceServer }

// event is what a class sees of a goroutine of its own. It holds no pointers: classes that
// are not decided yet keep their events.
type event struct {
	life      int32
	node      int32 // of the class's tree
	handler   int32 // function
	waker     int32 // life, 0 is none; blocked and created
	by        int32 // class of the waker
	wakerUnit int64 // when the waker's unit had begun, or noUnit, or unitUnknown
	what      what
	family    family // blocked
	source    source // blocked and created
	asked     bool   // blocked: it had written to the network, or woken who ended the block
	wakes     bool   // acted: it woke another
	traits    trait
	from, to  mark  // blocked: until it was made runnable
	ran       mark  // blocked: when it ran again; lost: when the trace goes on
	marked    int64 // when it marked a task or region last
	wrote     mark  // the end of its last write to the network since the event before; at 0 is none
}

// What stands for the begin of a waker's unit.
const (
	noUnit      = -1
	unitUnknown = -2 // the waker's class is not decided
)

// Bounds of what is kept until classes are decided.
const (
	maxEvents      = 1 << 17 // of all classes
	maxClassEvents = 1 << 12
	maxSpare       = 16 // logs to be used again
)

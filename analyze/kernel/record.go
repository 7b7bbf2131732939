package kernel

// Kind specifies what a [Record] says: who got a CPU, who was woken, or that records are
// missing.
type Kind uint8

// The kinds of records: the values of Record.Kind.
const (
	Switch Kind = iota // sched_switch: CPU went from the thread TID to Next
	Wake               // sched_waking or sched_wakeup: TID is to run, on CPU if it is not NoCPU
	Lost               // records of CPU are missing before this point
)

// NoCPU is Record.CPU of a [Wake] that does not say on which CPU the thread is to run.
const NoCPU = int32(-1)

// Record is one record of the kernel's scheduler. Thread 0 is the idle loop of each CPU.
type Record struct {
	Time  int64 // ns of the clock of the records
	CPU   int32 // on which it happened; for Wake the CPU that the thread is to run on, or NoCPU
	TID   int32 // thread that left the CPU, or that is woken
	Next  int32 // Switch: thread that got the CPU
	Group int32 // process (thread group) of TID, 0 if the records do not say
	Comm  Comm  // name of TID
	Into  Comm  // name of Next
	Kind  Kind
	State byte // of TID when it left the CPU: R runnable, S and D asleep, T stopped, as in proc_pid_stat(5)
}

// Comm is a handle of the name of a thread (the kernel's comm); [Reader.Name] returns the
// name.
type Comm int32

// maxComms bounds the names that are told apart. Comm 0 stands for all others.
const maxComms = 4096

const otherComm = "(others)"

type comms struct {
	names []string
	byte  map[string]Comm
}

func newComms() comms {
	return comms{names: []string{otherComm}, byte: map[string]Comm{}}
}

func (c *comms) of(name []byte) Comm {
	if h, ok := c.byte[string(name)]; ok {
		return h
	}
	if len(c.names) >= maxComms {
		return 0
	}
	h := Comm(len(c.names))
	c.names = append(c.names, string(name))
	c.byte[c.names[h]] = h
	return h
}

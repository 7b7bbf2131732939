package ledger

// CPUs is the use of the CPUs, and the run intervals that lacked one, by the kernel's
// records. A stretch is emitted once, in the block in which it ends; open stretches are
// repeated in each block.
type CPUs struct {
	On, OpenOn   []OnCPU      // stretches that have ended, and open ones; those of each CPU in the order of time
	Off, OpenOff []OffCPUSpan // stretches that have ended, and open ones; those of each P in the order of time
}

// Clear removes all stretches, and keeps the memory.
func (c *CPUs) Clear() {
	c.On, c.OpenOn, c.Off, c.OpenOff = c.On[:0], c.OpenOn[:0], c.Off[:0], c.OpenOff[:0]
}

// Occupant is whose thread was on a CPU, as far as it matters.
type Occupant uint8

// The occupants of CPUs.
const (
	OnProgram Occupant = iota // a thread of the program that runs goroutines
	OnOther                   // any other thread
	OnUnknown                 // there are no records
)

// OnCPU is a stretch [From, To), ns, in which a CPU had an occupant. A CPU is idle between
// such stretches.
type OnCPU struct {
	From, To int64    // ns since the first event of the trace
	CPU      int32    // number of the CPU
	Thread   int32    // with OnProgram: number of the thread in the trace; 0 if not known
	Name     int32    // with OnOther: handle of the thread's name
	Who      Occupant // whose thread it was
}

// OffCPUSpan is a stretch [From, To), ns, in which the thread of a goroutine that ran on P was on
// no CPU.
type OffCPUSpan struct {
	From, To int64        // ns since the first event of the trace
	P        int32        // on which the goroutine ran
	CPU      int32        // on which the thread was last, or is to run; less than 0 if not known
	Why      OffCPUReason // why it was on none
}

// OffCPUReason is the reason why a thread was on no CPU.
type OffCPUReason uint8

// The reasons for which a thread is on no CPU.
const (
	LackUnknown OffCPUReason = iota // unknown
	LackTurn                        // it was ready to run, and its CPU ran another thread
	LackIdle                        // it was ready to run, and its CPU was idle
	LackStopped                     // it was stopped by a signal or a debugger
	LackBlocked                     // it slept in the kernel
)

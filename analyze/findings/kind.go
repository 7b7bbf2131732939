package findings

// Kind specifies what the findings of a detector are about: what makes goroutines wait ([KindCause]),
// that they wait ([KindSymptom]), the machine ([KindMachine]) or the trace ([KindTrace]).
type Kind string

// The kinds of findings.
const (
	KindCause   Kind = "cause"   // what makes goroutines wait, or work in vain
	KindSymptom Kind = "symptom" // that goroutines wait long, whatever the cause
	KindMachine Kind = "machine" // whether threads with a P had a CPU: what others measure contains time in which nothing ran
	KindTrace   Kind = "trace"   // the recording and not the program
)

// Remedy is the change to the scheduler, or to the work, that stands for the
// advice of a detector when the work is simulated (package replay): it tells what following the
// advice would gain. Fields that are zero change nothing.
type Remedy struct {
	ProcsTimes int     // GOMAXPROCS is multiplied by this
	ProcsPlus  int     // GOMAXPROCS is raised by this
	Policy     string  // name of the scheduling policy in package sim
	NoGC       bool    // the garbage collector does not run
	Unlocked   bool    // no goroutine is locked to a thread
	FreeLock   bool    // no goroutine waits for the lock that the victims waited for
	Speed      float64 // factor by which the goroutines of the first cause compute faster
	YieldNs    int64   // running time after which these call runtime.Gosched, in ns
	// Makespan reports whether the advice is about the makespan, not about waiting for a P.
	Makespan bool
	// Why explains how the change stands for the advice, or why none does.
	Why string
}

// Changes reports whether the Remedy changes anything: whether a simulation can stand for the
// advice.
func (r *Remedy) Changes() bool { return *r != Remedy{Why: r.Why} }

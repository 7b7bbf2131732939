package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Machine is what the kernel's records show about the time in which goroutines ran.
type Machine struct {
	ShiftNs      int64   `json:"shift_ns"`         // clock of the records minus that of the trace; 0 if they share one
	ErrorNs      int64   `json:"error_ns"`         // uncertainty of ShiftNs
	ResolutionNs int64   `json:"resolution_ns"`    // of the times of the records: 1000 for ftrace, 1 for perf script --ns
	Mapped       int     `json:"mapped,omitempty"` // threads of a PID namespace, identified by when they ran; absent if none
	InsideShare  float64 `json:"inside_share"`     // share of the starts and stops of goroutines at which their thread was on a CPU
	FromNs       int64   `json:"from_ns"`          // time of the first record, ns since the first event of the trace; negative if before that
	ToNs         int64   `json:"to_ns"`            // time of the last record, likewise
	Records      int64   `json:"records"`          // number of records read
	Missing      int64   `json:"missing"`          // threads seen on a CPU though no record put them there
	Lost         int64   `json:"lost"`             // places where records are missing
	// Of the goroutines that are measured: RunningNs is OnCPUNs and OffCPUNs, exactly.
	OnOff
	NeededCPUs float64 `json:"needed_cpus"` // RunningNs per recorded ns
	HadCPUs    float64 `json:"had_cpus"`    // OnCPUNs per recorded ns
	Off        OffBy   `json:"off"`         // of all goroutines
	Wakeups    Wakeups `json:"wakeups"`     // of threads that run goroutines
	// IdleWaits is the waiting of the program due to p-waking-up and idle-p-available, split
	// into the runtime's part and the kernel's, which sum to each exactly.
	IdleWaits []IdleWait   `json:"idle_waits"`
	WakePaths []WakePath   `json:"wake_paths"`       // kinds that did not occur are left out
	Stops     Stops        `json:"stops"`            // of the process, by a signal such as SIGSTOP, or a debugger
	CPUs      []CPUUse     `json:"cpus"`             // by number
	ByProcess []ProcessUse `json:"by_process"`       // by the time that they kept threads of the program off a CPU; at most 16 and the others
	Classes   []ClassOnOff `json:"classes"`          // longest off the CPUs first
	Ps        []POnOff     `json:"ps"`               // goroutines of the program, by P
	Cgroup    *CgroupStat  `json:"cgroup,omitempty"` // from --cgroup-stat; absent without it
}

// OnOff is running time by whether the thread was on a CPU.
type OnOff struct {
	RunningNs int64 `json:"running_ns"` // running time
	OnCPUNs   int64 `json:"on_cpu_ns"`  // running time on a CPU
	OffCPUNs  int64 `json:"off_cpu_ns"` // running time on no CPU
	UnknownNs int64 `json:"unknown_ns"` // part of on_cpu_ns without records
}

func split(running int64, p part) OnOff {
	return OnOff{RunningNs: running, OnCPUNs: running - p.off, OffCPUNs: p.off, UnknownNs: p.unknown}
}

// OffShare returns the share, from 0 to 1, of the running time in which the thread was on no CPU.
func (s *OnOff) OffShare() float64 { return float64(s.OffCPUNs) / float64(max(1, s.RunningNs)) }

// OffBy is time off the CPUs by its cause.
type OffBy struct {
	OthersNs    int64 `json:"others_ns"`    // the CPU ran another program
	OwnNs       int64 `json:"own_ns"`       // the CPU ran another thread of the program that runs goroutines
	IdleNs      int64 `json:"idle_ns"`      // the CPU was idle
	ThrottledNs int64 `json:"throttled_ns"` // part of idle_ns in pieces of at least 1 ms: most likely a CPU quota
	StoppedNs   int64 `json:"stopped_ns"`   // the thread was stopped by a signal or a debugger
	BlockedNs   int64 `json:"blocked_ns"`   // the thread slept in the kernel, as for a page fault
	UnknownNs   int64 `json:"unknown_ns"`   // the records do not show why
}

// Wakeups are the times from the wake-up of a thread by the runtime or a timer until it was
// on a CPU.
type Wakeups struct {
	Count     int64 `json:"count"`      // number of wake-ups
	TotalNs   int64 `json:"total_ns"`   // sum of their times
	LongestNs int64 `json:"longest_ns"` // longest of their times
	Late      int64 `json:"late"`       // number of those that took at least 100 µs
	LateNs    int64 `json:"late_ns"`    // sum of the times of these
}

// lateWakeNs is how long a thread needs to wake up at most on a machine with a free CPU.
const lateWakeNs = 100_000

func (w *Wakeups) over(ns int64) {
	w.Count++
	w.TotalNs += ns
	w.LongestNs = max(w.LongestNs, ns)
	if ns >= lateWakeNs {
		w.Late++
		w.LateNs += ns
	}
}

// IdleWait is the time that goroutines of the program waited for one [IdleCause], although a P was free.
type IdleWait struct {
	Cause IdleCause `json:"cause"` // "p-waking-up/runtime", "p-waking-up/kernel", "idle-p-available/runtime" or "idle-p-available/kernel"
	Ns    int64     `json:"ns"`    // goroutine-time
}

// WakePath is the time, part by part, from wake-up of threads to their first goroutine.
type WakePath struct {
	// Kind is "start" for all, "steal" for those that stole the goroutine, "handoff" for
	// those that took a P retaken, or given up for a system call or a locked goroutine.
	Kind    string   `json:"kind"`
	Count   int64    `json:"count"`   // how many
	Decided WakePart `json:"decided"` // from the goroutine being runnable, for "handoff" from the P being free, until the runtime woke the thread
	Woken   WakePart `json:"woken"`   // from there until the thread was on a CPU
	Ran     WakePart `json:"ran"`     // from there until it ran the goroutine
}

// WakePart is a part of a WakePath; more than 1 s counts as 1 s.
type WakePart struct {
	P50Ns int64 `json:"p50_ns"` // median
	P99Ns int64 `json:"p99_ns"` // 99th percentile
}

// Stops are times in which threads of the program were stopped.
type Stops struct {
	Count     int64 `json:"count"`      // how many
	TotalNs   int64 `json:"total_ns"`   // sum of their lengths
	LongestNs int64 `json:"longest_ns"` // length of the longest
	LongestAt int64 `json:"longest_at"` // beginning of the longest, ns since the first event of the trace
}

// over ends one that began at a time, and of which ns count.
func (s *Stops) over(at, ns int64) {
	if ns == 0 {
		return
	}
	s.Count++
	s.TotalNs += ns
	if ns > s.LongestNs {
		s.LongestNs, s.LongestAt = ns, at
	}
}

// CPUUse is for how long one CPU ran the program, other threads, or nothing.
type CPUUse struct {
	CPU       int32 `json:"cpu"`        // its ID
	ProgramNs int64 `json:"program_ns"` // threads of the program that run goroutines
	OthersNs  int64 `json:"others_ns"`  // all other threads
	IdleNs    int64 `json:"idle_ns"`    // idle
	UnknownNs int64 `json:"unknown_ns"` // without records
	Seen      bool  `json:"-"`
}

// ProcessUse is the CPU time of the threads of one name.
type ProcessUse struct {
	Name      string `json:"name"`              // the kernel's: the first 15 bytes
	Program   bool   `json:"program,omitempty"` // the program of the trace
	Threads   int64  `json:"threads"`           // threads that were on a CPU
	CPUNs     int64  `json:"cpu_ns"`            // CPU time
	InsteadNs int64  `json:"instead_ns"`        // part of it while a thread with a goroutine waited for that CPU, summed over such threads
}

// ClassOnOff is the split of the running time of a class.
type ClassOnOff struct {
	ID      int32  `json:"-"`       // its handle, or breakdown.ClassOthers
	Name    string `json:"name"`    // start function of the class
	Creator string `json:"creator"` // function that executed the go statement
	OnOff
}

// POnOff is the split of the running time of a P.
type POnOff struct {
	P int32 `json:"p"` // its ID
	OnOff
}

const maxProcesses = 16

// Facts are results of other accumulators that [Accumulator.Finish] needs. Times are in ns.
type Facts struct {
	EndNs      int64             // time of the last event
	RecordedNs int64             // recorded time of the window, without gaps
	Live       []ledger.Live     // goroutines alive at the end: ledger.Ledger.Live
	Breakdown  *breakdown.Result // running time by class
	Procs      *procs.Result     // running time by P
	// Process, if set, returns what outputs have in place of the kernel's name of a process.
	Process func(name string) string
}

// Finish ends all at the end of the trace, and returns the result. The error means that
// the records do not belong to the trace. The Accumulator cannot be used afterwards.
func (m *Accumulator) Finish(f Facts) (*Machine, error) {
	m.now = max(m.now, f.EndNs)
	m.stretches = &ledger.CPUs{}
	if err := m.advance(m.now); err != nil {
		return nil, err
	}
	for _, o := range f.Live {
		if o.Slot >= m.slots {
			continue
		}
		if k := *m.runs.At(o.Slot); k != nil {
			m.over(k)
		}
		m.fold(o.G, o.Slot, o.Class)
	}
	seen := m.inside[0] + m.inside[1]
	share := float64(m.inside[0]) / float64(max(1, seen))
	switch {
	case seen == 0:
		return nil, m.r.fail(fmt.Errorf("%w: no goroutine starts or stops within their time", ErrOther))
	case share < 0.5, share < enough && m.clock.Compared == 0:
		return nil, m.r.fail(fmt.Errorf("%w: threads were on a CPU at %s of their events only", ErrOther, quantity.Percent(share)))
	}
	if m.still > 0 {
		m.stops.over(m.stillAt, m.counted(m.stillAt, m.last))
	}
	out := &Machine{
		ShiftNs: m.clock.ShiftNs, ErrorNs: m.clock.ErrorNs, ResolutionNs: m.r.ResolutionNs(), InsideShare: share, Mapped: len(m.clock.Threads),
		FromNs: m.first, ToNs: m.last, Records: m.r.records, Missing: m.missing, Lost: m.lost, Off: m.off, Wakeups: m.wakes, Stops: m.stops,
		CPUs: m.finishCPUs(), ByProcess: m.processes(f.Process), Classes: m.classes(f.Breakdown), Ps: []POnOff{},
		IdleWaits: []IdleWait{
			{CauseWakingRuntime, m.idling.wakingRuntime}, {CauseWakingKernel, m.idling.wakingKernel},
			{CauseMissedRuntime, m.idling.missedRuntime}, {CauseMissedKernel, m.idling.missedKernel},
		},
		WakePaths: m.wakePaths(),
	}
	var off part
	for _, p := range m.class {
		off.add(p)
	}
	out.OnOff = split(f.Breakdown.Program.RunningNs+f.Breakdown.Runtime.RunningNs, off)
	if f.RecordedNs > 0 {
		out.NeededCPUs = float64(out.RunningNs) / float64(f.RecordedNs)
		out.HadCPUs = float64(out.OnCPUNs) / float64(f.RecordedNs)
	}
	for i := range f.Procs.Ps {
		p := &f.Procs.Ps[i]
		var of part
		if x := m.ps.Find(p.P); x != nil {
			of = *x
		}
		out.Ps = append(out.Ps, POnOff{P: p.P, OnOff: split(p.RunningNs, of)})
	}
	return out, nil
}

// until is up to when the records tell who is on the CPUs.
func (m *Accumulator) until() int64 {
	if m.ended {
		return m.last
	}
	return m.now
}

func (m *Accumulator) finishCPUs() []CPUUse {
	out := []CPUUse{}
	for i := range m.cpus {
		c := &m.cpus[i]
		if c.known {
			m.occupied(c, m.until())
			c.since = m.until()
		}
		if c.Seen {
			m.addOn(ledger.OnCPU{From: c.since, To: m.now, CPU: c.CPU, Who: ledger.OnUnknown})
			out = append(out, c.CPUUse)
		}
	}
	return out
}

func (m *Accumulator) classes(b *breakdown.Result) []ClassOnOff {
	of := map[int32]part{}
	for i, p := range m.class {
		id := breakdown.ClassOthers
		if i < maxClasses {
			id = m.handles[i]
		}
		of[id] = p
	}
	out := []ClassOnOff{}
	for i := range b.Classes {
		c := &b.Classes[i]
		if c.RunningNs > 0 {
			out = append(out, ClassOnOff{c.ID, c.Name, c.Creator, split(c.RunningNs, of[c.ID])})
		}
	}
	slices.SortStableFunc(out, func(x, y ClassOnOff) int { return cmp.Compare(y.OffCPUNs, x.OffCPUNs) })
	return out
}

func (m *Accumulator) processes(called func(string) string) []ProcessUse {
	// A thread is one of the program if it ran goroutines, or is of the same process as one that did.
	groups := map[int32]bool{}
	for _, k := range m.tasks {
		if k.ours && k.group != 0 {
			groups[k.group] = true
		}
	}
	byName := map[string]*ProcessUse{}
	for _, k := range m.tasks {
		if k.cpuNs == 0 && k.insteadNs == 0 {
			continue
		}
		name, key := processName(m.r.Name(k.comm)), ""
		if !k.ours && !groups[k.group] {
			key = name
		}
		p := byName[key]
		if p == nil {
			p = &ProcessUse{Name: name, Program: key == ""}
			byName[key] = p
		}
		if p.Program {
			p.Name = min(p.Name, name) // of several, always the same
		}
		p.Threads++
		p.CPUNs += k.cpuNs
		p.InsteadNs += k.insteadNs
	}
	out := []ProcessUse{}
	for _, p := range byName {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(x, y ProcessUse) int {
		return cmp.Or(cmp.Compare(y.InsteadNs, x.InsteadNs), cmp.Compare(y.CPUNs, x.CPUNs), strings.Compare(x.Name, y.Name))
	})
	others := ProcessUse{Name: otherComm, CPUNs: m.rest.cpuNs, InsteadNs: m.rest.insteadNs}
	for len(out) > maxProcesses {
		p := &out[len(out)-1]
		if p.Program { // it stays
			out[len(out)-2], *p = *p, out[len(out)-2]
		}
		others.Threads += p.Threads
		others.CPUNs += p.CPUNs
		others.InsteadNs += p.InsteadNs
		out = out[:len(out)-1]
	}
	for i := range out {
		if called != nil {
			out[i].Name = called(out[i].Name)
		}
	}
	if others.CPUNs > 0 {
		out = append(out, others)
	}
	return out
}

// processName is the name of a thread without what tells the threads of the kernel on
// several CPUs apart, as in ksoftirqd/0 and kworker/1:1H.
func processName(comm string) string {
	if i := strings.LastIndexByte(comm, '/'); i > 0 && i+1 < len(comm) && (comm[i+1] >= '0' && comm[i+1] <= '9' || comm[i+1] == 'u') {
		return comm[:i]
	}
	return comm
}

package timeline

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/ledger"
)

// The limits of what is kept of the kernel's records.
const (
	ringCPUs     = 64 * 1024 // stretches on and off the CPUs each, from which windows are cut
	maxCPULanes  = 256
	maxProcesses = 256 // names that are told apart
)

// The names in CPUs.Processes that stand for no process of a name.
const (
	processProgram = iota
	processUnknown
	processOthers
)

// CPUs is the use of the CPUs over time, by the kernel's records, in Bins bins of BinNs from
// the beginning of the timeline on.
type CPUs struct {
	BinNs       int64     `json:"bin_ns"`                 // width of a bin
	Bins        int       `json:"bins"`                   // number of bins
	Lanes       []CPULane `json:"lanes"`                  // by CPU
	Off         []POff    `json:"off"`                    // by P
	Processes   []string  `json:"processes"`              // names of the threads in windows, at most 256; the first three stand for the program, unknown, and further ones
	OmittedCPUs int32     `json:"omitted_cpus,omitempty"` // CPUs beyond the 256 lanes; absent if none
}

// CPULane is one CPU. Each share is the part of the bin in 1/255, and the rest to 255 is
// idle.
type CPULane struct {
	CPU     int32   `json:"cpu"`     // its ID
	Program []uint8 `json:"program"` // threads of the program that run goroutines
	Others  []uint8 `json:"others"`  // all other threads
	Unknown []uint8 `json:"unknown"` // without records
}

// POff is the time in which a P ran a goroutine whose thread had no CPU.
type POff struct {
	P   int32   `json:"p"`   // its ID
	Off []uint8 `json:"off"` // part of the bin in 1/255
}

// OnCPU is a stretch in which a CPU was not idle.
type OnCPU struct {
	CPU     int32 `json:"cpu"`         // its ID
	From    int64 `json:"from"`        // ns
	To      int64 `json:"to"`          // ns
	M       int64 `json:"m,omitempty"` // thread of the program; absent if of another, or unknown
	Process int32 `json:"process"`     // index in processes
}

// OffCPU is a stretch in which the thread of the goroutine on a P was on no CPU.
type OffCPU struct {
	P    int32 `json:"p"`    // its ID
	From int64 `json:"from"` // ns
	To   int64 `json:"to"`   // ns
	CPU  int32 `json:"cpu"`  // CPU that it was on last, or was to run on; -1 if unknown
	// Why is "turn" (another thread had the CPU), "idle" (the CPU was idle), "stopped" (by a
	// signal), "blocked" (in the kernel); absent if unknown.
	Why string `json:"why,omitempty"`
}

var lacks = [...]string{
	ledger.LackUnknown: "", ledger.LackTurn: "turn", ledger.LackIdle: "idle", ledger.LackStopped: "stopped", ledger.LackBlocked: "blocked",
}

// machine follows who had the CPUs. Its memory depends on the number of CPUs and Ps only.
type machine struct {
	on     ring[ledger.OnCPU] // in the order of their ends, nearly
	off    ring[ledger.OffCPUSpan]
	nowOn  []ledger.OnCPU // not over at the end of the last block
	nowOff []ledger.OffCPUSpan

	calls   int64 // of ObserveCPUs
	from    int64 // where bins begin, ns of the trace
	shift   uint  // bins are 2^shift ns wide
	maxBins int   // as of now: falls as lanes are added
	lanes   []cpuLane
	byCPU   map[int32]int
	lacking []sums // by P: how long it ran goroutines without a CPU
	omitted map[int32]bool
}

// cpuLane is one CPU.
type cpuLane struct {
	cpu  int32
	at   int64   // by which call of ObserveCPUs it was told first
	sums [3]sums // by occupant
}

// sums are ns by bin.
type sums []uint64

// ObserveCPUs processes the use of CPUs that was in no block. Call it before Finish.
func (a *Accumulator) ObserveCPUs(c *ledger.CPUs) {
	if len(c.On)+len(c.OpenOn)+len(c.Off)+len(c.OpenOff) == 0 {
		return
	}
	if a.machine == nil {
		a.machine = &machine{
			on: newRing[ledger.OnCPU](ringCPUs), off: newRing[ledger.OffCPUSpan](ringCPUs),
			from: a.from, shift: firstShift, maxBins: DefaultMaxBins, byCPU: map[int32]int{}, omitted: map[int32]bool{},
		}
	}
	m := a.machine
	m.calls++
	for i := range c.OpenOn {
		m.lane(c.OpenOn[i].CPU)
	}
	for i := range c.On {
		x := &c.On[i]
		*m.on.next() = *x
		if l := m.lane(x.CPU); l != nil {
			m.add(&l.sums[x.Who], x.From, x.To)
		}
	}
	for i := range c.Off {
		x := &c.Off[i]
		*m.off.next() = *x
		if x.P >= 0 && x.P < maxLanes {
			lacking := at(&m.lacking, int(x.P))
			m.bound()
			m.add(lacking, x.From, x.To)
		}
	}
	m.nowOn, m.nowOff = append(m.nowOn[:0], c.OpenOn...), append(m.nowOff[:0], c.OpenOff...)
}

// lane returns that of a CPU, and nil if it gets none.
func (m *machine) lane(cpu int32) *cpuLane {
	i, ok := m.byCPU[cpu]
	if ok {
		return &m.lanes[i]
	}
	if len(m.lanes) == maxCPULanes {
		if len(m.omitted) < maxLanes {
			m.omitted[cpu] = true
		}
		return nil
	}
	m.byCPU[cpu] = len(m.lanes)
	m.lanes = append(m.lanes, cpuLane{cpu: cpu, at: m.calls})
	m.bound()
	return &m.lanes[len(m.lanes)-1]
}

// bound keeps lanes x bins small.
func (m *machine) bound() {
	for m.maxBins > minBins && (3*len(m.lanes)+len(m.lacking))*m.maxBins > DefaultMaxCells {
		m.maxBins = max(minBins, m.maxBins/2)
	}
}

// add adds [from, to), ns of the trace, to s, which is one of those of m.
func (m *machine) add(s *sums, from, to int64) {
	from, to = max(0, from-m.from), min(to-m.from, maxTime)
	if to <= from {
		return
	}
	for (to-1)>>m.shift >= int64(m.maxBins) {
		m.merge()
	}
	for from < to {
		bin := int(from >> m.shift)
		end := min(to, int64(bin+1)<<m.shift)
		*at(s, bin) += uint64(end - from)
		from = end
	}
}

func (m *machine) merge() {
	halve := func(all []sums) {
		for i := range all {
			all[i] = histogram.Halve(all[i], func(x, y uint64) uint64 { return x + y })
		}
	}
	for i := range m.lanes {
		halve(m.lanes[i].sums[:])
	}
	halve(m.lacking)
	m.shift++
}

// cut adds to w what is known of the CPUs in it, of at most most stretches each on and off
// them the last ones.
func (m *machine) cut(w *Window, most int) {
	lo, hi := w.FromNs+m.from, w.ToNs+m.from
	on, from := lastOf(&m.on, m.nowOn, lo, hi, most, func(x *ledger.OnCPU) (int64, int64) { return x.From, x.To })
	off, since := lastOf(&m.off, m.nowOff, lo, hi, most, func(x *ledger.OffCPUSpan) (int64, int64) { return x.From, x.To })
	lo = max(from, since)
	w.CPUsFromNs = lo - m.from
	for i := range on {
		if _, ok := m.byCPU[on[i].CPU]; ok && on[i].To > lo {
			w.OnCPU = append(w.OnCPU, m.exportCPU(&on[i], lo, hi))
		}
	}
	slices.SortFunc(w.OnCPU, func(x, y OnCPU) int { return cmp.Or(cmp.Compare(x.CPU, y.CPU), cmp.Compare(x.From, y.From)) })
	for _, x := range off {
		if x.To > lo {
			w.OffCPU = append(w.OffCPU, OffCPU{P: x.P, From: max(x.From, lo) - m.from, To: min(x.To, hi) - m.from, CPU: max(-1, x.CPU), Why: lacks[x.Why]})
		}
	}
	slices.SortFunc(w.OffCPU, func(x, y OffCPU) int { return cmp.Or(cmp.Compare(x.P, y.P), cmp.Compare(x.From, y.From)) })
}

// lastOf returns what of r and now lies in [lo, hi], at most most, and from when on that is
// complete.
func lastOf[T any](r *ring[T], now []T, lo, hi int64, most int, span func(*T) (from, to int64)) (out []T, since int64) {
	since = lo
	for i := range now {
		if from, to := span(&now[i]); from < hi && to > lo {
			out = append(out, now[i])
		}
	}
	first := r.first()
	for i := r.n - 1; i >= first; i-- {
		x := r.at(i)
		from, to := span(x)
		if from >= hi || to <= lo {
			continue
		}
		if len(out) >= most {
			return out, max(since, min(to, hi))
		}
		out = append(out, *x)
	}
	if first > 0 {
		_, to := span(r.at(first))
		since = max(since, min(to, hi))
	}
	return out, since
}

// unseen adds to a window that was cut out after so many calls of ObserveCPUs that nothing was known
// then of CPUs that were told later.
func (m *machine) unseen(w *Window, calls int64) {
	for i := range m.lanes {
		if l := &m.lanes[i]; l.at > calls {
			w.OnCPU = append(w.OnCPU, OnCPU{CPU: l.cpu, From: w.CPUsFromNs, To: w.ToNs, Process: processUnknown})
		}
	}
}

// result is what is shown of a picture that ends at end, ns from its beginning. It gives
// windows the numbers of processes for handles, which name says the names of.
func (m *machine) result(end int64, windows []Window, name func(int32) string) *CPUs {
	r := &CPUs{
		BinNs: 1 << m.shift, Bins: max(1, int((end+(1<<m.shift-1))>>m.shift)),
		Lanes: []CPULane{}, Off: []POff{}, Processes: []string{"this program", "not known", "(others)"}, OmittedCPUs: int32(len(m.omitted)),
	}
	for i := range m.lanes {
		l := &m.lanes[i]
		parts := m.shares(r.Bins, end, l.sums[:]...)
		r.Lanes = append(r.Lanes, CPULane{CPU: l.cpu, Program: parts[ledger.OnProgram], Others: parts[ledger.OnOther], Unknown: parts[ledger.OnUnknown]})
	}
	slices.SortFunc(r.Lanes, func(x, y CPULane) int { return cmp.Compare(x.CPU, y.CPU) })
	for p, s := range m.lacking {
		if len(s) > 0 {
			r.Off = append(r.Off, POff{P: int32(p), Off: m.shares(r.Bins, end, s)[0]})
		}
	}
	r.resolve(windows, name)
	return r
}

// resolve gives windows the numbers of processes for handles.
func (r *CPUs) resolve(windows []Window, name func(int32) string) {
	numbers := map[string]int32{}
	for i := range windows {
		on := windows[i].OnCPU
		for j := range on {
			x := &on[j]
			if x.Process <= processOthers { // handle 0 stands for names that are not told apart
				continue
			}
			s := name(x.Process - processOthers)
			n, ok := numbers[s]
			if !ok {
				n = processOthers
				if len(r.Processes) < maxProcesses {
					n, r.Processes = int32(len(r.Processes)), append(r.Processes, s)
				}
				numbers[s] = n
			}
			x.Process = n
		}
	}
}

// shares scales ns by bin to 255.
func (m *machine) shares(bins int, end int64, of ...sums) [][]uint8 {
	return scaled(len(of), bins, m.shift, end, func(i, bin int) uint64 {
		if bin < len(of[i]) {
			return of[i][bin]
		}
		return 0
	})
}

// exportCPU is x as an [OnCPU] in [lo, hi], with a handle after processOthers for the number of a
// process.
func (m *machine) exportCPU(x *ledger.OnCPU, lo, hi int64) OnCPU {
	o := OnCPU{CPU: x.CPU, From: max(x.From, lo) - m.from, To: min(x.To, hi) - m.from}
	switch x.Who {
	case ledger.OnProgram:
		o.M, o.Process = int64(x.Thread), processProgram
	case ledger.OnUnknown:
		o.Process = processUnknown
	default:
		o.Process = processOthers + x.Name
	}
	return o
}

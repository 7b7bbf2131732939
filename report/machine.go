package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what is shown of the machine: in text, and on the page.
const (
	textProcesses    = 8
	textOffClasses   = 8
	pageOffClasses   = 60
	textCPUs         = 32
	pageCPUs         = 256
	maxProcessLetter = 40 // letters of the name of a process
)

// MachineSection returns the section about the CPUs that threads with goroutines had or
// lacked, by the kernel's records; nil without records.
func MachineSection(r *analyze.Result) *doc.Section {
	k := r.Kernel
	if k == nil {
		return nil
	}
	s := &doc.Section{ID: "machine", Title: "The machine"}
	for _, text := range machineLead(k) {
		s.Blocks = append(s.Blocks, doc.Para{Text: text})
	}
	processes := doc.Table{Most: textProcesses, One: "more process", Many: "more processes", Columns: []doc.Column{{Title: "who had the CPUs", Left: true}, {Title: "threads"}, {Title: "on a CPU"}, {Title: "while the program waited for that CPU"}}}
	by := slices.Clone(k.ByProcess)
	if at := slices.IndexFunc(by, func(p kernel.ProcessUse) bool { return p.Program }); at >= textProcesses { // text shows it too
		by = slices.Insert(slices.Delete(by, at, at+1), textProcesses-1, k.ByProcess[at])
	}
	for i := range by {
		p, name := &by[i], words.Cut(words.Visible(by[i].Name), maxProcessLetter)
		if p.Program {
			name += " (this program)"
		}
		processes.Rows = append(processes.Rows, doc.Row{Cells: []doc.Cell{{Text: name}, doc.Count(p.Threads), doc.Duration(p.CPUNs), doc.Duration(p.InsteadNs)}})
	}
	cpus := doc.Table{Most: textCPUs, More: max(0, len(k.CPUs)-pageCPUs), One: "more CPU", Many: "more CPUs", Columns: []doc.Column{{Title: "CPU", Left: true}, {Title: "program"}, {Title: "others"}, {Title: "idle"}, {Title: "not known"}}}
	for _, c := range k.CPUs[:min(len(k.CPUs), pageCPUs)] {
		row := doc.Row{Cells: []doc.Cell{{Text: "CPU " + quantity.Count(int64(c.CPU))}}}
		for _, ns := range []int64{c.ProgramNs, c.OthersNs, c.IdleNs, c.UnknownNs} {
			row.Cells = append(row.Cells, doc.Share(ns, c.ProgramNs+c.OthersNs+c.IdleNs+c.UnknownNs))
		}
		cpus.Rows = append(cpus.Rows, row)
	}
	s.Blocks = append(s.Blocks, processes, cpus)
	woken := doc.Table{Columns: []doc.Column{{Title: "threads that were woken", Left: true}, {Title: "number"}, {Title: "until asked, p50"}, {Title: "p99"}, {Title: "until on a CPU, p50"}, {Title: "p99"}, {Title: "until it ran, p50"}, {Title: "p99"}}}
	for i := range k.WakePaths {
		p := &k.WakePaths[i]
		row := doc.Row{Cells: []doc.Cell{{Text: cmp.Or(wakeKinds[p.Kind], "for a goroutine")}, doc.Count(p.Count)}}
		for _, part := range []kernel.WakePart{p.Decided, p.Woken, p.Ran} {
			row.Cells = append(row.Cells, doc.Duration(part.P50Ns), doc.Duration(part.P99Ns))
		}
		woken.Rows = append(woken.Rows, row)
	}
	off := doc.Table{Most: textOffClasses, One: "more group", Many: "more groups", Columns: []doc.Column{{Title: "goroutine group", Left: true, Cut: 40}, {Title: "ran by the trace"}, {Title: "on a CPU"}, {Title: "off it"}, {Title: "share off it"}}}
	for _, c := range k.Classes[:min(len(k.Classes), pageOffClasses)] {
		if c.OffCPUNs > 0 && 1000*c.OffCPUNs >= k.OffCPUNs {
			off.Rows = append(off.Rows, doc.Row{Cells: []doc.Cell{{Name: cmp.Or(c.Name, words.Unknown)}, doc.Duration(c.RunningNs), doc.Duration(c.OnCPUNs), doc.Duration(c.OffCPUNs), doc.Number(quantity.Percent(c.OffShare()), c.OffShare())}})
		}
	}
	for _, t := range []doc.Table{woken, off} {
		if len(t.Rows) > 0 {
			s.Blocks = append(s.Blocks, t)
		}
	}
	return s
}

// wakeKinds has what the kinds of kernel.WakePath are, but for those for a goroutine.
var wakeKinds = map[string]string{"steal": "of them, to steal", "handoff": "for a P handed off"}

// idleWaitsInWords reports whose the waiting is for which a P was idle.
func idleWaitsInWords(k *kernel.Machine) string {
	ns := map[kernel.IdleCause]int64{}
	for _, w := range k.IdleWaits {
		ns[w.Cause] = w.Ns
	}
	missed := ns[kernel.CauseMissedRuntime] + ns[kernel.CauseMissedKernel]
	waking := ns[kernel.CauseWakingRuntime] + ns[kernel.CauseWakingKernel]
	if missed+waking == 0 {
		return ""
	}
	return fmt.Sprintf("Goroutines waited %s beside an idle P, %s of it while a thread had been woken and had no CPU yet; and %s for a P that was waking up, %s of it without a CPU.",
		quantity.Duration(missed), quantity.Duration(ns[kernel.CauseMissedKernel]), quantity.Duration(waking), quantity.Duration(ns[kernel.CauseWakingKernel]))
}

// machineLead reports in sentences how much of the time goroutines had a CPU.
func machineLead(k *kernel.Machine) []string {
	out := []string{fmt.Sprintf("By the kernel's records, goroutines had a CPU for %s of the %s for which they ran by the trace, %s of %s; for %s (%s) their thread had none.",
		quantity.Duration(k.OnCPUNs), quantity.Duration(k.RunningNs), quantity.Number(k.HadCPUs), quantity.Amount(k.NeededCPUs, "CPU", "CPUs"), quantity.Duration(k.OffCPUNs), quantity.Percent(k.OffShare()))}
	if s := offCauses(&k.Off); s != "" {
		out = append(out, s)
	}
	if w := &k.Wakeups; w.Count > 0 {
		out = append(out, fmt.Sprintf("Threads that were woken were on a CPU %s later on average, %s at the longest; %s of %s took 100 µs or more.",
			quantity.Duration(w.TotalNs/w.Count), quantity.Duration(w.LongestNs), quantity.Count(w.Late), quantity.Plural(w.Count, "wake-up", "wake-ups")))
	}
	if s := idleWaitsInWords(k); s != "" {
		out = append(out, s)
	}
	if s := &k.Stops; s.Count > 0 {
		out = append(out, fmt.Sprintf("The process was stopped by a signal or a debugger %s, for %s in all, %s at the longest.",
			times(s.Count), quantity.Duration(s.TotalNs), quantity.Duration(s.LongestNs)))
	}
	if c := k.Cgroup; c != nil {
		out = append(out, fmt.Sprintf("The cpu.stat of its control group says that %s of %s of its CPU quota were used up, and that threads were held up for %s, summed over CPUs, since the group was made.",
			quantity.Count(c.Throttled), quantity.Plural(c.Periods, "period", "periods"), quantity.Duration(c.ThrottledNs)))
	}
	return append(out, clockInWords(k))
}

// times is a number of times in words.
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return quantity.Count(n) + " times"
}

// offCauses reports what kept threads off the CPUs.
func offCauses(o *kernel.OffBy) string {
	type cause struct {
		ns   int64
		what string
	}
	causes := []cause{
		{o.OthersNs, "its CPU ran another program"},
		{o.OwnNs, "its CPU ran another thread of this program"},
		{o.IdleNs, "its CPU was idle, which a quota does"},
		{o.StoppedNs, "it was stopped by a signal or a debugger"},
		{o.BlockedNs, "it slept in the kernel"},
		{o.UnknownNs, "it is not known who had its CPU"},
	}
	whole := quantity.Sum(causes, func(c *cause) int64 { return c.ns })
	var parts []string
	for _, c := range words.Largest(causes, func(c cause) int64 { return c.ns }) {
		if 100*c.ns >= whole {
			parts = append(parts, "for "+quantity.Duration(c.ns)+" "+c.what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Why a thread had none: " + words.List(parts) + "."
}

// clockInWords reports how the clocks of trace and records relate.
func clockInWords(k *kernel.Machine) string {
	s := "The clocks of trace and records are the same"
	if k.ShiftNs != 0 {
		s = fmt.Sprintf("The clock of the records is shifted by %s against that of the trace", quantity.Duration(max(k.ShiftNs, -k.ShiftNs)))
	}
	s += fmt.Sprintf(", give or take %s; threads were on a CPU at %s of their events.", quantity.Duration(k.ErrorNs), quantity.Percent(k.InsideShare))
	if k.Mapped > 0 {
		s += fmt.Sprintf(" The program's threads have other numbers in the records, those outside its PID namespace: %s told by when they ran.", quantity.Plural(int64(k.Mapped), "is", "are"))
	}
	if k.Lost > 0 {
		s += fmt.Sprintf(" Records are missing in %s.", quantity.Plural(k.Lost, "place", "places"))
	}
	if k.Missing > 0 {
		s += fmt.Sprintf(" Without a mark, %s missing.", quantity.Plural(k.Missing, "record of a switch is", "records of switches are"))
	}
	if k.UnknownNs > 0 {
		s += fmt.Sprintf(" Of %s of the running time the records tell nothing; it counts as on a CPU.", quantity.Duration(k.UnknownNs))
	}
	return s
}

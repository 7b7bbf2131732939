package html

import (
	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

const (
	maxCPUs       = 256
	maxOffClasses = 60
)

// machineView is what the kernel's records tell.
type machineView struct {
	Lead      []string
	Processes []row
	CPUs      []row
	MoreCPUs  int
	WakePaths []row
	Classes   []offClass
}

// offClass is a class that lacked a CPU.
type offClass struct {
	Name  Name
	Cells []cell
}

// newMachine returns nil if there are no records of the kernel's.
func newMachine(r *analyze.Result, names *words.Names) *machineView {
	k := r.Kernel
	if k == nil {
		return nil
	}
	v := &machineView{Lead: report.MachineLead(k), MoreCPUs: max(0, len(k.CPUs)-maxCPUs)}
	for i := range k.ByProcess {
		p := &k.ByProcess[i]
		v.Processes = append(v.Processes, row{Label: report.ProcessName(p), Cells: []cell{
			intCell(quantity.Count(p.Threads), p.Threads), timed(p.CPUNs), timed(p.InsteadNs),
		}})
	}
	for _, c := range k.CPUs[:min(len(k.CPUs), maxCPUs)] {
		v.CPUs = append(v.CPUs, cpuRow(&c))
	}
	for i := range k.WakePaths {
		v.WakePaths = append(v.WakePaths, wakePathRow(&k.WakePaths[i]))
	}
	for i := range k.Classes[:min(len(k.Classes), maxOffClasses)] {
		if c := &k.Classes[i]; report.WorthOff(k, c) {
			v.Classes = append(v.Classes, offClass{Name: className(c.Name, names), Cells: []cell{
				timed(c.RunningNs), timed(c.OnCPUNs), timed(c.OffCPUNs), floatCell(quantity.Percent(c.OffShare()), c.OffShare()),
			}})
		}
	}
	return v
}

// timed is a cell with a time.
func timed(ns int64) cell { return intCell(quantity.Duration(ns), ns) }

func wakePathRow(p *kernel.WakePath) row {
	out := row{Label: report.WakeKind(p.Kind), Cells: []cell{intCell(quantity.Count(p.Count), p.Count)}}
	for _, part := range []kernel.WakePart{p.Decided, p.Woken, p.Ran} {
		out.Cells = append(out.Cells, timed(part.P50Ns), timed(part.P99Ns))
	}
	return out
}

func cpuRow(c *kernel.CPUUse) row {
	whole := c.ProgramNs + c.OthersNs + c.IdleNs + c.UnknownNs
	out := row{Label: "CPU " + quantity.Count(int64(c.CPU))}
	for _, ns := range []int64{c.ProgramNs, c.OthersNs, c.IdleNs, c.UnknownNs} {
		out.Cells = append(out.Cells, intCell(quantity.Part(ns, whole), ns))
	}
	return out
}

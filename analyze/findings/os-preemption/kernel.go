package ospreemption

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// byKernel judges by the kernel's records: certain, or ruled out.
func (w *watcher) byKernel(f *findings.Facts, m *kernel.Machine) []findings.Finding {
	o := &m.Off
	lost := o.OthersNs + o.OwnNs + o.UnknownNs + o.IdleNs - o.ThrottledNs
	share := float64(lost) / float64(max(1, m.RunningNs))
	if share < w.t.NoteShare {
		return nil
	}
	severity, ok := w.severity(f, &proof{Finding: findings.Finding{CostNs: lost}, share: share, warning: w.t.WarningShare, sure: true})
	if !ok {
		return nil
	}
	x := findings.Finding{
		Severity: severity, CostNs: lost, ToNs: f.EndNs, Basis: findings.Certain, Proven: true, Actors: f.OffVictims(m),
		Evidence: append(findings.EvidenceOf(m),
			findings.Measured("threads were ready to run, and another program had their CPU", findings.Time(o.OthersNs)),
			findings.Measured("another thread of this program had it", findings.Time(o.OwnNs)),
			findings.Measured("both, and what is not known, as a share of the running time", findings.Share(share).Of(lost), findings.Share(w.t.NoteShare)),
		),
	}
	if who := culprit(m, lost); who != nil {
		w.blameOther(f, m, who, &x)
	} else {
		w.blamePs(f, m, &x)
	}
	return []findings.Finding{x}
}

// culprit is the process that had most of the CPUs, if other processes had them for half of
// the time that the program lacked, or longer: a thread that waits behind another one of
// the program does so because others have the CPUs. Nil if the program had them itself.
func culprit(m *kernel.Machine, lost int64) *kernel.ProcessUse {
	var all int64
	var most *kernel.ProcessUse
	for i := range m.ByProcess {
		p := &m.ByProcess[i]
		if p.Program {
			continue
		}
		all += p.CPUNs
		if most == nil || p.CPUNs > most.CPUNs {
			most = p
		}
	}
	if 2*all < lost {
		return nil
	}
	return most
}

// blameOther is about another process that had the CPUs.
func (w *watcher) blameOther(f *findings.Facts, m *kernel.Machine, who *kernel.ProcessUse, x *findings.Finding) {
	x.Headline = findings.Say("%s; %s had the rest", findings.Had(m), who.Name)
	x.Title = findings.Say("%s: for %s of their running time goroutines had no CPU, while other processes had the CPUs, most of all %s (%s)",
		findings.Had(m), quantity.Percent(m.OffShare()), who.Name, quantity.Duration(who.CPUNs))
	x.Measured("CPU time of "+who.Name, findings.Time(who.CPUNs))
	x.Advise("Keep %s off the CPUs of this program (cpuset, nice, CPU weights), give the program more CPUs, or lower GOMAXPROCS, %s here, to what is left.", who.Name, quantity.Count(int64(max(1, f.GOMAXPROCS))))
	x.Advise("Do not judge the program by this recording alone: waits, runs and locks contain time in which nothing ran.")
}

// blamePs is about more Ps than CPUs.
func (w *watcher) blamePs(f *findings.Facts, m *kernel.Machine, x *findings.Finding) {
	x.Headline = findings.Say("%s: %s on %s", findings.Had(m), quantity.Plural(int64(f.GOMAXPROCS), "P", "Ps"), quantity.Plural(int64(len(m.CPUs)), "CPU", "CPUs"))
	x.Title = findings.Say("%s: its own threads took turns on the CPUs, and goroutines had none for %s of their running time; the records show %s, and GOMAXPROCS is %s",
		findings.Had(m), quantity.Percent(m.OffShare()), quantity.Plural(int64(len(m.CPUs)), "CPU", "CPUs"), quantity.Count(int64(f.GOMAXPROCS)))
	x.Advise("Set GOMAXPROCS to the number of CPUs that the program may use: with more Ps, threads take turns on the CPUs, and the runtime can neither see nor order that. Or give the process more CPUs.")
}

package findings

import (
	"math"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// RanNs returns the total running time of goroutines of any kind, in ns: those of the
// program, of the runtime and of the tracer, and mark workers. System calls are left out,
// since a thread in one may need no CPU.
func (f *Facts) RanNs() (ns int64) {
	for i := range f.Procs.Ps {
		p := &f.Procs.Ps[i]
		ns += p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs
	}
	return ns
}

// CPUTimeNs returns the most CPU time, in ns, that a process with f.CPUs CPUs can have had in the
// recorded time; 0 if f.CPUs is unknown. A fraction of a CPU can only be a quota: a recording that
// begins and ends within a period may have used all of both, so two whole periods are added.
func (f *Facts) CPUTimeNs() int64 {
	recorded := f.RecordedNs()
	if f.CPUs != math.Trunc(f.CPUs) {
		recorded += 2 * quotaPeriodNs
	}
	return int64(f.CPUs * float64(recorded))
}

// quotaPeriodNs is the default period of a CPU quota (cpu.cfs_period_us, and the second
// number of cpu.max, of the Linux scheduler).
const quotaPeriodNs = 100_000_000

// WithoutCPUNs returns a lower bound of the time, summed over threads, in ns, in which a thread that
// ran a goroutine had no CPU: RanNs beyond CPUTimeNs; 0 if the number of CPUs is unknown.
func (f *Facts) WithoutCPUNs() int64 {
	if f.CPUs == 0 {
		return 0
	}
	return max(0, f.RanNs()-f.CPUTimeNs())
}

// EnoughCPUs reports whether the process is known to have had a CPU for each P.
func (f *Facts) EnoughCPUs() bool {
	return f.GOMAXPROCS > 0 && f.CPUs >= float64(f.GOMAXPROCS)
}

// MorePs reports whether the process is known to have had fewer CPUs than GOMAXPROCS.
func (f *Facts) MorePs() bool {
	return f.CPUs > 0 && f.CPUs < float64(f.GOMAXPROCS)
}

// PsFor returns the GOMAXPROCS that fits f.CPUs, at least 1: a fraction of a CPU counts as one, as the
// runtime has it for a quota (adjustCgroupGOMAXPROCS in runtime/cgroup_linux.go, Go 1.25, which has
// no fewer than two).
func (f *Facts) PsFor() int { return max(1, int(math.Ceil(f.CPUs))) }

// TakesCPUs returns, in words for users, what may have kept the CPUs from threads: what is known to
// be ruled out is left out.
func (f *Facts) TakesCPUs() string {
	if f.EnoughCPUs() {
		return "other programs, a CPU quota"
	}
	return "other programs, a CPU quota, more Ps than CPUs"
}

// EvidenceOfCPUs returns one piece of evidence, the number of CPUs that the process had compared with
// GOMAXPROCS; none if that number is unknown.
func (f *Facts) EvidenceOfCPUs() []Evidence {
	if f.CPUs == 0 {
		return nil
	}
	return []Evidence{Measured("CPUs that the process had, as told", Number(f.CPUs), Said("GOMAXPROCS %s", quantity.Count(int64(f.GOMAXPROCS))))}
}

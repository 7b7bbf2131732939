package replay

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// untrusted reports why a simulation with so many Ps cannot be trusted, for the CPUs that
// the process is said to have had; empty if they were enough, or nobody said. The model
// has a CPU for each P (package sim): of a recording in which threads took turns, it takes
// time without a CPU for work.
func untrusted(t *analyze.Trace, procs int) string {
	switch {
	case t.CPUs == 0:
		return ""
	case float64(t.GOMAXPROCS) > t.CPUs:
		return fmt.Sprintf("the recording had more Ps than CPUs (%s Ps, and %s as told), and the model has a CPU for each P: what-ifs are untrusted",
			quantity.Count(int64(t.GOMAXPROCS)), quantity.Amount(t.CPUs, "CPU", "CPUs"))
	case float64(procs) > t.CPUs:
		return fmt.Sprintf("the process had %s, as told, and the model has a CPU for each of %s: untrusted",
			quantity.Amount(t.CPUs, "CPU", "CPUs"), quantity.Plural(int64(procs), "P", "Ps"))
	}
	return ""
}

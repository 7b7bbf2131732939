package capture

import (
	"errors"
	"fmt"
	"runtime/metrics"
	"strings"
)

// Signal reports whether to capture a trace, with a reason in a few words.
type Signal func() (reason string, ok bool)

// Any returns a Signal that is raised if one of the signals is: its reason is that of the
// first. All are asked each time, since one may look at what happened since it was asked last.
func Any(signals ...Signal) Signal {
	return func() (reason string, ok bool) {
		for _, s := range signals {
			if why, raised := s(); raised && !ok {
				reason, ok = why, true
			}
		}
		return reason, ok
	}
}

// All returns a Signal that is raised if all of the signals are, and there is one; its reason
// has theirs. All are asked each time.
func All(signals ...Signal) Signal {
	return func() (string, bool) {
		var reasons []string
		for _, s := range signals {
			if why, raised := s(); raised {
				reasons = append(reasons, why)
			}
		}
		return strings.Join(reasons, "; "), len(reasons) > 0 && len(reasons) == len(signals)
	}
}

// Runnable returns a Signal that is raised if more than limit goroutines are runnable, that is
// wait for a P, at the moment when it is asked: by the metric
// /sched/goroutines/runnable:goroutines, which is approximate. It fails with Go 1.25, which
// does not have that metric.
func Runnable(limit uint64) (Signal, error) {
	sample := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	if metrics.Read(sample); sample[0].Value.Kind() != metrics.KindUint64 {
		return nil, errors.New("capture: the Go runtime does not count runnable goroutines: build the program with Go 1.26 or newer")
	}
	return func() (string, bool) {
		metrics.Read(sample)
		n := sample[0].Value.Uint64()
		return fmt.Sprintf("%d goroutines are runnable; the limit is %d", n, limit), n > limit
	}, nil
}

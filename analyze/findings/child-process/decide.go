package childprocess

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// site is the waits in one function of the program.
type site struct {
	in, place string
	n, ns     int64
	longest   call
}

// evidence is what a finding says.
type evidence struct {
	alone int64   // for how long nothing else ran
	ns    int64   // of all waits, summed
	sites []*site // longest first
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for _, g := range slices.Sorted(maps.Keys(w.under)) {
		w.over(w.under[g], f.EndNs)
	}
	n := evidence{}
	var all []call
	for _, c := range w.calls {
		if !waits(f.Frames(c.stack)) {
			continue
		}
		all = append(all, c)
		in, place := f.ProgramsFunction(c.stack)
		i := slices.IndexFunc(n.sites, func(s *site) bool { return s.in == in })
		if i < 0 {
			i = len(n.sites)
			n.sites = append(n.sites, &site{in: in, place: place})
		}
		n.sites[i].add(c)
		n.ns += c.to - c.began
	}
	n.alone = alone(all)
	share := f.Share(n.alone)
	if n.alone < w.t.MinNs || share < w.t.NoteShare {
		return nil
	}
	slices.SortStableFunc(n.sites, func(x, y *site) int { return cmp.Or(cmp.Compare(y.ns, x.ns), cmp.Compare(x.in, y.in)) })
	s := findings.Note
	if share >= w.t.WarningShare {
		s = findings.Warning
	}
	most := n.sites[0].longest
	a := f.Class(findings.Cause, most.class)
	a.G, a.Stack = most.g, f.Frames(most.stack)
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: min(n.alone, f.BlockedNs), FromNs: most.began, ToNs: most.to, Basis: findings.Certain, Actors: []findings.Actor{a},
	}
	w.phrase(f, &x, &n)
	return []findings.Finding{x}
}

func (s *site) add(c call) {
	s.n++
	s.ns += c.to - c.began
	if c.to-c.began > s.longest.to-s.longest.began {
		s.longest = c
	}
}

// waits reports whether a system call waits for a process to end: it is made by
// os.(*Process).Wait, whose innermost functions differ with the system and the Go version, or is a
// wait4 of the program's own.
func waits(frames []string) bool {
	return slices.ContainsFunc(frames, func(s string) bool {
		function, _, _ := strings.Cut(s, " ")
		switch function {
		case "os.(*Process).Wait", "os.(*Process).wait", "os.(*Process).blockUntilWaitable", "os.(*Process).pidfdWait",
			"syscall.Wait4", "golang.org/x/sys/unix.Wait4", "golang.org/x/sys/unix.Waitid":
			return true
		}
		return false
	})
}

// alone is for how long at least one of the calls was under way and no goroutine of the program ran.
func alone(calls []call) (ns int64) {
	slices.SortFunc(calls, func(x, y call) int { return cmp.Compare(x.from, y.from) })
	for i := 0; i < len(calls); {
		from, to := &calls[i], &calls[i]
		for ; i < len(calls) && calls[i].from <= to.to; i++ {
			if calls[i].to > to.to {
				to = &calls[i]
			}
		}
		ns += to.to - from.from - (to.busyTo - from.busyFrom)
	}
	return ns
}

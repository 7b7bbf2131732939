package compare

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

var does = map[string]string{
	"running": "runs", "runnable": "waits for a P", "syscall": "is in system calls", "child": "waits for a child process",
	"gc-assist": "works for the garbage collector", "gc-sweep": "sweeps for the garbage collector", "stw": "stops the world", "off-cpu": "is on no CPU",
	"lock": "waits for a lock", "cond": "waits at a sync.Cond", "waitgroup": "waits for a WaitGroup", "channel": "waits at a channel",
	"coroutine": "waits for a coroutine", "select": "waits in a select", "network": "waits for the network", "pipe": "waits for a pipe", "sleep": "sleeps",
	"unknown": "waits, for whom is not known", "rest": "does many other things",
}

// hardlyAny is the share of a part on the other side below which it is gone.
const hardlyAny = 0.1

// why reports in words which part of the time of a kind's units accounts for a change, and the finding
// behind it; "" if none stands out.
func (n shortNames) why(d *decision) string {
	if d.kind == nil || d.Unit != "ns" && d.Better != Higher {
		return ""
	}
	slow := d.Title == "p95" || d.Title == "p99"
	longer := d.worse() // of latency, and of the time for one where fewer get done
	var most *PartShift
	var more int64
	for i := range d.kind.Path {
		p := &d.kind.Path[i]
		b, a := p.ns(slow)
		by := b - a
		if longer {
			by = a - b
		}
		if by > more {
			most, more = p, by
		}
	}
	if most == nil {
		return ""
	}
	b, a := most.ns(slow)
	what := does[most.What]
	if most.Where != "" {
		what += " in " + n.Class(most.Where)
	}
	s := "it " + what + " for less time"
	switch {
	case float64(a) < hardlyAny*float64(b):
		s = "it no longer " + what
	case float64(b) < hardlyAny*float64(a):
		s = "it now " + what
	case longer:
		s = "it " + what + " for longer"
	}
	s += " (" + quantity.Duration(b) + " → " + quantity.Duration(a) + ")"
	if most.By != "" && most.Who != "" {
		s += ", mostly while " + n.Class(most.Who) + " " + does[most.By]
	}
	if most.Finding != "" {
		s += "; finding: " + most.Finding
	}
	return s
}

// ns returns the part on both sides, of a unit on average or of a slow one.
func (p *PartShift) ns(slow bool) (before, after int64) {
	if slow {
		return p.BeforeSlowNs, p.AfterSlowNs
	}
	return p.BeforeNs, p.AfterNs
}

// explain fills in the findings about what changed: on the side where there was more of it.
func explain(k *KindChange, before, after []*analyze.Result) {
	for i := range k.Path {
		p := &k.Path[i]
		rs := before
		if p.AfterNs > p.BeforeNs {
			rs = after
		}
		count := map[string]int{}
		for _, r := range rs {
			if f := findingAbout(r, p); f != nil {
				count[f.ID]++
			}
		}
		for id, n := range count {
			if 2*n >= len(rs) && (n > count[p.Finding] || n == count[p.Finding] && id < p.Finding) {
				p.Finding = id
			}
		}
	}
}

// findingAbout returns the costliest finding that is about a part of the time of units; nil if there is none.
func findingAbout(r *analyze.Result, p *PartShift) (best *findings.Finding) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind == findings.KindTrace || f.Kind == findings.KindMachine || f.Severity == findings.Note || !about(f, p) {
			continue
		}
		if best == nil || f.CostNs > best.CostNs {
			best = f
		}
	}
	return best
}

func about(f *findings.Finding, p *PartShift) bool {
	switch p.What {
	case "runnable":
		return f.CostOf == findings.OfWaiting
	case "running":
		return f.LongRuns
	}
	if p.Where == "" {
		return false
	}
	for i := range f.Actors {
		for _, frame := range f.Actors[i].Stack {
			if function, _, _ := strings.Cut(frame, " ("); function == p.Where {
				return true
			}
		}
	}
	return false
}

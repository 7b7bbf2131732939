package fleet

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// others is the class that stands for those beyond the bounds of a record, as in a result.
const others = "(other classes)"

func contentOf(res *analyze.Result) Content {
	t, rc := &res.Trace, &res.Reconstruction
	c := Content{
		Trace: Trace{
			Format: cut(t.Format), GoVersion: cut(t.GoVersion), Rules: cut(t.Rules.GoVersion), GOMAXPROCS: int64(max(0, t.GOMAXPROCS)),
			DurationNs: t.DurationNs, LostNs: t.LostNs, Bytes: t.Bytes, LostBytes: t.LostBytes, Events: t.Events, Goroutines: t.Goroutines,
			Incomplete: t.Incomplete, Reduced: t.Reduced,
		},
		Starts: Starts{rc.Starts, rc.Explained, rc.Ambiguous, rc.Unexplained},
		User:   waitsOf(&res.Waits.User), Self: waitsOf(&res.Waits.Self), System: waitsOf(&res.Waits.System),
		Ps:      psOf(&res.Procs),
		Spread:  Spread{millionths(res.Fairness.Jain), millionths(res.Pressure.Some), millionths(res.Span.Parallelism)},
		Classes: classesOf(res.Waits.Classes), Work: kindsOf(res.Work.Kinds), Findings: []Finding{}, Worst: []LongWait{},
	}
	if at, err := time.Parse(time.RFC3339, t.Wall); err == nil {
		c.Trace.WallUnix = max(0, at.Unix())
	}
	for i := range res.Findings[:min(len(res.Findings), maxFindings)] {
		f := &res.Findings[i]
		class, _ := f.Subject()
		c.Findings = append(c.Findings, Finding{
			ID: f.ID, Severity: string(f.Severity), Class: cut(class), CostNs: max(0, f.CostNs), FromNs: max(0, f.FromNs), ToNs: max(0, f.ToNs), Basis: f.Basis,
		})
	}
	for i := range res.Waits.Worst[:min(len(res.Waits.Worst), maxLongWaits)] {
		s := &res.Waits.Worst[i]
		c.Worst = append(c.Worst, LongWait{G: max(0, s.G), Class: cut(s.Name), FromNs: max(0, s.FromNs), WaitNs: max(0, s.WaitNs), Source: s.Source, Causes: causesOf(s.Causes)})
	}
	return c
}

func cut(name string) string {
	if len(name) <= maxName {
		return name
	}
	end := maxName - len("…")
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return strings.ToValidUTF8(name[:end], "") + "…"
}

// millionths rounds f, which is 0 where it is no number.
func millionths(f float64) int64 {
	if !(f > 0) {
		return 0
	}
	return int64(math.Round(min(f, 1e9) * 1e6))
}

func causesOf(list []waits.CauseTime) (c Causes) {
	for i, cause := range waits.Causes() {
		for _, t := range list {
			if t.Cause == cause {
				c[i] += t.Ns
			}
		}
	}
	return c
}

func waitsOf(s *waits.Summary) Waits {
	w := Waits{
		Count: s.Count, TotalNs: s.TotalNs, MaxNs: s.MaxNs, OpenCount: s.OpenCount, OpenNs: s.OpenNs, CutNs: s.CutNs,
		Causes: causesOf(s.Causes), Histogram: Histogram{},
	}
	for _, l := range s.Levels { // they rise
		at := bucketOf(l.Ns)
		if n := len(w.Histogram); n > 0 && w.Histogram[n-1].At == at {
			w.Histogram[n-1].Count += l.Count
			continue
		}
		w.Histogram = append(w.Histogram, Bucket{at, l.Count})
	}
	return w
}

func psOf(r *procs.Result) Ps {
	p := Ps{
		Steals: r.Steals.Count, Stolen: r.Steals.Moved, Handoffs: r.Handoffs.Count, Retakes: r.Retakes.Count, Preemptions: r.Preemptions.Count,
		Overflows: r.Overflows, GlobalTakes: r.GlobalTakes,
	}
	for i := range r.Ps {
		x := &r.Ps[i]
		p.merge(&Ps{
			LifetimeNs: x.LifetimeNs, RunningNs: x.RunningNs, SystemNs: x.SystemNs, GCNs: x.GCNs, TracerNs: x.TracerNs, SyscallNs: x.SyscallNs,
			SchedNs: x.SchedNs, IdleNs: x.IdleNs, StoppedNs: x.StoppedNs, UnusedNs: x.UnusedNs, NotRecordedNs: x.NotRecordedNs,
		})
	}
	return p
}

func (p *Ps) merge(o *Ps) {
	to, from := p.all(), o.all()
	for i := range to {
		*to[i] = add(*to[i], *from[i])
	}
}

func (p *Ps) all() []*int64 {
	return []*int64{
		&p.LifetimeNs, &p.RunningNs, &p.SystemNs, &p.GCNs, &p.TracerNs, &p.SyscallNs, &p.SchedNs, &p.IdleNs, &p.StoppedNs, &p.UnusedNs, &p.NotRecordedNs,
		&p.Steals, &p.Stolen, &p.Handoffs, &p.Retakes, &p.Preemptions, &p.Overflows, &p.GlobalTakes,
	}
}

func classesOf(list []waits.Class) []Class {
	out := []Class{}
	var rest *Class
	for i := range list {
		k := &list[i]
		if k.System {
			continue
		}
		c := Class{Name: cut(k.Name), Creator: cut(k.Creator), Goroutines: k.Goroutines, RunningNs: k.RunningNs, Waits: waitsOf(&k.Waits)}
		switch {
		case len(out) < maxClasses-1:
			out = append(out, c)
		case rest == nil:
			c.Name, c.Creator = others, ""
			rest = &c
		default:
			rest.merge(&c)
		}
	}
	if rest != nil {
		out = append(out, *rest)
	}
	return out
}

func (c *Class) merge(o *Class) {
	c.Goroutines, c.RunningNs = add(c.Goroutines, o.Goroutines), add(c.RunningNs, o.RunningNs)
	c.Waits.merge(&o.Waits)
}

package html

import (
	"fmt"
	"html/template"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
)

type finding struct {
	N        int
	ID       string
	Severity string
	Title    Name
	Cost     string
	CostNote string
	Basis    string
	Window   string
	Href     string
	Evidence []findings.Evidence
	Actors   []actor
	MoreAct  int
	Advice   []string
	Gain     []string // what the advice would give, simulated
	Strip    template.HTML
	Brief    bool // folded, but for its title
}

type actor struct {
	Role    string
	Class   *Name
	Creator *Name
	Where   string
	Stack   []Name
	More    int
}

type detector struct {
	ID, Title string
	Found     int
}

// window is the link to a stretch of the timeline.
func window(from, to int64) string {
	if to <= from {
		return ""
	}
	return fmt.Sprintf("#t=%d-%d", from, to)
}

func (v *view) findings(r *analyze.Result, split *replay.Split) {
	for i, f := range r.Findings {
		if i == maxFindings {
			v.MoreFindings = len(r.Findings) - i
			break
		}
		o := finding{
			N: i + 1, ID: visible(f.ID), Severity: string(f.Severity), Title: name(f.Title),
			Basis: basisWord(f.Basis), Href: window(f.FromNs, f.ToNs),
		}
		o.Brief = i >= openFindings || f.Severity == findings.Note
		o.Title.Short = cut(visible(f.Title), 600)
		o.Title.Full = ""
		switch f.Severity {
		case findings.Note, findings.Warning, findings.Critical:
		default:
			o.Severity = "note"
		}
		if f.CostNs > 0 {
			o.Cost = dur(f.CostNs)
			if r.Waits.User.TotalNs > 0 {
				o.CostNote = share(f.CostNs, r.Waits.User.TotalNs) + " of the program's waiting"
			}
		}
		if o.Href != "" {
			o.Window = fmt.Sprintf("%s – %s (%s)", clock(f.FromNs), clock(f.ToNs), dur(f.ToNs-f.FromNs))
			o.Strip = whereStrip(f.FromNs, f.ToNs, r.Trace.DurationNs)
		}
		for _, e := range f.Evidence {
			o.Evidence = append(o.Evidence, findings.Evidence{What: cut(visible(e.What), 400), Value: cut(visible(e.Value), 400), Limit: cut(visible(e.Limit), 200)})
		}
		for j, a := range f.Actors {
			if j == maxActors {
				o.MoreAct = len(f.Actors) - j
				break
			}
			b := actor{Role: visible(a.Role)}
			if a.Class != "" {
				n := name(a.Class)
				b.Class = &n
			}
			if a.Creator != "" {
				n := name(a.Creator)
				b.Creator = &n
			}
			if a.G > 0 {
				b.Where = "goroutine " + strconv.FormatInt(a.G, 10)
			}
			if a.Class == "" && a.G == 0 && a.P != nil {
				b.Where = fmt.Sprintf("P%d", *a.P)
			}
			for k, s := range a.Stack {
				if k == maxFrames {
					b.More = len(a.Stack) - k
					break
				}
				b.Stack = append(b.Stack, name(s))
			}
			o.Actors = append(o.Actors, b)
		}
		for _, a := range f.Advice {
			o.Advice = append(o.Advice, cut(visible(a), 1000))
		}
		if p := report.Prospect(split, i); p != nil {
			for _, l := range report.ProspectLines(split, p) {
				o.Gain = append(o.Gain, cut(visible(l), 1200))
			}
		}
		v.Findings = append(v.Findings, o)
	}
	for _, d := range r.Detectors {
		v.Detectors = append(v.Detectors, detector{visible(d.ID), visible(d.Title), d.Found})
		if d.Found == 0 {
			v.QuietDets++
		}
	}
}

package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// moment is the longest wait of a victim of a finding: drawn, and in sentences.
type moment struct {
	G      string
	Name   Name
	Waited string
	Href   string // to its frame in the timeline
	SVG    template.HTML
	Legend []legendItem
	Text   []string
}

// Sizes of the drawing, in px; its left margin is a share of the width.
const (
	momentLeft  = 0.13
	momentRight = 0.02
	momentRow   = 18.0
	momentStep  = 24.0
	momentHigh  = 70
)

// newMoment returns nil if no wait that is shown is one of a victim of f.
func newMoment(w *waits.Result, f *findings.Finding, names *words.Names) *moment {
	s := worstWait(w, f)
	if s == nil {
		return nil
	}
	m := &moment{
		G: fmt.Sprintf("G%d", s.G), Name: className(s.Name, names), Waited: quantity.Duration(s.WaitNs),
		Href: report.WaitHref(s), Text: names.WaitSentences(*s),
	}
	drawn := quantity.Sum(s.Runs, func(r *waits.Run) int64 { return r.ToNs - r.FromNs })
	if 2*drawn >= s.WaitNs { // else the lane of its P would be mostly blank
		m.draw(s, names)
	}
	if s.MoreRuns > 0 {
		m.Text = append(m.Text, fmt.Sprintf("Not drawn: %s.", quantity.Plural(int64(s.MoreRuns), "shorter run", "shorter runs")))
	}
	return m
}

// worstWait is the longest told wait of a goroutine that f names as a victim, or of one of
// its class, in the window of f.
func worstWait(w *waits.Result, f *findings.Finding) (worst *waits.WaitDetail) {
	look := func(list []waits.WaitDetail) {
		for i := range list {
			s := &list[i]
			inside := s.ToNs > s.FromNs && s.ToNs > f.FromNs && s.FromNs < f.ToNs
			isVictim := func(a findings.Actor) bool {
				return a.Role == findings.Victim && (a.G > 0 && a.G == s.G || words.IsOf(&a, s.Name, s.Creator))
			}
			if inside && slices.ContainsFunc(f.Actors, isVictim) && (worst == nil || s.WaitNs > worst.WaitNs) {
				worst = s
			}
		}
	}
	look(w.Worst)
	for i := range w.Classes {
		look(w.Classes[i].Worst)
	}
	return worst
}

// draw draws two rows: the goroutine that waits, from waker to start, and the P on which it ran in the end.
func (m *moment) draw(s *waits.WaitDetail, names *words.Names) {
	d := newDrawing("chart moment", fmt.Sprintf("G%d waits %s; what P%d runs meanwhile", s.G, m.Waited, s.P), momentHigh)
	at := func(ns int64) float64 {
		share := float64(ns-s.FromNs) / float64(s.ToNs-s.FromNs)
		return momentLeft + (1-momentLeft-momentRight)*min(max(share, 0), 1)
	}
	d.text(momentLeft-0.012, 13, "end", m.G)
	fmt.Fprintf(&d.b, `<rect class="wait" x="%s" width="%s" y="1" height="%s"/>`, pct(momentLeft), pct(at(s.ToNs)-momentLeft), px(momentRow-2))
	d.text((momentLeft+at(s.ToNs))/2, 13.5, "middle", "waits "+m.Waited)
	woken := "became runnable"
	if s.By != nil {
		woken = fmt.Sprintf("G%d %s made it runnable", s.By.G, words.Cut(names.Class(s.By.Name), 120))
	}
	d.rect("f-ink", momentLeft-0.0015, 0.003, 0, momentRow+4, woken)
	for i, step := range s.Path {
		if i > 0 {
			d.rect("f-ink", at(step.AtNs), 0.002, momentRow-5, 4, fmt.Sprintf("%s: %s", words.Since(step.AtNs-s.FromNs), words.Moved(step)))
		}
	}
	d.rect("f-user", at(s.ToNs), 0.008, 0, momentRow+4, fmt.Sprintf("P%d %s, and it ran", s.P, words.Phrase(vocabulary.Source, s.Source)))
	m.drawP(d, s, at, names)
	d.text(momentLeft, momentHigh-6, "start", "0")
	d.text(at(s.FromNs+s.WaitNs/2), momentHigh-6, "middle", words.Since(s.WaitNs/2))
	d.text(at(s.ToNs), momentHigh-6, "end", words.Since(s.WaitNs))
	m.SVG = d.end()
}

// notKept marks the time for which the analysis dropped what the P ran.
var notKept = legendItem{"gap", "not kept"}

// drawP draws what ran on the P of the wait meanwhile. Between the runs the lane is empty,
// not idle: the P may have been in a system call or the scheduler.
func (m *moment) drawP(d *drawing, s *waits.WaitDetail, at func(int64) float64, names *words.Names) {
	d.text(momentLeft-0.012, momentStep+13, "end", fmt.Sprintf("P%d", s.P))
	known := min(max(s.AheadFromNs, s.FromNs), s.ToNs)
	if s.MoreRuns > 0 { // shorter runs were dropped, anywhere between the others
		known = s.ToNs
	}
	d.rect("f-gap", momentLeft, at(known)-momentLeft, momentStep, momentRow, "what its P ran then is not kept")
	d.rect("lane", momentLeft, at(s.ToNs)-momentLeft, momentStep, momentRow, "")
	var earlier, later bool
	for _, r := range s.Runs {
		key, order := "behind", "became runnable earlier"
		if r.Later {
			key, order = "overtaken", "became runnable later"
		}
		earlier, later = earlier || !r.Later, later || r.Later
		x := at(r.FromNs)
		width := math.Max(at(r.ToNs)-x, 0.0015)
		d.rect("f-"+key, x, width, momentStep, momentRow, fmt.Sprintf("%s: G%d %s ran for %s; it %s", words.Since(r.FromNs-s.FromNs), r.G, words.Cut(names.Class(r.Name), 120), quantity.Duration(r.ToNs-r.FromNs), order))
	}
	if earlier {
		m.Legend = append(m.Legend, legendItem{"behind", "ran first: queued earlier"})
	}
	if later {
		m.Legend = append(m.Legend, legendItem{"overtaken", "ran first: queued later"})
	}
	if known > s.FromNs {
		m.Legend = append(m.Legend, notKept)
	}
}

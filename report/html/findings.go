package html

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

type finding struct {
	N        int
	ID       string
	Known    bool // the glossary has the detector
	Severity string
	Headline string
	Title    string
	Cost     string
	CostNote string
	Basis    string
	Window   string
	Href     string
	Evidence []findings.Evidence // with thresholds
	Further  []findings.Evidence
	Actors   []actor
	MoreAct  int
	Advice   [][]piece
	Gain     []string // what the advice would give, simulated
	Strip    template.HTML
	Picture  *picture
	Brief    bool // folded, but for its title
	Doubts   string
	From, To int64
	Groups   string // of its actors, a line each
}

// piece is a part of a sentence; a link if Href is set.
type piece struct{ Text, Href string }

type actor struct {
	Role    string
	Class   *Name
	Creator *Name
	Where   string
	G       int64 // a goroutine, if Where is one
	Stack   []Name
	More    int
	Waited  string // link to where its class had stopped before it waited
	Stopped string // where that was most
}

// doubt holds for the whole trace.
type doubt struct{ Label, Text string }

type detector struct {
	ID, Title string
	Known     bool
	Found     int
	// Configured reports whether its thresholds are not the defaults.
	Configured bool
}

// groupsOf are the classes of the actors of a finding, a line each.
func groupsOf(f *findings.Finding) (s string) {
	for _, a := range f.Actors[:min(len(f.Actors), maxActors)] {
		s += words.Visible(a.Class) + "\n"
	}
	return s
}

// window is the link to a stretch of the timeline, which the page frames and names.
func window(from, to int64) string {
	if to <= from {
		return ""
	}
	return fmt.Sprintf("#frame=%d-%d", from, to)
}

// waitWindow is the link to a wait in the timeline.
func waitWindow(s *waits.WaitDetail) string {
	if s.ToNs <= s.FromNs {
		return ""
	}
	return fmt.Sprintf("#frame=%d-%d-%d", s.FromNs, s.ToNs, s.G)
}

// linked makes links of the detectors that an advice names: to the first of
// their findings, else to what they look for.
func linked(s string, first map[string]int) []piece {
	var out []piece
	at := 0
	for _, m := range detectorName.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		id := s[from:to]
		if !isDetector[id] {
			continue
		}
		href := "#d-" + id
		if n, ok := first[id]; ok {
			href = fmt.Sprintf("#finding-%d", n)
		}
		out = append(out, piece{Text: s[at:from]}, piece{id, href})
		at = to
	}
	return append(out, piece{Text: s[at:]})
}

// detectorName finds what may be the ID of a detector: after "see", or if it has
// a hyphen, since other IDs are words of everyday.
var detectorName = regexp.MustCompile(`\b[Ss]ee ([a-z0-9]+(?:-[a-z0-9]+)*)\b|\b((?:[a-z0-9]+-)+[a-z0-9]+)\b`)

var isDetector = func() map[string]bool {
	m := map[string]bool{}
	for _, d := range all.Docs() {
		m[d.ID] = true
	}
	return m
}()

func (v *view) findings(r *analyze.Result, names *words.Names, split *replay.Decomposition, leader int) {
	first := map[string]int{}
	for i, f := range r.Findings[:min(len(r.Findings), maxFindings)] {
		if _, ok := first[f.ID]; !ok {
			first[f.ID] = i + 1
		}
	}
	for _, d := range r.Doubts {
		v.Doubts = append(v.Doubts, doubt{words.Doubt(d.ID), words.Cut(names.Prose(d.Text), 1000)})
	}
	for i, f := range r.Findings {
		if i == maxFindings {
			v.MoreFindings = len(r.Findings) - i
			break
		}
		o := finding{
			N: i + 1, ID: words.Visible(f.ID), Known: isDetector[f.ID], Severity: string(f.Severity), Headline: words.Cut(names.Prose(cmp.Or(f.Headline, f.Title)), 200), Title: words.Cut(names.Prose(f.Title), 600),
			Basis: words.Basis(f.Basis), Href: window(f.FromNs, f.ToNs), From: f.FromNs, To: f.ToNs, Groups: groupsOf(&f),
		}
		o.Brief = i != leader
		o.Doubts = words.Doubts(f.Doubts)
		switch f.Severity {
		case findings.Note, findings.Warning, findings.Critical:
		default:
			o.Severity = "note"
		}
		if f.CostNs > 0 {
			o.Cost = quantity.Duration(f.CostNs)
			o.CostNote = words.CostPart(&f)
		}
		if o.Href != "" {
			from, to := quantity.Window(f.FromNs, f.ToNs)
			o.Window = fmt.Sprintf("%s – %s (%s)", from, to, quantity.Duration(f.ToNs-f.FromNs))
			o.Strip = whereStrip(f.FromNs, f.ToNs, r.Trace.DurationNs)
			o.Picture = newPicture(r, &r.Findings[i])
		}
		for _, e := range f.Evidence {
			list := &o.Further
			if e.Limit != "" {
				list = &o.Evidence
			}
			*list = append(*list, findings.Evidence{What: words.Cut(names.Prose(e.What), 400), Value: words.Cut(names.Prose(e.Value), 400), Limit: words.Cut(names.Prose(e.Limit), 200)})
		}
		for j, a := range f.Actors {
			if j == maxActors {
				o.MoreAct = len(f.Actors) - j
				break
			}
			b := actor{Role: words.Visible(a.Role), Waited: actorStacks(r, &a), Stopped: words.Cut(names.Stopped(r, &a), 400)}
			if a.Class != "" {
				n := name(a.Class, names)
				b.Class = &n
			}
			if a.Creator != "" {
				n := name(a.Creator, names)
				b.Creator = &n
			}
			if a.G > 0 {
				b.Where, b.G = "goroutine "+strconv.FormatInt(a.G, 10), a.G
			}
			if a.Class == "" && a.G == 0 && a.P != nil {
				b.Where = fmt.Sprintf("P%d", *a.P)
			}
			for k, s := range a.Stack {
				if k == maxFrames {
					b.More = len(a.Stack) - k
					break
				}
				b.Stack = append(b.Stack, name(s, names))
			}
			o.Actors = append(o.Actors, b)
		}
		for _, a := range f.Advice {
			if a = words.Cut(names.Prose(a), 1000); i != leader || !strings.Contains(strings.ToLower(v.Try), strings.ToLower(strings.TrimSuffix(a, "."))) {
				o.Advice = append(o.Advice, linked(a, first))
			}
		}
		if p := report.Gain(split, i); p != nil {
			for _, l := range report.GainLines(names, split, p) {
				o.Gain = append(o.Gain, words.Cut(words.Visible(l), 1200))
			}
		}
		switch {
		case i == leader:
			v.Findings = slices.Insert(v.Findings, 0, o)
		case f.Severity == findings.Note:
			v.Notes = append(v.Notes, o)
		default:
			v.Findings = append(v.Findings, o)
		}
	}
	v.Suppressed, v.SuppressedBy = names.Suppressed(r.Suppressed)
	for _, d := range r.Detectors {
		v.Detectors = append(v.Detectors, detector{words.Visible(d.ID), words.Visible(d.Title), isDetector[d.ID], d.Found, d.Configured})
		if d.Found == 0 {
			v.QuietDets++
		}
	}
}

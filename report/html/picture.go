package html

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on the picture of a finding's window.
const (
	pictureLanes = 6
	pictureCols  = 180
	pictureWaits = 2
	pictureBands = 60 // stops of the world beyond are too many to be told apart
	fewBins      = 16
)

// picture shows the window in which a finding is at its worst: lanes of a few Ps, their queues below them,
// the runs of the class that is the cause, and waits of victims.
type picture struct {
	SVG     template.HTML
	Caption string
	Legend  []legendItem
}

// newPicture returns nil if the timeline has nothing of the window.
func newPicture(r *analyze.Result, f *findings.Finding) *picture {
	t := &r.Timeline
	margin := (f.ToNs - f.FromNs) / 20
	c := &canvas{t: t, from: max(t.FromNs, f.FromNs-margin), to: min(t.EndNs, f.ToNs+margin)}
	if len(t.Lanes) == 0 || t.Bins == 0 || c.to <= c.from {
		return nil
	}
	for i := range t.Windows {
		w := &t.Windows[i]
		if w.FromNs <= f.FromNs && w.ToNs >= f.ToNs {
			c.exact = w
			c.from, c.to = max(c.from, w.FromNs), min(c.to, w.ToNs)
			break
		}
	}
	// A few bins show nothing: then it is the surroundings, with a mark.
	if wide := t.BinNs * fewBins * 2; c.exact == nil && c.to-c.from < t.BinNs*fewBins {
		mid := c.from + (c.to-c.from)/2
		c.from, c.to = max(t.FromNs, min(mid-wide/2, t.EndNs-wide)), min(t.EndNs, max(mid+wide/2, t.FromNs+wide))
		c.around = true
	}
	causes := causesOf(r, f)
	lanes := c.choose(f)
	waits := c.waits(f)

	const laneH, depthH, markH, step, waitH = 18.0, 10.0, 3.0, 37.0, 18.0
	top := waitH*float64(len(waits)) + 4
	height := top + step*float64(len(lanes)) + 20
	d := newDrawing("chart picture", fmt.Sprintf("What the processors did from %s to %s", quantity.Instant(c.from), quantity.Instant(c.to)), int(height))
	stopped := c.bands(d, top, step*float64(len(lanes)))
	if c.around {
		x := c.x(f.FromNs)
		d.rect("f-accent", x, math.Max(c.x(f.ToNs)-x, 0.003), top-4, 3, "the window of the finding")
	}
	for i, w := range waits {
		y := waitH * float64(i)
		x, x2 := c.x(w.from), c.x(w.to)
		fmt.Fprintf(&d.b, `<rect class="wait" x="%s" width="%s" y="%s" height="%s"/>`, pct(x), pct(math.Max(x2-x, 0.002)), px(y+1), px(waitH-5))
		d.text(leftMargin-0.008, y+11, "end", fmt.Sprintf("G%d", w.g))
		label := "waits " + quantity.Duration(w.to-w.from)
		if x2-x > 0.3 {
			d.text((x+x2)/2, y+11.5, "middle", label)
		} else if x2 < 0.7 {
			d.text(x2+0.008, y+11.5, "start", label)
		} else {
			d.text(x-0.008, y+11.5, "end", label)
		}
	}
	most := 0.0
	depths := make([][]float64, len(lanes))
	for i, l := range lanes {
		depths[i] = c.depth(l)
		most = max(most, slices.Max(depths[i]))
	}
	seen := map[timeline.State]bool{timeline.Stopped: stopped}
	marked := false
	for i, l := range lanes {
		y := top + step*float64(i)
		d.text(leftMargin-0.008, y+markH+laneH/2+4, "end", fmt.Sprintf("P%d", t.Lanes[l].P))
		d.plot(y, markH+laneH+depthH+2, pictureCols, 100)
		scale := 100 / (markH + laneH + depthH + 2)
		fmt.Fprintf(&d.b, `<rect class="f-idle" width="%d" y="%s" height="%s"/>`, pictureCols, px(markH*scale), px(laneH*scale))
		gaps := c.shares(d, l, markH*scale, laneH*scale, seen)
		if c.marks(d, l, causes, (markH-1)*scale) {
			marked = true
		}
		if most > 0 {
			fmt.Fprintf(&d.b, `<path class="f-depth" d="%s"/>`, steps(depths[i], (markH+laneH+1)*scale, depthH*scale/most))
		}
		d.closePlot()
		for _, g := range gaps { // not in the plot, which would stretch the hatching
			d.rect("f-gap", leftMargin+plotWidth*g.x, plotWidth*g.w, y+markH+laneH*g.y, laneH*g.h, "")
		}
	}
	d.quarters(height-4, func(i int64) string { return quantity.Instant(c.from + (c.to-c.from)/4*i) })
	p := &picture{SVG: d.end()}
	p.caption(c, lanes, most, marked, len(waits) > 0)
	for s := timeline.User; s <= timeline.Stopped; s++ {
		if seen[s] {
			p.Legend = append(p.Legend, legendItem{report.StateKeys[s-1], procStates[s-1].Title})
		}
	}
	p.Legend = append(p.Legend, legendItem{"idle", "idle"})
	if seen[unused] {
		p.Legend = append(p.Legend, legendItem{"unused", "unused"})
	}
	if seen[timeline.NotRecorded] {
		p.Legend = append(p.Legend, legendItem{"gap", "not recorded"})
	}
	if most > 0 {
		p.Legend = append(p.Legend, legendItem{"depth", "length of its queue"})
	}
	return p
}

// caption records what is to be seen, and how exactly it is known.
func (p *picture) caption(c *canvas, lanes []int, most float64, marked, waits bool) {
	who := quantity.Plural(int64(len(lanes)), "P", "Ps")
	if n := len(c.t.Lanes); n > len(lanes) {
		who = fmt.Sprintf("%d of %s", len(lanes), quantity.Plural(int64(n), "P", "Ps"))
	}
	s := fmt.Sprintf("What %s did over %s", who, quantity.Duration(c.to-c.from))
	if c.exact == nil {
		s += ", in averages over " + quantity.Duration(c.t.BinNs)
	}
	s += "."
	if c.around {
		s += " Its window, marked on top, is too short for the detail that was kept: this is what was around it."
	}
	if waits {
		s += " Dashed boxes: waits of victims."
	}
	if marked {
		s += " A black line above a lane: the cause runs."
	}
	if most > 0 {
		s += fmt.Sprintf(" Below a lane hangs its queue, of up to %s.", quantity.Number(most))
	} else {
		s += " The local queues were empty."
	}
	p.Caption = s
}

// canvas is the stretch of time of a picture, and where its data come from: a
// window that is kept exactly, or bins.
type canvas struct {
	t        *timeline.Result
	exact    *timeline.Window
	from, to int64
	around   bool // wider than the finding's window
}

// share is where a time is in the picture, from 0 to 1.
func (c *canvas) share(at int64) float64 {
	return min(max(float64(at-c.from)/float64(c.to-c.from), 0), 1)
}

// x is where a time is in the drawing, as a share of its width; col is where it is in the plot of a lane.
func (c *canvas) x(at int64) float64   { return leftMargin + plotWidth*c.share(at) }
func (c *canvas) col(at int64) float64 { return c.share(at) * pictureCols }

// choose picks lanes: of Ps that have a part, of the Ps on which the victims ran in the end, then those with
// the longest queues; in the order of the timeline. Ps that do not exist during all of it are left out.
func (c *canvas) choose(f *findings.Finding) []int {
	rank := make([]float64, len(c.t.Lanes))
	index := map[int32]int{}
	for i, l := range c.t.Lanes {
		index[l.P] = i
		for _, v := range c.depth(i) {
			rank[i] += v
		}
	}
	vip := math.Inf(1)
	for _, a := range f.Actors {
		if a.P != nil {
			if i, ok := index[*a.P]; ok {
				rank[i] = vip
			}
		}
	}
	for _, w := range c.waits(f) {
		rank[index[w.p]] = vip
	}
	all := make([]int, len(rank))
	for i := range all {
		all[i] = i
	}
	if used := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return rank[i] == 0 && c.absent(i) }); len(used) > 0 {
		all = used
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rank[b], rank[a]) })
	all = all[:min(len(all), pictureLanes)]
	slices.Sort(all)
	return all
}

// absent reports whether the P of a lane does not exist at any time in the picture.
func (c *canvas) absent(lane int) bool {
	l := &c.t.Lanes[lane]
	if len(l.Unused) == 0 {
		return false
	}
	there := false
	c.bins(len(l.Unused), func(_, b int, _ float64) { there = there || l.Unused[b] < 255 })
	return !there
}

// shownWait is the wait of a victim.
type shownWait struct {
	g        int64
	p        int32
	from, to int64
}

// waits are the longest waits in the window of the goroutines that are named as victims, one for each. They
// are waits for a P: where a finding is about blocking, they are not what it is about.
func (c *canvas) waits(f *findings.Finding) []shownWait {
	if c.exact == nil || f.CostOf == findings.OfBlocked && f.Kind != findings.KindSymptom {
		return nil
	}
	longest := map[int64]shownWait{}
	for _, s := range c.exact.Intervals {
		start := s.From - s.Before
		if s.Wait > 0 && start > c.from && start-s.Wait < c.to && s.Wait > longest[s.G].to-longest[s.G].from {
			longest[s.G] = shownWait{s.G, s.P, start - s.Wait, start}
		}
	}
	var out []shownWait
	for _, a := range f.Actors {
		w, ok := longest[a.G]
		if a.Role != findings.Victim || !ok || len(out) == pictureWaits || slices.Contains(out, w) {
			continue
		}
		out = append(out, w)
	}
	return out
}

// intervals are those of a P within the picture.
func (c *canvas) intervals(p int32, f func(s *timeline.PInterval)) {
	for i := range c.exact.Intervals {
		if s := &c.exact.Intervals[i]; s.P == p && s.To > c.from && s.From < c.to {
			f(s)
		}
	}
}

// unused is the state of a P that does not exist; only bins have it.
const unused = timeline.NotRecorded - 1

// box is a part of a lane, in shares of its width and height.
type box struct{ x, w, y, h float64 }

// shares draws what a P did, stacked from below: y0 is the top of the lane. It returns
// what is left to be hatched: where that is not recorded.
func (c *canvas) shares(d *drawing, lane int, y0, height float64, seen map[timeline.State]bool) (gaps []box) {
	var cov [timeline.NotRecorded + 1][pictureCols]float64
	l := &c.t.Lanes[lane]
	if c.exact != nil {
		c.intervals(l.P, func(s *timeline.PInterval) {
			a, b := c.col(s.From), c.col(s.To)
			for x := int(a); x < pictureCols && float64(x) < b; x++ {
				cov[s.State][x] += min(b, float64(x+1)) - max(a, float64(x))
			}
		})
	} else {
		for s, bins := range map[timeline.State][]uint8{timeline.User: l.User, timeline.System: l.System, timeline.GC: l.GC, timeline.Syscall: l.Syscall, timeline.Sched: l.Sched, timeline.Stopped: l.Stopped, timeline.NotRecorded: l.NotRecorded} {
			c.bins(len(bins), func(x, b int, w float64) { cov[s][x] += float64(bins[b]) / 255 * w })
		}
	}
	c.bins(len(l.Unused), func(x, b int, w float64) { cov[unused][x] += float64(l.Unused[b]) / 255 * w })
	base := [pictureCols]float64{}
	for s := timeline.User; s <= timeline.NotRecorded; s++ {
		var path strings.Builder
		for x := 0; x < pictureCols; {
			h := math.Round(min(cov[s][x], 1-base[x])*40) / 40
			if h <= 0 {
				x++
				continue
			}
			x2 := x + 1
			for x2 < pictureCols && base[x2] == base[x] && math.Round(min(cov[s][x2], 1-base[x2])*40)/40 == h {
				x2++
			}
			if s == timeline.NotRecorded {
				seen[s] = true
				gaps = append(gaps, box{float64(x) / pictureCols, float64(x2-x) / pictureCols, 1 - base[x] - h, h})
			} else {
				fmt.Fprintf(&path, "M%d %sh%dv-%sh-%[3]dz", x, px1(y0+height*(1-base[x])), x2-x, px1(height*h))
			}
			for ; x < x2; x++ {
				base[x] += h
			}
		}
		if path.Len() > 0 {
			seen[s] = true
			key := report.StateKeys[s-1]
			if s == unused {
				key = "unused"
			}
			fmt.Fprintf(&d.b, `<path class="f-%s" d="%s"/>`, key, path.String())
		}
	}
	return gaps
}

// bins calls f for each column and each bin that lies in it, with its part.
func (c *canvas) bins(n int, f func(x, b int, w float64)) {
	per := float64(c.to-c.from) / pictureCols
	for x := range pictureCols {
		from := float64(c.from-c.t.FromNs) + per*float64(x)
		b0, b1 := int(from/float64(c.t.BinNs)), int(math.Ceil((from+per)/float64(c.t.BinNs)))
		b1 = min(max(b1, b0+1), n)
		for b := b0; b < b1; b++ {
			f(x, b, 1/float64(b1-b0))
		}
	}
}

// marks draws a line where goroutines of these classes run, and reports whether there was any.
func (c *canvas) marks(d *drawing, lane int, classes []int32, height float64) bool {
	if c.exact == nil || len(classes) == 0 {
		return false
	}
	var path strings.Builder
	at := -1.0 // end of the last one: what cannot be told apart is drawn as one
	c.intervals(c.t.Lanes[lane].P, func(s *timeline.PInterval) {
		a, b := c.col(s.From), c.col(s.To)
		if s.State != timeline.User || !slices.Contains(classes, s.Class) || b-at < 0.2 {
			return
		}
		a = max(a, at)
		b = max(b, a+0.2)
		fmt.Fprintf(&path, "M%s 0h%sv%sh-%[2]sz", px1(a), px1(b-a), px1(height))
		at = b
	})
	if path.Len() == 0 {
		return false
	}
	fmt.Fprintf(&d.b, `<path class="f-ink" d="%s"/>`, path.String())
	return true
}

// depth is the mean length of a P's queue in each column.
func (c *canvas) depth(lane int) []float64 {
	out := make([]float64, pictureCols)
	l := &c.t.Lanes[lane]
	if c.exact == nil {
		c.bins(len(l.Queue.Mean), func(x, b int, w float64) { out[x] += quantity.Finite(float64(l.Queue.Mean[b])) * w })
		return out
	}
	now, last := 0.0, 0.0
	add := func(to float64) {
		for x := int(last); x < pictureCols && float64(x) < to; x++ {
			out[x] += now * (min(to, float64(x+1)) - max(last, float64(x)))
		}
		last = to
	}
	for _, q := range c.exact.Depths {
		if q.P == l.P && q.At < c.to {
			add(c.col(q.At))
			now = float64(q.Len)
		}
	}
	add(pictureCols)
	return out
}

// bands draws the stops of the world across all lanes, and reports whether there were any.
func (c *canvas) bands(d *drawing, y, height float64) bool {
	var shown []timeline.Span
	for _, s := range c.t.STW {
		if s.To > c.from && s.From < c.to {
			shown = append(shown, s)
		}
	}
	if len(shown) == 0 || len(shown) > pictureBands {
		return false
	}
	for _, s := range shown {
		x := c.x(s.From)
		d.rect("f-stopped band", x, math.Max(c.x(s.To)-x, 0.0015), y, height, fmt.Sprintf("world stopped for %s: %s", quantity.Duration(s.To-s.From), words.Cut(words.Visible(s.Name), 80)))
	}
	return true
}

// steps is the outline of values that hang from y.
func steps(v []float64, y, scale float64) string {
	var b strings.Builder
	for x := 0; x < len(v); {
		x2 := x + 1
		for x2 < len(v) && v[x2] == v[x] {
			x2++
		}
		if v[x] > 0 {
			fmt.Fprintf(&b, "M%d %sh%dv%sh-%[3]dz", x, px1(y), x2-x, px1(max(v[x]*scale, 1)))
		}
		x = x2
	}
	return b.String()
}

// causesOf are the classes of the actors that cause a finding.
func causesOf(r *analyze.Result, f *findings.Finding) (out []int32) {
	for _, a := range f.Actors {
		for _, c := range r.Waits.Classes {
			if a.Role == findings.Cause && words.IsOf(&a, c.Name, c.Creator) {
				out = append(out, c.ID)
			}
		}
	}
	return out
}

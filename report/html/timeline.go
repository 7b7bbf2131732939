package html

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on Ps × bins of the packed timeline: what it never exceeds, and what
// it is not reduced below to keep the page small.
const (
	maxCells = 400_000
	minCells = 50_000
)

func newTime(r *analyze.Result) *timeView {
	t := r.Timeline
	v := &timeView{Bin: quantity.Duration(t.BinNs), Windows: len(t.Windows), N: len(t.Lanes)}
	v.Lead = fmt.Sprintf("One lane per P over %s.", quantity.Duration(t.EndNs-t.FromNs))

	v.Command = words.Command(r, "report")
	v.Notes = len(t.Annotations) > 0
	v.SVG, v.Heap = lanesSVG(t), t.Heap != nil
	if c := t.CPUs; c != nil {
		v.CPUs, v.MoreCPUs = len(c.Lanes), int(c.OmittedCPUs)
	}
	for i, k := range report.StateKeys {
		if k != "unused" && (k != "gap" || notRecorded(r)) { // what is unused is not drawn
			v.States = append(v.States, legendItem{k, procStates[i].Title})
		}
	}
	v.Blocked = []legendItem{{"lock", "lock or WaitGroup"}, {"channel", "channel or select"}, {"sync", "Cond"}, {"network", "network"}, {"sleep", "sleep"}, {"gc", "garbage collector"}, {"notknown", "other"}}
	ls := timeLines(t, 300)
	s := scaleOf(timeLines(t, scalePoints))
	v.SeriesSVG, v.SeriesNote = linesSVG(ls, s, &t), s.note()
	for _, l := range ls {
		v.Legend = append(v.Legend, legendItem{l.Key, l.Title})
	}
	return v
}

// packed is the timeline as the script gets it: a header in JSON, and behind it one block of little-endian
// arrays, compressed. Each array is named in the header with its type and its offset in the block. Times
// count from where the picture begins, Origin of the page.
type packed struct {
	EndNs    int64            `json:"end"`
	BinNs    int64            `json:"bin"`
	Bins     int              `json:"bins"`
	Ps       []int32          `json:"ps"`
	STW      []packedSpan     `json:"stw"`
	GC       []packedSpan     `json:"gc"`
	Gaps     []packedSpan     `json:"gaps,omitempty"`
	Windows  []packedWindow   `json:"windows"`
	Left     int              `json:"left"` // windows left out
	Findings []packedFinding  `json:"findings"`
	Classes  map[int32]string `json:"classes"`
	Sources  []string         `json:"sources"`
	Took     []string         `json:"took"`            // the words for each of Sources
	Words    []string         `json:"words"`           // that run intervals refer to; the first is empty
	States   []legendItem     `json:"states"`          // by number of the state: colour and word
	Waits    []packedWait     `json:"waits"`           // that are shown, longest first
	Keys     map[uint8]string `json:"keys"`            // colours of the Words for which goroutines are blocked
	Named    []packedUnit     `json:"named"`           // the slowest units of work
	Notes    []string         `json:"notes,omitempty"` // types of tasks and regions
	Heap     *packedHeap      `json:"heap,omitempty"`
	CPUs     *packedCPUs      `json:"cpus,omitempty"`
	Arrays   []packedArray    `json:"arrays"`
	Data     string           `json:"data"` // gzip, base64
}

type packedSpan struct {
	From int64  `json:"f"`
	To   int64  `json:"t"`
	Name string `json:"n,omitempty"`
}

type packedUnit struct {
	packedSpan
	G     int64    `json:"g"`
	Spans [][3]any `json:"s,omitempty"` // from and to when its goroutine did what
}

type packedFinding struct {
	N        int    `json:"n"` // on the page
	ID       string `json:"id"`
	Severity string `json:"sev"`
	Title    string `json:"title"`
	From     int64  `json:"f"`
	To       int64  `json:"t"`
	Groups   string `json:"g"` // of its actors, a line each
}

type packedWait struct {
	G    int64    `json:"g"`
	Name string   `json:"name"`
	From int64    `json:"f"`
	To   int64    `json:"t"`
	Text []string `json:"text"`
	ID   string   `json:"id,omitempty"` // of its story on the page
}

type packedWindow struct {
	Title  string        `json:"title"`
	From   int64         `json:"f"`
	To     int64         `json:"t"`
	N      int           `json:"n"`              // intervals
	CPUs   int64         `json:"cf,omitempty"`   // from when on the CPUs are kept exactly
	Left   int           `json:"left,omitempty"` // tasks and regions that are left out
	Arrows []packedArrow `json:"arrows"`
}

type packedArrow struct {
	Kind string `json:"k"`
	At   int64  `json:"at"`
	From int32  `json:"f"`
	To   int32  `json:"t"`
	N    int32  `json:"n"`
}

type packedArray struct {
	Name string `json:"n"`
	Type string `json:"t"` // u8, u16, i32, f32, f64
	Off  int    `json:"o"`
	Len  int    `json:"l"`
}

// block collects arrays.
type block struct {
	buf    bytes.Buffer
	arrays []packedArray
}

func (b *block) add(name, typ string, data any, n int) {
	for b.buf.Len()%8 != 0 {
		b.buf.WriteByte(0)
	}
	b.arrays = append(b.arrays, packedArray{name, typ, b.buf.Len(), n})
	binary.Write(&b.buf, binary.LittleEndian, data) // into memory: cannot fail
}

func (b *block) u8(name string, s []uint8)  { b.add(name, "u8", s, len(s)) }
func (b *block) i32(name string, s []int32) { b.add(name, "i32", s, len(s)) }

// ints stores whole numbers that a float64 holds exactly: as i32 if they fit, which compresses better.
func (b *block) ints(name string, s []int64) {
	small, large := make([]int32, len(s)), make([]float64, len(s))
	fits := true
	for i, v := range s {
		small[i], large[i] = int32(v), float64(v)
		fits = fits && int64(small[i]) == v
	}
	if fits {
		b.i32(name, small)
		return
	}
	b.add(name, "f64", large, len(large))
}

// text stores JSON.
func (b *block) text(name string, v any) error {
	js, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.u8(name, js)
	return nil
}

// f32 stores means with the precision that can be seen: rounding to 1/64 makes them compress well.
func (b *block) f32(name string, s []float32) {
	out := make([]float32, len(s))
	for i, v := range s {
		out[i] = float32(math.Round(quantity.Finite(float64(v))*64) / 64)
	}
	b.add(name, "f32", out, len(out))
}

// packTimeline makes the data of the canvas timeline.
func packTimeline(r *analyze.Result, d detail, names *words.Names) (*packed, error) {
	t := r.Timeline
	begin := t.FromNs
	f := max(1, (len(t.Lanes)*t.Bins+d.cells-1)/d.cells) // bins to merge into one
	bins := (t.Bins + f - 1) / f
	p := &packed{
		EndNs: t.EndNs - begin, BinNs: t.BinNs * int64(f), Bins: bins, Ps: []int32{}, Windows: []packedWindow{},
		STW: spans(t.STW, begin), GC: spans(t.GC, begin), Findings: []packedFinding{}, Classes: map[int32]string{},
	}
	for _, s := range reference.Sources() {
		p.Sources = append(p.Sources, s.String())
		p.Took = append(p.Took, words.Phrase(vocabulary.Source, s.String()))
	}
	p.States = append(p.States, legendItem{"idle", "idle"})
	for s := timeline.User; s <= timeline.Stopped; s++ {
		p.States = append(p.States, legendItem{report.StateKeys[s-1], procStates[s-1].Title})
	}
	if notRecorded(r) {
		p.Gaps = spans(t.NotRecorded, begin)
		p.States = append(p.States, legendItem{report.StateKeys[len(report.StateKeys)-1], procStates[len(report.StateKeys)-1].Title})
	}
	p.Waits = packWaits(r, names)
	p.Named = packNamed(r, names, begin)
	for i, fd := range r.Findings[:min(len(r.Findings), report.MaxFindings)] {
		if fd.ToNs > fd.FromNs {
			p.Findings = append(p.Findings, packedFinding{i + 1, words.Visible(fd.ID), string(fd.Severity), quantity.NoBreak(words.Cut(names.Text(fd.InBrief()), 200)), fd.FromNs - begin, fd.ToNs - begin, groupsOf(&fd)})
		}
	}
	b, ns := &block{}, recorded(&t)
	b.f32("global.mean", meanBins(t.Global.Mean, ns, f))
	b.i32("global.max", maxBins(t.Global.Max, f))
	b.f32("runnable.mean", meanBins(t.Runnable.Mean, ns, f))
	b.i32("runnable.max", maxBins(t.Runnable.Max, f))
	b.f32("idle.mean", meanBins(t.IdleP.Mean, ns, f))
	b.f32("missed", meanBins(t.Missed, ns, f))
	b.i32("steals", sumBins(t.Steals, f))
	b.i32("retakes", sumBins(t.Retakes, f))
	b.i32("handoffs", sumBins(t.Handoffs, f))
	b.i32("preemptions", sumBins(t.Preemptions, f))
	for i, l := range t.Lanes {
		p.Ps = append(p.Ps, l.P)
		for _, s := range []struct {
			name string
			data []uint8
		}{{"user", l.User}, {"system", l.System}, {"gc", l.GC}, {"syscall", l.Syscall}, {"sched", l.Sched}, {"stopped", l.Stopped}} {
			b.u8(fmt.Sprintf("%d.%s", i, s.name), meanBytes(s.data, f))
		}
		if l.Unused != nil {
			b.u8(fmt.Sprintf("%d.unused", i), meanBytes(l.Unused, f))
		}
		if l.NotRecorded != nil {
			b.u8(fmt.Sprintf("%d.gap", i), meanBytes(l.NotRecorded, f))
		}
		b.f32(fmt.Sprintf("%d.q", i), meanBins(l.Queue.Mean, ns, f))
		b.i32(fmt.Sprintf("%d.qmax", i), maxBins(l.Queue.Max, f))
	}
	p.Notes = words.All(t.Annotations, maxNote)
	p.Heap, p.CPUs = packHeap(b, t.Heap), packCPUs(b, t.CPUs, d.cells)
	byClass := map[int32]string{}
	for _, c := range r.Waits.Classes {
		byClass[c.ID] = c.Name
	}
	said := &wordList{list: []string{""}, keys: map[uint8]string{}, numbers: map[wordKey]uint8{}}
	for i, w := range t.Windows {
		if i == d.windows {
			p.Left = len(t.Windows) - i
			break
		}
		p.Windows = append(p.Windows, packWindow(b, i, w, windowTitle(&w, r.Findings, names), begin, said))
		for _, s := range w.Intervals {
			if _, ok := p.Classes[s.Class]; !ok && s.Class != 0 {
				p.Classes[s.Class] = className(byClass[s.Class], names).Short
			}
		}
	}
	p.Words, p.Keys = said.list, said.keys
	if err := b.text("frames", packFrames(t.Frames, names)); err != nil {
		return nil, err
	}
	if err := b.text("stacks", packStacks(t.Stacks)); err != nil {
		return nil, err
	}
	p.Arrays = b.arrays
	z := held{to: d.page}
	zw, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(b.buf.Bytes()); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	p.Data = base64.StdEncoding.EncodeToString(z.Bytes())
	return p, nil
}

// windowTitle is why a window is kept in detail: for a finding, its headline.
func windowTitle(w *timeline.Window, fs []findings.Finding, names *words.Names) string {
	title := words.Visible(w.Title)
	for i := range fs {
		if f := &fs[i]; f.ID == w.Title && f.FromNs < w.ToNs && f.ToNs > w.FromNs {
			title = names.Text(f.InBrief())
			break
		}
	}
	return quantity.NoBreak(words.Cut(title, 90))
}

// maxWaits bounds the waits that the timeline shows step by step.
const maxWaits = 100

// packWaits are the waits that the page tells, and the longest of each class.
func packWaits(r *analyze.Result, names *words.Names) []packedWait {
	out := []packedWait{}
	type key struct{ g, from int64 }
	seen := map[key]bool{}
	add := func(s waits.WaitDetail, id string) {
		k := key{s.G, s.FromNs}
		if seen[k] || s.ToNs <= s.FromNs || len(out) == maxWaits {
			return
		}
		seen[k] = true
		w := packedWait{G: s.G, Name: className(s.Name, names).Short, From: s.FromNs - r.Timeline.FromNs, To: s.ToNs - r.Timeline.FromNs, ID: id}
		for _, t := range names.WaitSentences(s) {
			w.Text = append(w.Text, words.Cut(t, 600))
		}
		out = append(out, w)
	}
	for i, s := range r.Waits.LongestWaits() {
		if i == report.PageWaits {
			break
		}
		add(s.WaitDetail, fmt.Sprintf("story-%d", i+1))
	}
	for _, c := range r.Waits.Classes {
		for _, s := range c.Worst {
			add(s, "")
		}
	}
	slices.SortStableFunc(out, func(a, b packedWait) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	return out
}

// packNamed are the slowest units of work, by their kinds' names.
func packNamed(r *analyze.Result, names *words.Names, begin int64) []packedUnit {
	out := []packedUnit{}
	for i, k := range report.WorkKinds(&r.Work) {
		for j := range k.Slowest {
			u := &k.Slowest[j]
			o := packedUnit{packedSpan{u.BeginNs - begin, u.EndNs - begin, words.Cut(words.Visible(report.KindName(names, k)), 120)}, u.G, nil}
			if w, ok := report.Waterfall(names, k, u); ok && i < unitKinds {
				for _, x := range w.Lanes[0].Spans[:min(len(w.Lanes[0].Spans), unitSpans)] {
					o.Spans = append(o.Spans, [3]any{x.FromNs - begin, x.ToNs - begin, x.Title})
				}
			}
			out = append(out, o)
		}
	}
	return out
}

// Bounds on the units whose states the timeline knows, and on these.
const (
	unitKinds = 6
	unitSpans = 60
)

// packedState is the number of a state in packed.States.
func packedState(s timeline.State) uint8 {
	if s == timeline.NotRecorded {
		s = timeline.Stopped + 1
	}
	return uint8(s)
}

// spans are spans, from a time on.
func spans(in []timeline.Span, begin int64) []packedSpan {
	out := make([]packedSpan, 0, len(in))
	for _, s := range in {
		out = append(out, packedSpan{s.From - begin, s.To - begin, words.Cut(words.Visible(s.Name), 120)})
	}
	return out
}

func meanBins(s []float32, recorded []float64, f int) []float32 {
	if f <= 1 {
		return s
	}
	var out []float32
	for i := 0; i < len(s); i += f {
		to := min(i+f, len(s))
		out = append(out, float32(meanOf(s[i:to], part(recorded, i, to))))
	}
	return out
}

func maxBins(s []int32, f int) []int32 { return merge(s, f, slices.Max) }

func sumBins(s []int32, f int) []int32 {
	return merge(s, f, func(part []int32) (n int32) {
		for _, v := range part {
			n += v
		}
		return n
	})
}

func meanBytes(s []uint8, f int) []uint8 {
	return merge(s, f, func(part []uint8) uint8 {
		n := 0
		for _, v := range part {
			n += int(v)
		}
		return uint8(n / len(part))
	})
}

// merge makes one value of every f.
func merge[T any](s []T, f int, one func([]T) T) []T {
	if f <= 1 {
		return s
	}
	out := make([]T, 0, (len(s)+f-1)/f)
	for i := 0; i < len(s); i += f {
		out = append(out, one(s[i:min(i+f, len(s))]))
	}
	return out
}

// data makes an island of v. HTML escaping is on, so that nothing in it ends the element.
func data(id string, v any) (island, error) {
	js, err := json.Marshal(v)
	if err != nil {
		return island{}, fmt.Errorf("%s: %w", id, err)
	}
	return island{ID: id, JSON: template.JS(js)}, nil
}

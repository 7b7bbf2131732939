package textbook

import (
	"fmt"
	"html"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// bins is how many pieces a picture divides a run into.
const bins = 120

// lanes is what each P ran over time: per P and piece the class that ran most,
// and in how many fifths of the piece anything ran.
type lanes struct {
	end   int64
	class [][bins]int32
	level [][bins]int
}

// recorder keeps the run intervals of a stream of decisions.
type recorder struct {
	spans   [][]span
	running []span
}

type span struct {
	class    int32
	from, to int64
}

func newRecorder(procs int) *recorder {
	return &recorder{spans: make([][]span, procs), running: make([]span, procs)}
}

func (r *recorder) add(d *reference.Decision) {
	switch d.Kind {
	case reference.KindStart:
		r.running[d.P] = span{class: d.Class, from: d.Time, to: -1}
	case reference.KindStop, reference.KindSyscall:
		s := &r.running[d.P]
		s.to = d.Time
		r.spans[d.P] = append(r.spans[d.P], *s)
		*s = span{}
	case reference.KindSyscallExit:
		if d.P >= 0 {
			r.running[d.P] = span{class: d.Class, from: d.Time, to: -1}
		}
	}
}

func (r *recorder) finish(end int64) lanes {
	l := lanes{end: end, class: make([][bins]int32, len(r.spans)), level: make([][bins]int, len(r.spans))}
	for p := range r.spans {
		if s := r.running[p]; s.to < 0 {
			s.to = end
			r.spans[p] = append(r.spans[p], s)
		}
		var by [bins]map[int32]int64
		for _, s := range r.spans[p] {
			for i := bin(s.from, end); i < bins && s.from < s.to; i++ {
				cut := min(s.to, end*int64(i+1)/bins)
				if by[i] == nil {
					by[i] = map[int32]int64{}
				}
				by[i][s.class] += cut - s.from
				s.from = max(s.from, cut)
			}
		}
		for i, m := range by {
			sum, most := int64(0), int64(0)
			for c := int32(0); c < 16; c++ {
				sum += m[c]
				if m[c] > most {
					most = m[c]
					l.class[p][i] = c
				}
			}
			l.level[p][i] = int((10*sum*bins/max(end, 1) + 1) / 2)
		}
	}
	return l
}

func bin(t, end int64) int {
	if end == 0 {
		return 0
	}
	i := int(t * bins / end)
	for i > 0 && end*int64(i)/bins > t {
		i--
	}
	return i
}

const (
	width  = 640
	left   = 40
	laneH  = 14
	inner  = width - left - 8
	colour = ".c1{fill:#2f6fb7}.c2{fill:#e08a1e}.c3{fill:#4b9b57}.c4{fill:#a35bb0}.c5{fill:#c8453b}"
)

// picture draws both sides of a program.
func picture(o outcome) string {
	var b strings.Builder
	y := 0
	if o.bars != nil {
		y = drawBars(&b, o)
	} else {
		y = drawLanes(&b, 4, o.off.name, o.without.lanes)
		y = drawLanes(&b, y+10, o.on.name, o.with.lanes)
		y = drawKey(&b, y+6, o.classes)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui,sans-serif" font-size="12">
<title>%s</title>
<style>text{fill:#333}.bg{fill:#eceff3}%s@media(prefers-color-scheme:dark){text{fill:#ccc}.bg{fill:#2b3038}}</style>
%s</svg>
`, width, y+6, width, y+6, html.EscapeString(o.title), colour, b.String())
}

func drawLanes(b *strings.Builder, y int, name string, l lanes) int {
	y += 12
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left, y, html.EscapeString(name), left+inner, y, quantity.Duration(l.end))
	y += 4
	for p := range l.class {
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">P%d</text><rect class=\"bg\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", left-6, y+laneH-3, p, left, y, inner, laneH-2)
		for i := 0; i < bins; {
			j := i + 1
			for j < bins && l.class[p][j] == l.class[p][i] && l.level[p][j] == l.level[p][i] {
				j++
			}
			if v := l.level[p][i]; v > 0 {
				opacity := ""
				if v < 5 {
					opacity = fmt.Sprintf(" opacity=\".%d\"", 2*v)
				}
				x0, x1 := inner*i/bins, inner*j/bins
				fmt.Fprintf(b, "<rect class=\"c%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"%s/>", l.class[p][i], left+x0, y, x1-x0, laneH-2, opacity)
			}
			i = j
		}
		b.WriteByte('\n')
		y += laneH
	}
	return y
}

func drawKey(b *strings.Builder, y int, classes []string) int {
	x := left
	for i, c := range classes {
		fmt.Fprintf(b, "<rect class=\"c%d\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"/><text x=\"%d\" y=\"%d\">%s</text>", i+1, x, y, x+14, y+10, html.EscapeString(c))
		x += 26 + 7*len(c)
	}
	b.WriteByte('\n')
	return y + 12
}

func drawBars(b *strings.Builder, o outcome) int {
	v := [2]float64{o.bars.of(o.without.result), o.bars.of(o.with.result)}
	most := max(v[0], v[1])
	y := 16
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text>\n", left, y, html.EscapeString(o.bars.unit))
	y += 6
	for i, name := range []string{o.off.name, o.on.name} {
		w := max(1, int(v[i]/most*(inner-60)))
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text>\n", left, y+12, html.EscapeString(name))
		fmt.Fprintf(b, "<rect class=\"c%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><text x=\"%d\" y=\"%d\">%.3g</text>\n", 2-i, left, y+16, w, laneH, left+w+6, y+16+11, v[i])
		y += 18 + laneH
	}
	return y
}

package same

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// variance is a row of compare/variances.json.
type variance struct {
	Kind     string  `json:"kind"`
	Metric   string  `json:"metric"`
	Busy     bool    `json:"busy"`
	Between  float64 `json:"between"`
	DF       float64 `json:"df"`
	Most     float64 `json:"most"`
	Apart    float64 `json:"apart"`
	Programs int     `json:"programs"`
	Traces   int     `json:"traces"`
}

type row struct {
	kind, metric string
	busy         bool
}

// leastVariance is that of numbers that differ by three per cent: less than what is worth a word.
const leastVariance = 0.03 * 0.03

// group is the numbers of one metric of one program by session, on the scale of comparison.
type group map[string][]float64

// write writes how much the numbers of programs differ between their recordings. Of the rows that there
// were before, those of more programs stay: recordings are too large to be kept.
func write(w io.Writer, programs []*program, before []variance) error {
	rows := map[row][]group{}
	for _, p := range programs {
		if err := p.add(rows); err != nil {
			return err
		}
	}
	var out []variance
	for r, groups := range rows {
		out = append(out, fit(r, groups))
	}
	for _, was := range before {
		i := slices.IndexFunc(out, func(v variance) bool {
			return v.Kind == was.Kind && v.Metric == was.Metric && v.Busy == was.Busy
		})
		if i < 0 {
			out = append(out, was)
		} else if was.Programs > out[i].Programs {
			out[i] = was
		}
	}
	slices.SortFunc(out, func(x, y variance) int {
		b := 0
		if x.Busy != y.Busy {
			b = 1
			if y.Busy {
				b = -1
			}
		}
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Metric, y.Metric), b)
	})
	text, err := json.MarshalIndent(out, "", "\t")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// add adds the numbers of a program: each recording is compared with the first, which has compare
// find what they have in common.
func (p *program) add(rows map[row][]group) error {
	var first *analyze.Result
	numbers := map[string]group{}
	at := map[string]row{}
	busy := false
	for _, session := range slices.Sorted(maps.Keys(p.sessions)) {
		for _, r := range p.sessions[session] {
			c, err := compare.Compare([]*analyze.Result{r}, []*analyze.Result{r})
			if err != nil {
				return err
			}
			busy = busy || c.Machine.Busy
			if first == nil {
				first = r
			}
		}
	}
	for _, session := range slices.Sorted(maps.Keys(p.sessions)) {
		for _, r := range p.sessions[session] {
			c, err := compare.Compare([]*analyze.Result{first}, []*analyze.Result{r})
			if err != nil {
				return err
			}
			for name, d := range c.Decided() {
				if numbers[name] == nil {
					numbers[name] = group{}
				}
				numbers[name][session] = append(numbers[name][session], d.Value)
				at[name] = row{d.Kind, d.Metric, busy}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		g := numbers[name]
		rows[at[name]] = append(rows[at[name]], g)
	}
	return nil
}

// fit estimates the parameters: of the sample variances of programs as G. Smyth does (2004, section
// 6.2), and of the means of sessions by the method of moments.
func fit(r row, groups []group) variance {
	v := variance{Kind: r.kind, Metric: r.metric, Busy: r.busy, Programs: len(groups)}
	var logs, spread, all []float64
	for _, g := range groups {
		squares, df := 0.0, 0.0
		var means []float64
		each := 0.0
		for _, session := range slices.Sorted(maps.Keys(g)) {
			xs := g[session]
			v.Traces += len(xs)
			m := quantity.Mean(xs)
			for _, x := range xs {
				squares += (x - m) * (x - m)
			}
			df += float64(len(xs) - 1)
			means = append(means, m)
			each += 1 / float64(len(xs))
		}
		if df > 0 {
			s := max(squares/df, leastVariance)
			all = append(all, s)
			logs = append(logs, math.Log(s)-digamma(df/2)+math.Log(df/2))
			spread = append(spread, trigamma(df/2))
			if n := float64(len(means)); n > 1 {
				m, between := quantity.Mean(means), 0.0
				for _, x := range means {
					between += (x - m) * (x - m)
				}
				v.Apart += max(0, between/(n-1)-s*each/n)
			}
		}
	}
	many := 0.0
	for _, g := range groups {
		if len(g) > 1 {
			many++
		}
	}
	if many > 0 {
		v.Apart /= many
	}
	m, dev := quantity.Mean(logs), 0.0
	for _, x := range logs {
		dev += (x - m) * (x - m)
	}
	dev = dev/max(1, float64(len(logs)-1)) - quantity.Mean(spread)
	v.DF = 50.0
	if least := trigamma(v.DF / 2); dev > least {
		v.DF = 2 * inverseTrigamma(dev)
	}
	v.Between = math.Exp(m + digamma(v.DF/2) - math.Log(v.DF/2))
	slices.Sort(all)
	if len(all) > 0 {
		v.Most = all[len(all)*8/10]
	}
	v.DF, v.Between, v.Most, v.Apart = round(v.DF), round(v.Between), round(v.Most), round(v.Apart)
	return v
}

func round(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(x)))
	return math.Round(x*scale) / scale
}

// digamma is the derivative of the logarithm of the gamma function.
func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 6; x++ {
		sum -= 1 / x
	}
	f := 1 / (x * x)
	return sum + math.Log(x) - 0.5/x - f*(1./12-f*(1./120-f/252))
}

// trigamma is the derivative of digamma.
func trigamma(x float64) float64 {
	sum := 0.0
	for ; x < 6; x++ {
		sum += 1 / (x * x)
	}
	f := 1 / (x * x)
	return sum + 1/x + f/2 + f/x*(1./6-f*(1./30-f/42))
}

func inverseTrigamma(y float64) float64 {
	lo, hi := 1e-3, 1e3
	for range 200 {
		mid := math.Sqrt(lo * hi)
		if trigamma(mid) > y {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

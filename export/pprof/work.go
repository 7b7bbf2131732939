package pprof

import (
	"io"

	"github.com/google/pprof/profile"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/export"
)

// WriteWork writes, gzip'd, what the latency of units of work consists of: a sample for each
// part of the time of a kind. Its stack is the kind, who did something meanwhile, what, and
// where, from the outermost frame on; docs/export.md has the labels. The values of type
// latency sum to the latencies of each kind exactly. The units of a kind count at its largest
// part.
func WriteWork(out io.Writer, res *analyze.Result) error {
	b := newBuilder(analyze.Lookup{}, res, "units", "latency")
	for i := range res.Work.Kinds {
		k := &res.Work.Kinds[i]
		for j := range k.Path {
			count := int64(0)
			if j == 0 {
				count = k.Count
			}
			b.part(k, &k.Path[j], count)
		}
	}
	return b.profile.Write(out)
}

func (b *builder) part(k *work.UnitKind, p *work.TimePart, count int64) {
	s := &profile.Sample{Value: []int64{count, p.Ns}, Label: map[string][]string{"how": b.label(k.How)}}
	for _, name := range []string{p.Where, p.What, p.Who} {
		if name != "" {
			s.Location = append(s.Location, b.location(stacks.Frame{Function: name}))
		}
	}
	s.Location = append(s.Location, b.location(stacks.Frame{Function: k.Name}))
	if p.Via != nil {
		s.Label["via"], s.Label["site"] = b.label(p.Via.What), b.label(export.Shown(p.Via.Site))
	}
	if p.Cause != "" {
		s.Label["cause"] = b.label(p.Cause)
	}
	b.profile.Sample = append(b.profile.Sample, s)
}

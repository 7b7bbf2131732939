package html

import (
	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// workView is the section about units of work.
type workView struct {
	Lead string
	Rows []workRow
	Slow []slowWork
}

// workRow is a kind of units.
type workRow struct {
	Kind  Name
	Cells []cell
}

// slowWork is what slow units of a kind spend their time on.
type slowWork struct {
	Lead  string
	Items []string
}

// newWork returns nil if the trace shows no units of work.
func newWork(r *analyze.Result, names *words.Names) *workView {
	kinds := report.WorkKinds(&r.Work)
	if len(kinds) == 0 {
		return nil
	}
	v := &workView{Lead: report.WorkLead(kinds)}
	for _, k := range kinds {
		l, texts := &k.Latency, report.KindCells(k)
		v.Rows = append(v.Rows, workRow{wholeName(report.KindName(names, k)), []cell{
			{Text: texts[0]}, intCell(texts[1], k.Count), floatCell(texts[2], k.PerS), intCell(texts[3], l.P50Ns), intCell(texts[4], l.P95Ns),
			intCell(texts[5], l.P99Ns), intCell(texts[6], l.MaxNs), floatCell(quantity.Number(k.Concurrency), k.Concurrency),
		}})
	}
	for _, k := range report.SlowKinds(kinds) {
		lead, items := report.SlowInWords(names, k)
		v.Slow = append(v.Slow, slowWork{lead, items})
	}
	return v
}

package html

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// maxCellRows bounds the kinds, and the groups, of which the page has numbers over time.
const maxCellRows = 40

// pageCells are numbers over time for select.js: the coarse ones of a stretch come from them.
type pageCells struct {
	Causes causeCells            `json:"causes"`
	Kinds  map[string]kindCells  `json:"kinds"`  // by what they select, as k1
	Groups map[string]groupCells `json:"groups"` // likewise, as g1
}

// bins are of equal width, in the time of the picture.
type bins struct {
	From int64 `json:"f"`
	Bin  int64 `json:"bin"`
}

type causeCells struct {
	bins
	Titles []string  `json:"titles"`
	Ns     [][]int64 `json:"ns"` // by cause and bin
}

type kindCells struct {
	bins
	Cells [][3]int64 `json:"cells"` // bin, about how long, and how many units
}

type groupCells struct {
	bins
	Ns []int64 `json:"ns"` // waited, by bin
}

func newCells(r *analyze.Result) *pageCells {
	begin, o := r.Timeline.FromNs, &r.Waits.OverTime
	out := &pageCells{Causes: causeCells{bins: bins{o.FromNs - begin, o.BinNs}, Titles: []string{}, Ns: [][]int64{}}, Kinds: map[string]kindCells{}, Groups: map[string]groupCells{}}
	for _, c := range o.Causes {
		out.Causes.Titles, out.Causes.Ns = append(out.Causes.Titles, words.Cause(c.Cause)), append(out.Causes.Ns, c.Ns)
	}
	for i, k := range report.WorkKinds(&r.Work) {
		if i == maxCellRows {
			break
		}
		x := kindCells{bins: bins{k.Series.FromNs - begin, k.Series.BinNs}, Cells: [][3]int64{}}
		for _, c := range k.Series.Cells {
			x.Cells = append(x.Cells, [3]int64{int64(c.Bin), c.Ns, c.Count})
		}
		out.Kinds[fmt.Sprintf("k%d", i+1)] = x
	}
	for i := range r.Waits.Classes {
		if c := &r.Waits.Classes[i]; c.Series != nil && len(out.Groups) < maxCellRows {
			out.Groups[fmt.Sprintf("g%d", c.ID)] = groupCells{bins{c.Series.FromNs - begin, c.Series.BinNs}, c.Series.Ns}
		}
	}
	return out
}

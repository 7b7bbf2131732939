package parquet

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/export"
)

// Unit is a row of units.parquet: a unit of work that was found whole.
type Unit struct {
	Kind      string `parquet:"kind,dict"`  // name of the kind
	Class     string `parquet:"class,dict"` // start function of the goroutine
	How       string `parquet:"how,dict"`   // how units of that kind are found: "task", "region", "cycle" and so on
	Goroutine int64  `parquet:"goroutine"`  // ID of the goroutine that did it
	BeginNs   int64  `parquet:"begin_ns"`   // ns since the first event of the trace
	EndNs     int64  `parquet:"end_ns"`     // ns since the first event of the trace
	LatencyNs int64  `parquet:"latency_ns"` // EndNs less BeginNs
}

// Path is a row of paths.parquet: a part of the time of the units of work of a kind, as
// work.TimePart. Times are in ns: Ns of all units, TypicalNs of a typical one, SlowNs of a slow one.
type Path struct {
	Kind        string `parquet:"kind"`         // name of the kind
	Class       string `parquet:"class"`        // start function of the goroutines that did the units
	How         string `parquet:"how"`          // how units of that kind are found: "task", "region", "cycle" and so on
	Via         string `parquet:"via"`          // what the unit's own goroutine waited for; empty if it did not wait
	ViaFunction string `parquet:"via_function"` // function in which it waited for that
	Who         string `parquet:"who"`          // start function of the goroutine that did What
	What        string `parquet:"what"`         // what was done meanwhile, such as "running", "runnable" or "lock"
	Cause       string `parquet:"cause"`        // with What "runnable": why it waited for a P
	Function    string `parquet:"function"`     // function in which What was done
	Hops        int64  `parquet:"hops"`         // largest number of goroutines through which passed what the unit waited for, such as a lock
	Ns          int64  `parquet:"ns"`           // sum over all units
	TypicalNs   int64  `parquet:"typical_ns"`   // mean of a typical unit
	SlowNs      int64  `parquet:"slow_ns"`      // mean of a slow unit
}

// maxHeld is how many units are held if their names are to be replaced.
const maxHeld = 1 << 21

// heldUnits are units until the analysis is over, whose names are in use meanwhile.
type heldUnits struct {
	*table[Unit]
	names *analyze.Pseudonyms // nil: nothing is held
	units []work.Unit
}

// Unit writes a unit of work, or holds it until Finish if names are replaced. It is for
// [analyze.Options].OnUnit.
func (w *Writer) Unit(u work.Unit) {
	h := &w.units
	switch {
	case h.err != nil:
	case h.names == nil:
		h.write(u)
	case len(h.units) == maxHeld:
		h.err = fmt.Errorf("more than %d units of work cannot be made anonymous: export a window, with --from and --to", maxHeld)
	default:
		h.units = append(h.units, u)
	}
}

func (h *heldUnits) write(u work.Unit) {
	u = h.names.Unit(u)
	h.add(&Unit{
		Kind: export.Function(u.Kind), Class: export.Function(u.Class), How: u.How.String(), Goroutine: u.G,
		BeginNs: u.From, EndNs: u.To, LatencyNs: u.To - u.From,
	})
}

func (w *Writer) path(k *work.UnitKind) {
	for i := range k.Path {
		p := &k.Path[i]
		row := Path{
			Kind: export.Function(k.Name), Class: export.Function(k.Class), How: k.How,
			Who: export.Shown(p.Who), What: p.What, Cause: p.Cause, Function: export.Shown(p.Where), Hops: p.Hops,
			Ns: p.Ns, TypicalNs: p.TypicalNs, SlowNs: p.SlowNs,
		}
		if p.Via != nil {
			row.Via, row.ViaFunction = p.Via.What, export.Shown(p.Via.Site)
		}
		w.paths.add(&row)
	}
}

// Package parquet writes an analysis as tables that databases and data frames read, in the
// format Apache Parquet. It is one of the writers of
// [github.com/gmpscope/gmpscope/export].
//
// There is a file for waits, starts, run intervals and units of work, with a row for each of
// them, and one for classes, findings and what the time of units consists of. The types
// [Wait], [Start], [Run], [Class], [Finding], [Unit] and [Path] are the rows. Times are ns; those that name an instant count from the first event of the
// trace. The metadata of each file has, under "gmpscope", of which trace it is, and what is
// missing.
package parquet

import (
	"cmp"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/export"
	"github.com/gmpscope/gmpscope/reference"
)

// Files returns the names of the files, in the order in which [NewWriter] takes their writers.
func Files() []string {
	return []string{"waits.parquet", "starts.parquet", "runs.parquet", "classes.parquet", "findings.parquet", "units.parquet", "paths.parquet"}
}

// Writer writes the tables of an analysis, of which it is the [analyze.Observer]. Its
// memory depends on the number of goroutines alive at one time and of classes; and a
// Parquet file has an index at its end, of some KB for each 65,536 rows.
type Writer struct {
	export.View
	now int64

	waits    *table[Wait]
	starts   *table[Start]
	runs     *table[Run]
	classes  *table[Class]
	findings *table[Finding]
	units    heldUnits
	paths    *table[Path]
}

// NewWriter returns a Writer to these files, in the order of [Files]. names are those of
// [analyze.Options.Anonymize], if it is set: then units are held until Finish.
func NewWriter(files [7]io.Writer, names *analyze.Pseudonyms) *Writer {
	return &Writer{
		waits: newTable[Wait](files[0]), starts: newTable[Start](files[1]), runs: newTable[Run](files[2]),
		classes: newTable[Class](files[3]), findings: newTable[Finding](files[4]),
		units: heldUnits{table: newTable[Unit](files[5]), names: names}, paths: newTable[Path](files[6]),
	}
}

// Observe writes the waits, starts and run intervals of a block. It implements
// [analyze.Observer].
func (w *Writer) Observe(b *ledger.Block, ended []waits.EndedWait) error {
	for i := range ended {
		w.wait(b, &ended[i])
	}
	for i := range b.Decisions {
		d := &b.Decisions[i]
		if d.Kind.Annotates() {
			continue
		}
		w.now = max(w.now, d.Time)
		if n := &b.Notes[i]; n.Changed&(ledger.Turned|ledger.Returned) == ledger.Turned && n.Now == ledger.Running {
			w.start(b, i)
		}
	}
	for i := range b.Runs {
		w.run(b, &b.Runs[i])
	}
	return cmp.Or(w.waits.err, w.starts.err, w.runs.err)
}

var kinds = [...]string{waits.KindUser: "user", waits.KindSelf: "self", waits.KindSystem: "system"}

func (w *Writer) wait(b *ledger.Block, e *waits.EndedWait) {
	d := &b.Decisions[e.At]
	class := b.Classes[b.Notes[e.At].Class]
	row := Wait{
		Goroutine: d.G, Class: w.Class(class), ClassID: class, Kind: kinds[e.Kind],
		ReadyNs: e.From, StartNs: e.To, WaitNs: e.To - e.From,
		Queue: d.Src.String(), Waker: export.NoWaker(e.Why), P: d.P, Begins: e.Begins, Basis: d.Basis.String(),
	}
	row.Causes.of(&e.Causes)
	if e.By > 0 {
		row.Waker, row.WakerGoroutine = w.Class(e.Waker), new(e.By)
	}
	w.waits.add(&row)
}

func (w *Writer) start(b *ledger.Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	class := b.Classes[n.Class]
	if !w.Has(w.now) || !w.Chosen(d.G, class) {
		return
	}
	row := Start{
		TimeNs: w.now, Goroutine: d.G, Class: w.Class(class), ClassID: class, P: d.P, M: known(d.M),
		Source: d.Src.String(), WaitNs: known(d.Wait), Locked: d.Flags&reference.FlagLocked != 0, First: d.Flags&reference.FlagFirst != 0,
		Basis: d.Basis.String(),
	}
	if d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
		row.Victim = known(d.Victim)
	}
	if d.Batch > 0 {
		row.Batch = new(d.Batch)
	}
	if !w.Reduced {
		row.LocalQueue, row.GlobalQueue = new(d.Local), new(d.Global)
	}
	w.starts.add(&row)
}

// known returns a number that is negative where it is not known.
func known[N int32 | int64](n N) *N {
	if n < 0 {
		return nil
	}
	return &n
}

func (w *Writer) run(b *ledger.Block, r *ledger.Run) {
	class := b.Classes[r.Class]
	from, to, ok := w.Cut(r.From, r.To)
	if !ok || !w.Chosen(r.G, class) {
		return
	}
	w.runs.add(&Run{
		Goroutine: r.G, Class: w.Class(class), ClassID: class, P: r.P, M: known(r.M),
		FromNs: from, ToNs: to, RunNs: to - from, Started: r.Started, Stop: r.Why.String(),
	})
}

// Finish writes classes and findings, and completes the files.
func (w *Writer) Finish(res *analyze.Result) error {
	for i := range res.Waits.Classes {
		w.class(&res.Waits.Classes[i])
	}
	for i := range res.Findings {
		w.finding(&res.Findings[i])
	}
	for _, u := range w.units.units {
		w.units.write(u)
	}
	for i := range res.Work.Kinds {
		w.path(&res.Work.Kinds[i])
	}
	about := strings.Join(export.Comments(res), "\n")
	return cmp.Or(w.waits.close(about), w.starts.close(about), w.runs.close(about), w.classes.close(about), w.findings.close(about), w.units.close(about), w.paths.close(about))
}

func (w *Writer) class(c *waits.Class) {
	row := Class{
		ClassID: c.ID, Class: export.Function(c.Name), Creator: export.Shown(c.Creator), StartedBy: export.Shown(c.StartedBy), System: c.System,
		Goroutines: c.Goroutines, Starts: c.Starts, RunningNs: c.RunningNs, Waits: c.Waits.Count, WaitNs: c.Waits.TotalNs,
	}
	var causes [waits.NumCauses]int64
	for i, x := range c.Causes {
		causes[i] = x.Ns
	}
	row.Causes.of(&causes)
	w.classes.add(&row)
}

func (w *Writer) finding(f *findings.Finding) {
	row := Finding{
		ID: f.ID, Kind: string(f.Kind), Severity: string(f.Severity), Title: export.Shown(f.Title.String()), CostNs: f.CostNs,
		FromNs: f.FromNs, ToNs: f.ToNs, Basis: f.Basis, Evidence: export.Evidence(f), Advice: make([]string, len(f.Advice)),
	}
	for i, s := range f.Advice {
		row.Advice[i] = export.Shown(s.String())
	}
	for _, x := range f.Actors {
		switch {
		case x.Class == "":
		case x.Role == findings.Victim:
			row.Victims = append(row.Victims, export.Shown(x.Class))
		case x.Role == findings.Cause:
			row.Causes = append(row.Causes, export.Shown(x.Class))
		}
	}
	w.findings.add(&row)
}

// Bounds of what is held in memory of a file: rows that are collected for one call, rows of
// a group, and bytes of a dictionary, beyond which a column is written without.
const (
	rowsAtOnce    = 1 << 10
	rowsOfGroup   = 1 << 16
	dictionaryMax = 1 << 20
)

// table writes the rows of a file, up to the first error.
type table[Row any] struct {
	w    *parquet.GenericWriter[Row]
	rows []Row
	err  error
}

func newTable[Row any](w io.Writer) *table[Row] {
	return &table[Row]{
		w: parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Snappy),
			parquet.MaxRowsPerRowGroup(rowsOfGroup), parquet.DictionaryMaxBytes(dictionaryMax), parquet.PageBufferSize(64<<10)),
		rows: make([]Row, 0, rowsAtOnce),
	}
}

func (t *table[Row]) add(row *Row) {
	if t.rows = append(t.rows, *row); len(t.rows) == rowsAtOnce {
		t.flush()
	}
}

func (t *table[Row]) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.rows)
	}
	t.rows = t.rows[:0]
}

// close ends the file. It says what it is about.
func (t *table[Row]) close(about string) error {
	if t.flush(); t.err != nil {
		return t.err
	}
	t.w.SetKeyValueMetadata("gmpscope", about)
	return t.w.Close()
}

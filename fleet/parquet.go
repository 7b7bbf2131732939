package fleet

import (
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/gmpscope/gmpscope/analyze/waits"
)

var _ = [1]int{}[waits.NumCauses-9] // Row has a column for each

// Row is a row of WriteParquet's table, for one trace. Times are ns; keys that have a
// unit and a cause in their names add up over rows.
type Row struct {
	Key         string            `parquet:"key"` // SHA-256 of the uncompressed trace
	Trace       string            `parquet:"trace"`
	Labels      map[string]string `parquet:"labels"`                                // of the first source
	Sources     int32             `parquet:"sources"`                               // names and labels under which it was found
	Start       *time.Time        `parquet:"start,optional,timestamp(millisecond)"` // by the wall clock; null if unknown
	Go          string            `parquet:"go,dict"`
	GOMAXPROCS  int64             `parquet:"gomaxprocs"`
	DurationNs  int64             `parquet:"duration_ns"`
	Bytes       int64             `parquet:"bytes"`
	Incomplete  bool              `parquet:"incomplete"`
	RunningNs   int64             `parquet:"running_ns"`
	Waits       int64             `parquet:"waits"`
	WaitingNs   int64             `parquet:"waiting_ns"` // the sum of the next nine
	STW         int64             `parquet:"world_stopped_ns"`
	Unavailable int64             `parquet:"p_unavailable_ns"`
	GC          int64             `parquet:"garbage_collector_ns"`
	IdlePWaking int64             `parquet:"p_waking_up_ns"`
	IdlePMissed int64             `parquet:"idle_p_available_ns"`
	Behind      int64             `parquet:"queueing_ns"`
	Overtaken   int64             `parquet:"overtaken_ns"`
	Tracer      int64             `parquet:"tracer_ns"`
	Residue     int64             `parquet:"scheduler_overhead_ns"`
	P50Ns       int64             `parquet:"p50_ns"` // of the waits, within 3 %
	P99Ns       int64             `parquet:"p99_ns"`
	MaxNs       int64             `parquet:"max_ns"`
	IdleNs      int64             `parquet:"idle_ns"` // of Ps
	PNs         int64             `parquet:"p_ns"`    // recorded P-time
	Starts      int64             `parquet:"starts"`
	Unexplained int64             `parquet:"unexplained"`
	Steals      int64             `parquet:"steals"`
	Handoffs    int64             `parquet:"handoffs"`
	Retakes     int64             `parquet:"retakes"`
	Preemptions int64             `parquet:"preemptions"`
	Classes     []ClassRow        `parquet:"classes,list"`
	Findings    []FindingRow      `parquet:"findings,list"`
}

// ClassRow is what a class of goroutines did in the trace of a [Row]. Times are ns.
type ClassRow struct {
	Name      string `parquet:"name"`    // start function
	Creator   string `parquet:"creator"` // function that executed the go statement
	RunningNs int64  `parquet:"running_ns"`
	Waits     int64  `parquet:"waits"`      // how many
	WaitingNs int64  `parquet:"waiting_ns"` // sum of the waits
}

// FindingRow is what a detector found in the trace of a [Row]. Times are ns.
type FindingRow struct {
	ID       string `parquet:"id"`       // ID of the detector
	Severity string `parquet:"severity"` // "note", "warning" or "critical"
	Class    string `parquet:"class"`    // start function of the goroutines that it is about; empty for none
	CostNs   int64  `parquet:"cost_ns"`  // goroutine-time lost
	FromNs   int64  `parquet:"from_ns"`  // beginning of the window in which it is worst
	ToNs     int64  `parquet:"to_ns"`    // end of that window
}

// rowsOfGroup bounds the rows that are held in memory.
const rowsOfGroup = 1 << 12

// WriteParquet writes records, a row each, as a table in the format Apache Parquet.
func WriteParquet(to io.Writer, records iter.Seq2[*Record, error]) error {
	w := parquet.NewGenericWriter[Row](to, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowsOfGroup),
		parquet.CreatedBy("gmpscope", strconv.Itoa(Schema), "")) // what it says by itself depends on the build
	for r, err := range records {
		if err != nil {
			return err
		}
		if _, err := w.Write([]Row{rowOf(r)}); err != nil {
			return err
		}
	}
	return w.Close()
}

func rowOf(r *Record) Row {
	c, q := &r.User.Causes, r.User.Histogram
	row := Row{
		Key: r.Key, Trace: r.Sources[0].Name, Labels: map[string]string{}, Sources: int32(len(r.Sources)), Go: r.Trace.GoVersion, GOMAXPROCS: r.Trace.GOMAXPROCS,
		DurationNs: r.Trace.DurationNs, Bytes: r.Trace.Bytes, Incomplete: r.Trace.Incomplete, RunningNs: r.Ps.RunningNs, Waits: r.User.Count, WaitingNs: r.User.TotalNs,
		STW: c[0], Unavailable: c[1], GC: c[2], IdlePWaking: c[3], IdlePMissed: c[4], Behind: c[5], Overtaken: c[6], Tracer: c[7], Residue: c[8],
		P50Ns: min(q.Quantile(0.5), r.User.MaxNs), P99Ns: min(q.Quantile(0.99), r.User.MaxNs), MaxNs: r.User.MaxNs,
		IdleNs: r.Ps.IdleNs, PNs: max(0, r.Ps.LifetimeNs-r.Ps.UnusedNs-r.Ps.NotRecordedNs), Starts: r.Starts.Count, Unexplained: r.Starts.Unexplained,
		Steals: r.Ps.Steals, Handoffs: r.Ps.Handoffs, Retakes: r.Ps.Retakes, Preemptions: r.Ps.Preemptions,
	}
	for _, l := range r.Sources[0].Labels {
		row.Labels[l.Name] = l.Value
	}
	if r.Trace.WallUnix > 0 {
		row.Start = new(time.Unix(r.Trace.WallUnix, 0).UTC())
	}
	for i := range r.Classes {
		k := &r.Classes[i]
		row.Classes = append(row.Classes, ClassRow{className(r, k.Name), k.Creator, k.RunningNs, k.Waits.Count, k.Waits.TotalNs})
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		row.Findings = append(row.Findings, FindingRow{f.ID, f.Severity, className(r, f.Class), f.CostNs, f.FromNs, f.ToNs})
	}
	return row
}

package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// WriteOpenMetrics writes the numbers of doc in the text format of OpenMetrics 1.0, for Prometheus and
// others. All but histograms are gauges, also what describes the trace: a trace is over, and the next one may
// have less. Times are in seconds. Readers of the older text format of Prometheus read it too.
func WriteOpenMetrics(w io.Writer, doc *Document) error {
	if doc == nil || doc.Result == nil {
		return errors.New("openmetrics: no result")
	}
	bw := lineWriter(w)
	writeTraceInfo(bw, doc)
	rest := subjectsOf(doc)
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && rest[n].kind == rest[0].kind {
			n++
		}
		writeFamilies(bw, rest[:n])
		rest = rest[n:]
	}
	writeLatencies(bw, doc.Result.Work.Kinds)
	bw.WriteString("# EOF\n")
	return bw.Flush()
}

func writeTraceInfo(w *bufio.Writer, doc *Document) {
	t := &doc.Result.Trace
	tags := []tag{
		{"trace", words.Visible(t.Name)},
		{"format", words.Visible(t.Format)},
		{"go", words.Visible(t.GoVersion)},
		{"gomaxprocs", strconv.Itoa(t.GOMAXPROCS)},
		{"incomplete", strconv.FormatBool(t.Incomplete || t.LostBytes > 0 || t.LostNs > 0)},
	}
	fmt.Fprintf(w, "# TYPE gmpscope_trace_info gauge\n# HELP gmpscope_trace_info what was read\ngmpscope_trace_info%s 1\n", openMetricsLabels(tags))
}

// writeFamilies writes a metric family for each number of subjects of one kind.
func writeFamilies(w *bufio.Writer, subjects []measured) {
	for i, n := range subjects[0].numbers {
		name := openMetricsName(subjects[0].kind, n)
		fmt.Fprintf(w, "# TYPE %s gauge\n", name)
		if n.unit != none {
			fmt.Fprintf(w, "# UNIT %s %s\n", name, n.unit)
		}
		fmt.Fprintf(w, "# HELP %s %s\n", name, n.help)
		for _, s := range subjects {
			fmt.Fprintf(w, "%s%s %s\n", name, openMetricsLabels(s.tags), openMetricsValue(s.numbers[i].inUnit()))
		}
	}
}

// Latencies are counted up to powers of two of a ns, less one: from 1 µs to 1 min.
const leastLatency, mostLatency = 10, 36

// writeLatencies writes the latency of units of work, a histogram for each kind.
func writeLatencies(w *bufio.Writer, kinds []work.UnitKind) {
	const name = "gmpscope_unit_latency_seconds"
	seen := map[[3]string]int{}
	for i := range kinds {
		k := &kinds[i]
		if k.Count == 0 {
			continue
		}
		if len(seen) == 0 {
			fmt.Fprintf(w, "# TYPE %s histogram\n# UNIT %[1]s seconds\n# HELP %[1]s how long units of work took, by kind\n", name)
		}
		key := [3]string{words.Visible(k.Name), words.Visible(k.Class), k.How}
		class := key[1]
		if seen[key]++; seen[key] > 1 { // the start function was given other ones to run
			class += fmt.Sprintf("#%02d", seen[key]-1)
		}
		of := []tag{{"kind", key[0]}, {"class", class}, {"how", k.How}}
		for n := leastLatency; n <= mostLatency; n++ {
			le := openMetricsValue(float64(int64(1)<<n-1) / 1e9)
			fmt.Fprintf(w, "%s_bucket%s %d\n", name, openMetricsLabels(append(of, tag{"le", le})), k.Latency.Below(1<<n))
		}
		fmt.Fprintf(w, "%s_bucket%s %d\n", name, openMetricsLabels(append(of, tag{"le", "+Inf"})), k.Count)
		fmt.Fprintf(w, "%s_count%s %d\n", name, openMetricsLabels(of), k.Count)
		fmt.Fprintf(w, "%s_sum%s %s\n", name, openMetricsLabels(of), openMetricsValue(float64(k.TotalNs)/1e9))
	}
}

func openMetricsName(kind string, n number) string {
	name := "gmpscope_"
	if kind != "" {
		name += kind + "_"
	}
	name += n.name
	if n.unit != none {
		name += "_" + string(n.unit)
	}
	return name
}

func openMetricsValue(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

var openMetricsEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func openMetricsLabels(tags []tag) string {
	if len(tags) == 0 {
		return ""
	}
	pairs := make([]string, len(tags))
	for i, l := range tags {
		pairs[i] = l.key + `="` + openMetricsEscaper.Replace(l.value) + `"`
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/report/internal/words"
)

// WriteOpenMetrics writes the numbers of doc in the text format of OpenMetrics 1.0,
// for Prometheus and others. All are gauges: a trace is over, and the next one may have
// less. Times are in seconds.
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
	fmt.Fprintf(w, "# TYPE gmpscope_trace info\n# HELP gmpscope_trace what was read\ngmpscope_trace_info%s 1\n", openMetricsLabels(tags))
}

// writeFamilies writes a metric family for each number of subjects of one kind.
func writeFamilies(w *bufio.Writer, subjects []measured) {
	for i, n := range subjects[0].numbers {
		name := openMetricsName(subjects[0].kind, n)
		fmt.Fprintf(w, "# TYPE %s gauge\n", name)
		switch n.unit {
		case seconds:
			fmt.Fprintf(w, "# UNIT %s seconds\n", name)
		case ratio:
			fmt.Fprintf(w, "# UNIT %s ratio\n", name)
		}
		fmt.Fprintf(w, "# HELP %s %s\n", name, n.help)
		for _, s := range subjects {
			fmt.Fprintf(w, "%s%s %s\n", name, openMetricsLabels(s.tags), openMetricsValue(s.numbers[i]))
		}
	}
}

func openMetricsName(kind string, n number) string {
	name := "gmpscope_"
	if kind != "" {
		name += kind + "_"
	}
	name += n.name
	switch n.unit {
	case seconds:
		name += "_seconds"
	case ratio:
		name += "_ratio"
	}
	return name
}

func openMetricsValue(n number) string {
	return strconv.FormatFloat(n.inUnit(), 'g', -1, 64)
}

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

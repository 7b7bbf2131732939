package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/export/pprof"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

// view is one of the answers.
type view struct {
	contentType string
	// write writes the answer about a trace. analyze reads it with those options, in which the
	// limits are set; w makes the pauses of what follows.
	write func(w io.Writer, analyze func(analyze.Options) (*analyze.Result, error)) error
}

// tool is what made an answer.
const tool = "gmpscope live"

var views = map[string]view{
	"":     {"text/html; charset=utf-8", writePage},
	"work": {"application/json", writeWork},
	"wait": {"application/octet-stream", writeWait},
}

func writePage(w io.Writer, analysis func(analyze.Options) (*analyze.Result, error)) error {
	res, err := analysis(analyze.Options{})
	if err != nil {
		return err
	}
	script, _ := html.Bundled()
	return html.Write(w, report.Build(res, tool), html.Options{ECharts: script})
}

// Work is the answer of /work: the verdict, and the units of work in the last seconds. Times
// are in ns.
type Work struct {
	Schema     int        `json:"schema"`         // as in the documents of gmpscope: report.Schema
	Tool       string     `json:"tool"`           // gmpscope and its version
	Wall       string     `json:"wall,omitempty"` // beginning of the analysed time, RFC 3339
	DurationNs int64      `json:"duration_ns"`    // length of the analysed time
	Status     string     `json:"status"`         // of the verdict: "ok", "note", "warning" or "critical"
	Headline   string     `json:"headline"`       // of the verdict
	Warnings   []string   `json:"warnings"`       // what is missing or odd
	Work       work.Units `json:"work"`           // as "work" of gmpscope analyze --format json
}

func writeWork(w io.Writer, analysis func(analyze.Options) (*analyze.Result, error)) error {
	res, err := analysis(analyze.Options{NoTimeline: true})
	if err != nil {
		return err
	}
	v := report.Build(res, tool).Verdict
	t := &res.Trace
	res.Work.Kinds = slices.DeleteFunc(res.Work.Kinds, func(k work.UnitKind) bool { return ours(k.Name) || ours(k.Class) })
	return json.NewEncoder(w).Encode(Work{report.Schema, tool, t.Wall, t.DurationNs, v.Status, v.Headline, append([]string{}, t.Warnings...), res.Work})
}

// ours reports whether a function is one of those that answer, which are no work of the program.
func ours(function string) bool {
	const module = "github.com/gmpscope/gmpscope/"
	return slices.ContainsFunc([]string{"live.", "analyze", "export/", "report"}, func(p string) bool { return strings.HasPrefix(function, module+p) })
}

func writeWait(w io.Writer, analysis func(analyze.Options) (*analyze.Result, error)) error {
	p := pprof.NewWriter(w, pprof.Options{Blocked: true})
	res, err := analysis(analyze.Options{NoTimeline: true, NoWork: true, NoFindings: true, Observer: p})
	if err != nil {
		return err
	}
	return p.Finish(res)
}

// answer makes an answer about the last seconds: all that are there, or so many.
func (s *server) answer(ctx context.Context, v view, last time.Duration) ([]byte, error) {
	var data bytes.Buffer
	if _, err := s.rec.WriteTo(&data); err != nil {
		return nil, err
	}
	memory, err := s.memory(data.Len())
	if err != nil {
		return nil, err
	}
	p := &pace{ctx: ctx, cpus: s.o.CPU, since: time.Now()}
	read := func(o analyze.Options) (*analyze.Result, error) {
		o.Workers, o.MaxMemory, o.OnEvents = 1, memory, func(int) { p.pause(busyCPUs) }
		res, err := analyze.Reader(ctx, bytes.NewReader(data.Bytes()), "flight recorder", o)
		if err != nil {
			return nil, fmt.Errorf("analysing the last seconds: %w", err)
		}
		return res, nil
	}
	var from int64
	if last > 0 { // how long the trace is shows only at its end
		res, err := read(analyze.Options{DecisionsOnly: true})
		if err != nil {
			return nil, err
		}
		from = max(0, res.Trace.DurationNs-int64(last))
	}
	var out bytes.Buffer
	err = v.write(&pacedWriter{&out, p}, func(o analyze.Options) (*analyze.Result, error) {
		o.Focus = focus.Focus{From: from}
		return read(o)
	})
	return out.Bytes(), err
}

// errNoMemory is the error of an answer for which the process has no memory.
var errNoMemory = errors.New("the process has too little memory left for an analysis")

// memory returns how many bytes an analysis of a trace may take: Options.MaxMemory, or what is left
// of the process's own limit (GOMEMLIMIT, debug.SetMemoryLimit), beyond which the collector would
// run all the time.
func (s *server) memory(trace int) (int64, error) {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return s.o.MaxMemory, nil
	}
	m := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, // with those that the collector has not found to be dead
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(m)
	used := int64(trace) + int64(m[0].Value.Uint64()) + int64(m[5].Value.Uint64())
	for _, unused := range m[1:5] {
		used -= int64(unused.Value.Uint64())
	}
	room := limit - used
	if room < analyze.MinMemory {
		return 0, fmt.Errorf("%w: its limit (GOMEMLIMIT) is %d MiB, it uses %d, and an analysis takes at least %d",
			errNoMemory, limit>>20, used>>20, analyze.MinMemory>>20)
	}
	return min(s.o.MaxMemory, room), nil
}

const (
	// busyCPUs is how many CPUs an analysis with one worker keeps busy: docs/performance.md has
	// its CPU time beside its wall time.
	busyCPUs = 2
	maxPause = time.Second // after what had to wait for a CPU itself, and so seems to have used more than it did
)

// pace makes pauses in what uses CPUs, so that on average it uses no more than cpus.
type pace struct {
	ctx   context.Context
	cpus  float64
	since time.Time // of the end of the last pause
}

// pause ends when what was done since the last one, by so many CPUs, is within the budget.
func (p *pace) pause(busy float64) {
	rest := time.Duration(float64(time.Since(p.since)) * (busy/p.cpus - 1))
	if rest < time.Millisecond/4 {
		return
	}
	select {
	case <-time.After(min(rest, maxPause)):
	case <-p.ctx.Done():
	}
	p.since = time.Now()
}

// pacedWriter is a writer whose writes make pauses.
type pacedWriter struct {
	io.Writer
	pace *pace
}

func (w *pacedWriter) Write(b []byte) (int, error) {
	if err := w.pace.ctx.Err(); err != nil {
		return 0, err
	}
	w.pace.pause(1)
	return w.Writer.Write(b)
}

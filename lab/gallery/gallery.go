// Package gallery writes lab/docs/gallery.md: what gmpscope says about pathologies that people have
// met, by programs of testdata/traces/pairs that are modelled on them, before and after its
// advice was followed.
package gallery

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/report"
)

// Exhibit is a pathology.
type Exhibit struct {
	Pair  string // of package pairs
	Title string
	Links []string // where people met it
	Saw   string   // what they saw
	Did   string   // what the program does after the change
}

// Exhibits lists them, in the order of the page.
var Exhibits = []Exhibit{
	{
		Pair: "relay", Title: "A relay of goroutines starves everybody else", Links: []string{"https://github.com/golang/go/issues/52934"},
		Saw: "A chain of goroutines, each of which starts the next and ends, keeps a P to itself: what a goroutine creates runs next, within the same time slice, and whoever else is in the queue waits.",
		Did: "One goroutine does the work of the chain, and lets others in every 20 links.",
	},
	{
		Pair: "handlers", Title: "Short requests behind long computations", Links: []string{"https://github.com/golang/go/issues/51071"},
		Saw: "A server answers in 1 ms, but not beside requests that compute: with all Ps taken by computations, each short request, and the timer that would start it, waits for the end of time slices. The issue proposes another scheduler for Go.",
		Did: "Reports are made one at a time, so that a P stays free.",
	},
	{
		Pair: "poll-barrier", Title: "Polling with runtime.Gosched", Links: []string{"https://github.com/golang/go/issues/13546", "https://github.com/golang/go/issues/13527"},
		Saw: "A goroutine that waits for others asks again and again, and calls runtime.Gosched in between. It keeps a P busy with nothing, and each yield goes through the global queue; the first issue tells of a program that hung.",
		Did: "It waits on a sync.Cond.",
	},
	{
		Pair: "senders-fifo", Title: "A dispatcher that serves the newest first", Links: []string{"https://github.com/php/frankenphp/pull/2016"},
		Saw: "Tail latencies without a reason: requests are sent to a channel, their goroutines block in the send and are all woken at once, more than a local queue holds. Those that came last are in the local queue, and are served before those that spilled over into the global one.",
		Did: "Each client stands in a list, and is let in when it is its turn.",
	},
	{
		Pair: "stopped-server", Title: "A CPU quota that is used up early", Links: []string{"https://github.com/golang/go/issues/33803"},
		Saw: "Requests take 50 ms now and then, in a container whose CPU limit allows the mean load: early in each period of 100 ms the quota is used up, and the whole process stands still. Here a helper process stops it with SIGSTOP for 45 ms of every 100 ms, since not every machine lets a test set a quota.",
		Did: "Nobody stops it.",
	},
	{
		Pair: "mutex-sharded", Title: "A lock convoy", Links: []string{"https://github.com/golang/go/issues/33747"},
		Saw: "More goroutines, and more Ps, and no more work done: each holds the lock for most of the time that it works, and the others stand in line. The issue tells of large machines whose threads spend their time on one mutex.",
		Did: "The state is divided, with a lock for each part.",
	},
}

// Find returns the pair of an exhibit.
func (e *Exhibit) find() (*pairs.Pair, error) {
	if i := slices.IndexFunc(pairs.All, func(p pairs.Pair) bool { return p.Name == e.Pair }); i >= 0 {
		return &pairs.All[i], nil
	}
	return nil, fmt.Errorf("there is no pair %q", e.Pair)
}

// Picture is the path of an exhibit's picture, from the page.
func (e *Exhibit) Picture() string { return "gallery/" + e.Pair + ".png" }

// Recording is the path of the trace that the picture is of, from the checkout root.
func (e *Exhibit) Recording() string {
	return "testdata/traces/pairs/" + e.Pair + "-before-0.trace.gz"
}

// Page writes the page.
func Page(ctx context.Context, w io.Writer, from runner.Source) error {
	var b strings.Builder
	b.WriteString(`# Gallery

For those who wonder whether gmpscope finds what others have met: programs modelled on such pathologies, what gmpscope says of a trace, and
what changes when its advice is followed. Written by ` + "`go -C lab test ./gallery -update`" + ` from the recordings in
testdata/traces/pairs; a test keeps it true, and ` + "`scripts/screenshot`" + ` makes the pictures. For yourself, with NAME as in the path of the program:

    gmpscope report testdata/traces/pairs/NAME-before-0.trace.gz -o report.html
    gmpscope diff --before 'testdata/traces/pairs/NAME-before-*.gz' --after 'testdata/traces/pairs/NAME-after-*.gz'
`)
	for i := range Exhibits {
		if err := Exhibits[i].write(ctx, &b, from); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *Exhibit) write(ctx context.Context, b *strings.Builder, from runner.Source) error {
	p, err := e.find()
	if err != nil {
		return err
	}
	before, err := pairs.Results(ctx, from, p, pairs.Sides[0])
	if err != nil {
		return err
	}
	after, err := pairs.Results(ctx, from, p, pairs.Sides[1])
	if err != nil {
		return err
	}
	j, err := pairs.Judge(before, after, *p)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n## %s\n\n%s (", e.Title, e.Saw)
	for i, l := range e.Links {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "[%s](%s)", issue(l), l)
	}
	v, then := report.Build(before[0], "").Verdict, report.Build(after[0], "").Verdict
	fmt.Fprintf(b, ")\n\n![The first screen of the report](%s)\n\n", e.Picture())
	fmt.Fprintf(b, "| | before | after |\n|---|---|---|\n")
	fmt.Fprintf(b, "| what gmpscope says | %s: **%s** | %s: **%s** |\n", v.Label, v.Headline, then.Label, then.Headline)
	fmt.Fprintf(b, "| Ps busy | %s | %s |\n", busy(before[0]), busy(after[0]))
	fmt.Fprintf(b, "\n%s\n\n", v.Try)
	fmt.Fprintf(b, "[The program](../../%s/main.go) after the change: %s `gmpscope diff`, %d recordings a side: **%s**. %s\n",
		pairs.Program(p), e.Did, pairs.Recordings, j.Got.Verdict, strings.Join(append([]string{j.Got.Headline + "."}, j.Got.Lines...), " "))
	return nil
}

// issue is a link as people write it: owner/name#number.
func issue(link string) string {
	rest, number := path.Split(strings.TrimPrefix(link, "https://github.com/"))
	return path.Dir(path.Clean(rest)) + "#" + number
}

// busy is the part of the P-time that was not idle.
func busy(r *analyze.Result) string {
	idle, life := int64(0), int64(0)
	for _, p := range r.Procs.Ps {
		idle, life = idle+p.IdleNs, life+p.LifetimeNs-p.NotRecordedNs
	}
	return quantity.Part(life-idle, life)
}

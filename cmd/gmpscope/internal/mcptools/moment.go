package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/report"
)

type waitsIn struct {
	scope
	Goroutine int64 `json:"goroutine,omitempty" jsonschema:"its number; or choose a class"`
	Offset    int   `json:"offset,omitempty" jsonschema:"the next of an answer"`
}

type waitsOut struct {
	Basis      string   `json:"basis"`
	Goroutines int64    `json:"goroutines"`
	Running    string   `json:"running"`
	Runnable   string   `json:"runnable" jsonschema:"waited for a P"`
	Blocked    []string `json:"blocked" jsonschema:"by reason, longest first"`
	Syscall    string   `json:"in_system_calls"`
	Causes     []string `json:"runnable_because" jsonschema:"what finished waits for a P were lost to"`
	WokenBy    []string `json:"woken_by,omitempty"`
	Longest    []string `json:"longest_waits" jsonschema:"for a P, told one by one"`
	page
}

func (s *Server) waits(ctx context.Context, in waitsIn) (out waitsOut, err error) {
	f, err := in.focus()
	if err != nil {
		return out, err
	}
	if in.Goroutine != 0 {
		f.Goroutines = []int64{in.Goroutine}
	}
	if !f.Selects() {
		return out, errors.New("name a goroutine or a class: verdict has those of all")
	}
	a, err := s.analyze(ctx, in.Trace, f)
	if err != nil {
		return out, err
	}
	r, names := a.doc.Result, a.doc.Names()
	life := r.Breakdown.Program
	life.Add(&r.Breakdown.Runtime)
	out = waitsOut{
		Basis: "observed times; inferred causes", Running: quantity.Duration(life.RunningNs), Runnable: quantity.Duration(life.RunnableNs),
		Syscall: quantity.Duration(life.SyscallNs), Blocked: []string{}, Causes: []string{},
	}
	for i := range r.Breakdown.Classes {
		out.Goroutines += r.Breakdown.Classes[i].Goroutines
	}
	if out.Goroutines == 0 {
		return out, errors.New("the trace shows nothing of it there")
	}
	for _, b := range report.BlockedBySize(&life) {
		out.Blocked = append(out.Blocked, b.Reason.String()+" "+quantity.Duration(b.Ns))
	}
	for _, c := range r.Waits.All.Causes {
		if c.Ns > 0 {
			out.Causes = append(out.Causes, string(c.Cause)+" "+quantity.Duration(c.Ns))
		}
	}
	for i := range r.Waits.Classes {
		for _, w := range r.Waits.Classes[i].WokenBy[:min(len(r.Waits.Classes[i].WokenBy), 5)] {
			by := cmp.Or(a.class(w.Name), "no goroutine")
			out.WokenBy = append(out.WokenBy, fmt.Sprintf("%s (%s): %d times, after which it waited %s", by, w.Why, w.Count, quantity.Duration(w.WaitNs)))
		}
	}
	out.WokenBy = out.WokenBy[:min(len(out.WokenBy), 10)]
	list := []string{}
	for _, w := range r.Waits.LongestWaits() {
		head := fmt.Sprintf("goroutine %d from %s for %s (%s):", w.G, instantOf(w.FromNs), quantity.Duration(w.WaitNs), w.Basis)
		for _, x := range names.WaitSentences(w.WaitDetail) {
			head += " " + x
		}
		list = append(list, a.sentence(head))
	}
	out.Longest, out.page, err = paged(list, in.Offset, maxAnswer/4)
	return out, err
}

type atIn struct {
	trace
	From   string `json:"from" jsonschema:"time after the first event, such as 1.2s"`
	To     string `json:"to" jsonschema:"its end; a window of some ms is good"`
	Offset int    `json:"offset,omitempty" jsonschema:"the next of an answer"`
}

type atOut struct {
	Basis    string   `json:"basis"`
	Runnable int32    `json:"most_runnable" jsonschema:"how many goroutines waited for a P at one time, at most"`
	Idle     int32    `json:"most_idle" jsonschema:"how many Ps were idle at one time, at most"`
	Runs     []string `json:"runs" jsonschema:"by P, then by time: from when, for how long, goroutine and class, how long it had waited for a P, why it stopped; a P that is not here ran no goroutine"`
	page
	Omitted int `json:"omitted,omitempty" jsonschema:"further ones: choose a shorter window"`
}

const mostRuns = 2000

// watcher finds the run intervals in a window.
type watcher struct {
	from, to int64
	found    []run
	lookup   analyze.Lookup
	out      atOut
	ps       ledger.Ps
}

// run is a run interval, and the handle of its goroutine's class.
type run struct {
	ledger.Run
	class int32
}

// Begin implements [analyze.Observer].
func (w *watcher) Begin(l analyze.Lookup) { w.lookup = l }

// Observe implements [analyze.Observer].
func (w *watcher) Observe(b *ledger.Block, _ []waits.EndedWait) error {
	counts := b.Ps
	for i := range b.Decisions {
		n, t := &b.Notes[i], b.Decisions[i].Time
		if n.Changed&ledger.Counts != 0 {
			w.ps, counts = counts[0], counts[1:]
		}
		if t >= w.from && t < w.to {
			w.out.Runnable, w.out.Idle = max(w.out.Runnable, n.Runnable), max(w.out.Idle, w.ps.Idle)
		}
	}
	for i := range b.Runs {
		switch r := &b.Runs[i]; {
		case r.To <= w.from || r.From >= w.to:
		case len(w.found) < mostRuns:
			w.found = append(w.found, run{*r, b.Classes[r.Class]})
		default:
			w.out.Omitted++
		}
	}
	return nil
}

func (w *watcher) line(r *run) string {
	s := fmt.Sprintf("P%d %s for %s: %d %s", r.P, instantOf(r.From), quantity.Duration(r.To-r.From), r.G, marked(w.lookup.Class(r.class)))
	if r.Wait > 0 {
		s += ", waited " + quantity.Duration(r.Wait)
	}
	if r.Why != reference.WhyUnknown {
		s += ", " + r.Why.String()
	}
	return s
}

func (s *Server) at(ctx context.Context, in atIn) (out atOut, err error) {
	f, err := (&scope{From: in.From, To: in.To}).focus()
	if err != nil {
		return out, err
	}
	if in.To == "" {
		return out, errors.New("to is empty: name the end of the window")
	}
	file, err := s.openFile(in.Trace)
	if err != nil {
		return out, err
	}
	defer file.Close()
	if err := s.store.lock(ctx); err != nil {
		return out, err
	}
	defer s.store.unlock()
	w := &watcher{from: f.From, to: f.To}
	if _, err := s.run(ctx, file, analyze.Options{Observer: w, NoDetail: true, NoFindings: true}); err != nil {
		return out, err
	}
	out = w.out
	out.Basis = "observed"
	slices.SortStableFunc(w.found, func(x, y run) int {
		return cmp.Or(cmp.Compare(x.P, y.P), cmp.Compare(x.From, y.From))
	})
	lines := []string{}
	for i := range w.found {
		lines = append(lines, w.line(&w.found[i]))
	}
	out.Runs, out.page, err = paged(lines, in.Offset, maxAnswer/2)
	return out, err
}

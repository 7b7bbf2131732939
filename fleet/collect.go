package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gmpscope/gmpscope/internal/files"
)

// Problem is an input, or a part of one, that could not be used.
type Problem struct {
	Name string `json:"name"` // of the file, or its path, as Source.Name
	Why  string `json:"why"`  // text of Err for outputs: without folders, and with Options.Anonymize no more than that it cannot be read
	Err  error  `json:"-"`    // nil in a file of summaries
}

// maxProblems bounds what is kept of them: the first in their order.
const maxProblems = 1000

// MergeProblems returns problems in order without repeats; only the first if there are
// many.
func MergeProblems(list []Problem) []Problem {
	slices.SortStableFunc(list, compareProblems)
	list = slices.CompactFunc(list, func(a, b Problem) bool { return compareProblems(a, b) == 0 })
	return list[:min(len(list), maxProblems)]
}

func compareProblems(a, b Problem) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Why, b.Why))
}

// Collecting is the options of [Collect]: those for each trace, and how many at once.
type Collecting struct {
	Options
	Workers int                   // traces analysed at once; at least 1 are
	OnDone  func(done, total int) // called after each input, by one goroutine at a time; may be nil
	Adds    string                // path of an input, of which the collected records take the place in the output; empty for none
}

// Collect returns the records of inputs: traces, and files of summaries. What cannot be
// read is listed and is no error. The end of the context is one, for the set, too, and so is an
// input that is an output, too, or that is Adds and cannot be read to its end. The caller closes the set.
func Collect(ctx context.Context, names []string, o Collecting) (_ *Set, problems []Problem, err error) {
	set := &Set{ctx: ctx}
	defer func() {
		if err != nil {
			set.Close()
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // of all below
	done := 0
	add := func(r *Record) {
		mu.Lock()
		defer mu.Unlock()
		if err := set.Add(r); err != nil {
			cancel(err)
		}
	}
	finished := func(name string, earlier []Problem, err error) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, earlier...)
		var conflict *files.Conflict
		switch {
		case err == nil:
		case errors.As(err, &conflict):
			cancel(err)
		case name == o.Adds:
			cancel(fmt.Errorf("adding to %s: %w: write to another file", name, err))
		}
		if err != nil && ctx.Err() == nil {
			problems = append(problems, problemOf(name, nameOf(name, &o.Options), err, o.Anonymize))
		}
		if len(problems) > 2*maxProblems {
			problems = MergeProblems(problems)
		}
		if done++; o.OnDone != nil {
			o.OnDone(done, len(names))
		}
	}
	work := make(chan string)
	var workers sync.WaitGroup
	for range max(1, o.Workers) {
		workers.Go(func() {
			for name := range work {
				earlier, err := collect(ctx, name, &o.Options, add)
				finished(name, earlier, err)
			}
		})
	}
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		work <- name
	}
	close(work)
	workers.Wait()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return set, MergeProblems(problems), nil
}

func problemOf(name, shown string, err error, anonymize bool) Problem {
	if anonymize {
		return Problem{Name: "trace", Why: "it cannot be read", Err: err}
	}
	return Problem{Name: shown, Why: cut(strings.ReplaceAll(err.Error(), name, shown)), Err: err}
}

// collect adds the records of one input, and returns what those who made it could not
// read.
func collect(ctx context.Context, name string, o *Options, add func(*Record)) (earlier []Problem, err error) {
	if !IsSummaries(name) {
		r, err := Summarize(ctx, name, *o)
		if err == nil {
			add(r)
		}
		return nil, err
	}
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return collectSummaries(ctx, name, f, o, add)
}

// collectSummaries is collect for a file of summaries.
func collectSummaries(ctx context.Context, name string, from io.Reader, o *Options, add func(*Record)) (earlier []Problem, err error) {
	r, err := NewReader(from)
	left := 0 // records whose names may not be shown
	for err == nil && ctx.Err() == nil {
		var rec *Record
		if rec, err = r.Next(); err != nil {
			break
		}
		if o.Anonymize && !rec.Anonymous {
			left++
			continue
		}
		add(rec)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case left > 0:
		return nil, fmt.Errorf("reading %s: %d summaries in it show names: make them with --anonymize", name, left)
	case o.Anonymize:
		return nil, nil
	}
	return boundedProblems(r.unread), nil
}

// boundedProblems cuts what a file says that need not be trusted.
func boundedProblems(list []Problem) []Problem {
	list = list[:min(len(list), maxProblems)]
	for i := range list {
		list[i].Name, list[i].Why = cut(list[i].Name), cut(list[i].Why)
		list[i].Err = errors.New(list[i].Why)
	}
	return list
}

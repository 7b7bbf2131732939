package mcptools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/report"
)

// trace is the argument of tools about a trace.
type trace struct {
	Trace string `json:"trace" jsonschema:"its name, as traces has it"`
}

// scope is the argument of tools about a part of a trace.
type scope struct {
	trace
	From  string `json:"from,omitempty" jsonschema:"begin at that time after the first event, such as 1.2s"`
	To    string `json:"to,omitempty" jsonschema:"end at that time after the first event"`
	Class string `json:"class,omitempty" jsonschema:"only goroutines with that start function; * stands for any text"`
}

func (s *scope) focus() (f focus.Focus, err error) {
	if f.From, err = instant("from", s.From); err != nil {
		return f, err
	}
	if f.To, err = instant("to", s.To); err != nil {
		return f, err
	}
	if s.To != "" && f.To <= f.From {
		return f, fmt.Errorf("to %s does not lie after from %s", s.To, s.From)
	}
	if s.Class != "" {
		f.Classes = []string{unmarked(s.Class)}
	}
	return f, f.Check()
}

func instant(what, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s %q: must be a duration after the first event, such as 1.5s or 20ms", what, text)
	}
	return int64(d), nil
}

// store makes analyses, one at a time, and keeps the last few.
type store struct {
	memory int64
	turn   chan struct{}
	kept   []*analysis // the last used first; to be used with turn
}

const mostKept = 4

type analysis struct {
	key string
	doc *report.Document
	*marker
}

// lock waits for the end of other analyses.
func (st *store) lock(ctx context.Context) error {
	select {
	case st.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (st *store) unlock() { <-st.turn }

// analyze returns the analysis of a trace, or of a part of it.
func (s *Server) analyze(ctx context.Context, name string, f focus.Focus) (*analysis, error) {
	file, err := s.openFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := s.store.lock(ctx); err != nil {
		return nil, err
	}
	defer s.store.unlock()
	key := fmt.Sprintf("%s\x00%s\x00%d\x00%d\x00%+v", file.root.path, file.rel, file.stat.Size(), file.stat.ModTime().UnixNano(), f)
	kept := s.store.kept
	if i := slices.IndexFunc(kept, func(a *analysis) bool { return a.key == key }); i >= 0 {
		a := kept[i]
		copy(kept[1:i+1], kept[:i])
		kept[0] = a
		return a, nil
	}
	res, err := s.run(ctx, file, analyze.Options{Focus: f, NoTimeline: true})
	if err != nil {
		return nil, err
	}
	doc := report.Build(res, "gmpscope")
	a := &analysis{key, doc, newMarker(doc)}
	s.store.kept = append([]*analysis{a}, kept[:min(len(kept), mostKept-1)]...)
	return a, nil
}

func (s *Server) run(ctx context.Context, file *opened, o analyze.Options) (*analyze.Result, error) {
	src, err := file.source(ctx, s.store.memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	o.MaxMemory = s.store.memory
	res, err := analyze.Run(ctx, src, o)
	if errors.Is(err, analyze.ErrMemory) {
		err = fmt.Errorf("%w; gmpscope mcp --max-memory sets the limit", err)
	}
	return res, err
}

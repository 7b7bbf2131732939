package fleet

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// Remote is an input that the caller opens, such as one in an object store.
type Remote struct {
	Path string // its path, for Options.Pattern
	// Open opens it from its beginning, more than once.
	Open func(context.Context) (io.ReadCloser, error)
	// Labels is the text of the file beside it that is called like it and [Sidecar]; empty
	// if there is none.
	Labels string
}

// Collect calls add with each record of the input: the one of a trace, or those of a file of
// summaries. If the input, or a part of it, cannot be read, the result has a [Problem] with the name
// and the reason, and that is no error; the end of the context is one.
func (in *Remote) Collect(ctx context.Context, o Options, add func(*Record)) ([]Problem, error) {
	problems, err := in.collect(ctx, &o, add)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		problems = append(problems, problemOf(in.Path, in.shown(&o), err, o.Anonymize))
	}
	return MergeProblems(problems), nil
}

func (in *Remote) collect(ctx context.Context, o *Options, add func(*Record)) ([]Problem, error) {
	f, err := in.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", in.Path, err)
	}
	summaries := startsWith(f, summaryStart)
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("closing %s: %w", in.Path, err)
	}
	if f, err = in.Open(ctx); err != nil {
		return nil, fmt.Errorf("opening %s: %w", in.Path, err)
	}
	defer f.Close()
	if summaries {
		return collectSummaries(ctx, in.Path, f, o, add)
	}
	source, err := in.source(o)
	if err != nil {
		return nil, err
	}
	r, err := summarize(ctx, "-", input.Options{Stdin: f, StdinName: in.Path}, source, o)
	if err == nil {
		add(r)
	}
	return nil, err
}

func (in *Remote) source(o *Options) (Source, error) {
	own, err := parseSidecar(strings.NewReader(in.Labels))
	if err != nil {
		return Source{}, fmt.Errorf("labels in %s: %w", in.Path+Sidecar, err)
	}
	labels, err := joinLabels(o.Labels, o.Pattern.labels(in.Path), own)
	if err != nil {
		return Source{}, err
	}
	return newSource(in.Path, in.shown(o), labels, o)
}

func (in *Remote) shown(o *Options) string {
	if o.FullPath {
		return cut(in.Path)
	}
	return cut(path.Base(in.Path))
}

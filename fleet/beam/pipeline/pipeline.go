// Package pipeline sums up traces on Apache Beam: what gmpscope fleet does on one machine,
// for as many as a runner has.
//
// Patterns are expanded in the file systems that the program imports, each file is summed
// up by [fleet.Remote.Collect], records of one key are united by [fleet.Record.Union], and
// one worker writes the outputs. Union is associative, commutative and idempotent: bundles
// that are tried again, and files that two patterns name, change nothing, and the outputs
// are those of gmpscope fleet, byte by byte.
package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/config"
	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/reference"
)

func init() {
	register.DoFn4x1[context.Context, string, func(string), func([]byte), error](&expandFn{})
	register.DoFn4x1[context.Context, string, func(string, []byte), func([]byte), error](&summarizeFn{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(*[]byte) bool, error](&writeFn{})
	register.Combiner1[[]byte](&unionFn{})
	register.Function1x2(underOneKey)
	register.Emitter1[string]()
	register.Emitter1[[]byte]()
	register.Emitter2[string, []byte]()
	register.Iter1[[]byte]()
}

// Settings configure a job. They travel to the workers as JSON, with the job.
type Settings struct {
	// Patterns name traces and files of summaries, with the scheme of their file system.
	Patterns   []string
	Labels     []string // name=value, of all traces
	LabelPaths string   // as fleet.ParsePattern
	Anonymize  bool
	Key        []byte // with Anonymize; whoever sees the job sees it
	FullPath   bool   // name traces by their paths
	Config     []byte // text of a configuration; nil for none
	GoVersion  string // the release whose rules apply; empty: by the format of each trace
	MaxMemory  int64  // of the analysis of one trace, bytes; 0 as in analyze.Options
}

// options are the settings of a summary that a worker makes.
func (s *Settings) options() (o fleet.Options, err error) {
	o.Anonymize, o.Key, o.FullPath = s.Anonymize, s.Key, s.FullPath
	for _, text := range s.Labels {
		l, err := fleet.ParseLabel(text)
		if err != nil {
			return o, fmt.Errorf("label %w", err)
		}
		o.Labels = append(o.Labels, l)
	}
	if s.LabelPaths != "" {
		if o.Pattern, err = fleet.ParsePattern(s.LabelPaths); err != nil {
			return o, fmt.Errorf("pattern of labels %w", err)
		}
	}
	conf := config.Default()
	if s.Config != nil {
		if conf, err = config.Read(bytes.NewReader(s.Config), "the configuration"); err != nil {
			return o, err
		}
	}
	var rules reference.Rules
	if s.GoVersion != "" {
		known := false
		if rules, known = reference.Release(strings.TrimPrefix(s.GoVersion, "go")); !known {
			return o, fmt.Errorf("the rules of Go %s are not known", s.GoVersion)
		}
	}
	o.Analyze = analyze.Options{Workers: 1, MaxMemory: s.MaxMemory, Thresholds: conf.Thresholds, Rules: rules, NoTimeline: true}
	suppressed, _ := conf.InForce(time.Now())
	o.Finish = func(res *analyze.Result, names *analyze.Pseudonyms) { res.Suppress(suppressed, names) }
	return o, nil
}

// Check returns an error for invalid settings or outputs, before a job is started.
func (s *Settings) Check(outputs []Output) error {
	if len(s.Patterns) == 0 {
		return errors.New("name traces, or files of summaries")
	}
	if len(outputs) == 0 {
		return errors.New("name an output")
	}
	if s.Anonymize && s.Key == nil && (len(s.Labels) > 0 || s.LabelPaths != "") {
		return errors.New("labels of anonymous traces are replaced by a key: there is none")
	}
	for i := range outputs {
		if err := outputs[i].Check(); err != nil {
			return err
		}
	}
	_, err := s.options()
	return err
}

// Build adds the job to a pipeline. [Settings.Check] must have succeeded.
func Build(s beam.Scope, in Settings, outputs []Output) {
	s = s.Scope("gmpscope.fleet")
	patterns := beam.Reshuffle(s, beam.CreateList(s, in.Patterns))
	paths, missing := beam.ParDo2(s.Scope("expand"), &expandFn{Settings: in}, patterns)
	records, unread := beam.ParDo2(s.Scope("summarize"), &summarizeFn{Settings: in}, beam.Reshuffle(s, paths))
	union := beam.CombinePerKey(s.Scope("unite"), &unionFn{}, records)
	problems := beam.Flatten(s, missing, unread)
	all := beam.CoGroupByKey(s, oneKey(s, beam.DropKey(s, union)), oneKey(s, problems))
	beam.ParDo0(s.Scope("write"), &writeFn{Outputs: outputs}, all)
}

// oneKey brings what is in a collection to one worker.
func oneKey(s beam.Scope, c beam.PCollection) beam.PCollection { return beam.ParDo(s, underOneKey, c) }

func underOneKey(b []byte) (int, []byte) { return 0, b }

// expandFn finds the files that a pattern names.
type expandFn struct{ Settings Settings }

func (f *expandFn) ProcessElement(ctx context.Context, pattern string, found func(string), problem func([]byte)) error {
	if !strings.ContainsAny(pattern, special) { // whether it is there, to open it tells
		found(pattern)
		return nil
	}
	fs, err := filesystem.New(ctx, pattern)
	if err != nil {
		return err
	}
	defer fs.Close()
	names, err := fs.List(ctx, pattern)
	if err != nil {
		return fmt.Errorf("listing %s: %w", pattern, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, fleet.Sidecar) || strings.HasSuffix(name, "/") })
	for _, name := range names {
		found(name)
	}
	if len(names) > 0 {
		return nil
	}
	return f.Settings.missing(ctx, pattern, problem)
}

// special are the characters that are not themselves in a pattern.
const special = `*?[\`

// missing lists a pattern that names nothing.
func (s *Settings) missing(ctx context.Context, pattern string, problem func([]byte)) error {
	in := fleet.Remote{Path: pattern, Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("there is no such file") }}
	problems, err := in.Collect(ctx, fleet.Options{Anonymize: s.Anonymize, FullPath: s.FullPath}, nil)
	if err != nil {
		return err
	}
	return emitJSON(problems, problem)
}

// emitJSON emits each of a list.
func emitJSON[T any](list []T, emit func([]byte)) error {
	for _, x := range list {
		b, err := json.Marshal(x)
		if err != nil {
			return err
		}
		emit(b)
	}
	return nil
}

// summarizeFn makes the records of an input.
type summarizeFn struct {
	Settings Settings
	options  fleet.Options
}

func (f *summarizeFn) Setup() (err error) {
	f.options, err = f.Settings.options()
	return err
}

func (f *summarizeFn) ProcessElement(ctx context.Context, path string, record func(string, []byte), problem func([]byte)) error {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	labels, err := sidecar(ctx, fs, path)
	if err != nil {
		return err
	}
	in := fleet.Remote{Path: path, Labels: labels, Open: func(ctx context.Context) (io.ReadCloser, error) { return fs.OpenRead(ctx, path) }}
	var failed error
	problems, err := in.Collect(ctx, f.options, func(r *fleet.Record) {
		b, err := json.Marshal(r)
		if err != nil {
			failed = err
			return
		}
		record(r.Key, b)
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	return emitJSON(problems, problem)
}

// sidecar returns the text of the file with the labels of an input, "" if there is none.
func sidecar(ctx context.Context, fs filesystem.Interface, path string) (string, error) {
	name := path + fleet.Sidecar
	names, err := fs.List(ctx, patternOf(name))
	if err != nil || !slices.Contains(names, name) {
		return "", err
	}
	f, err := fs.OpenRead(ctx, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, fleet.MaxSidecar+1)) // one more tells that it is too long
	return string(b), err
}

// patternOf is a pattern that a path matches, among others. It always has a star: some
// stores fail to list a name that is not there. Stars stand for what is special in a
// pattern, since file systems take escapes differently.
func patternOf(path string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(special, r) {
			return '*'
		}
		return r
	}, path) + "*"
}

// unionFn unites records of one key.
type unionFn struct{}

func (unionFn) MergeAccumulators(a, b []byte) ([]byte, error) {
	if len(a) == 0 || bytes.Equal(a, b) {
		return b, nil
	}
	x, err := decode(a)
	if err != nil {
		return nil, err
	}
	y, err := decode(b)
	if err != nil {
		return nil, err
	}
	both, err := x.Union(y)
	if err != nil {
		return nil, err
	}
	return json.Marshal(both)
}

func decode(b []byte) (*fleet.Record, error) {
	r := &fleet.Record{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("a record on its way between workers: %w", err)
	}
	return r, nil
}

package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/files"
)

// Options are those of [Summarize] and [Collect]. The zero value is usable.
type Options struct {
	// Analyze are the options for each trace. Workers and MaxMemory apply to one trace;
	// Anonymize and functions are ignored.
	Analyze analyze.Options
	// Settings is any text that identifies further settings by which summaries differ, such as
	// a configuration: Cache keeps the summaries for each apart.
	Settings string
	// Labels are labels of all traces; Pattern, if set, takes more from the path of each.
	Labels  []Label
	Pattern *Pattern
	// Anonymize replaces names, by Key if set: then equal names have equal replacements in
	// all traces.
	Anonymize bool
	Key       []byte
	FullPath  bool // name traces by their paths, not only by the last part
	// Cache is a folder of cached summaries; empty for none.
	Cache string
	Stdin io.Reader // for "-"
	// Finish, if set, is called with each result, and its pseudonyms, before it is
	// summarized; concurrently.
	Finish func(*analyze.Result, *analyze.Pseudonyms)
}

// Summarize analyses a trace, by its path or URL, and returns its record. The trace is
// read once, or, with Options.Cache, once to see whether it is known.
func Summarize(ctx context.Context, name string, o Options) (*Record, error) {
	labels, err := labelsOf(ctx, name, o.Labels, o.Pattern)
	if err != nil {
		return nil, err
	}
	source, err := newSource(name, nameOf(name, &o), labels, &o)
	if err != nil {
		return nil, err
	}
	if o.Cache != "" && name != "-" && !strings.Contains(name, "://") {
		return summarizeCached(ctx, name, source, &o)
	}
	return summarize(ctx, name, input.Options{Stdin: o.Stdin}, source, &o)
}

// summarizeCached is Summarize with a cache. Where that cannot be read or written the
// summary is made all the same.
func summarizeCached(ctx context.Context, name string, source Source, o *Options) (*Record, error) {
	key, err := keyOf(ctx, name, o)
	if err != nil {
		return nil, err
	}
	cache, entry := files.Cache(o.Cache), filepath.Join(key[:2], key+"-"+o.digest(ctx, name)+".sum")
	r, err := cached(ctx, cache, entry)
	if err != nil || r.Key != key {
		if r, err = summarize(ctx, name, input.Options{}, Source{Name: "trace"}, o); err != nil {
			return nil, err
		}
		if r.Key == key { // the file has not changed meanwhile
			_ = putCached(ctx, cache, entry, r)
		}
	}
	r.Sources = []Source{source}
	return r, nil
}

// digest names what a summary depends on besides its trace: the file beside it, and settings.
func (o *Options) digest(ctx context.Context, name string) string {
	h := sha256.New()
	meta, err := sidecar.Read(ctx, name)
	_ = json.NewEncoder(h).Encode(meta)
	fmt.Fprintf(h, "%v|", err)
	fmt.Fprintf(h, "%d work|%s|%v|%x|%v|%v|%d", Schema, o.Settings, o.Anonymize, sha256.Sum256(o.Key), o.Analyze.Rules, o.Analyze.CPUs, o.Analyze.MaxMemory)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// summarize makes the record of a trace that has one source.
func summarize(ctx context.Context, name string, from input.Options, source Source, o *Options) (*Record, error) {
	hash := sha256.New()
	from.MaxMemory, from.Copy = o.Analyze.MaxMemory, hash
	src, err := input.Open(ctx, name, from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opts := o.Analyze
	if o.Anonymize {
		opts.Anonymize = analyze.NewPseudonyms()
		if o.Key != nil {
			opts.Anonymize = analyze.KeyedPseudonyms(o.Key)
		}
	}
	res, err := analyze.Run(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	if err := src.Rest(); err != nil {
		return nil, err
	}
	if o.Finish != nil {
		o.Finish(res, opts.Anonymize)
	}
	r := &Record{Key: hex.EncodeToString(hash.Sum(nil)), Sources: []Source{source}, Content: contentOf(res)}
	r.Anonymous, r.OwnNames = o.Anonymize, o.Anonymize && o.Key == nil
	return r, nil
}

// keyOf returns the key of a trace.
func keyOf(ctx context.Context, name string, o *Options) (string, error) {
	hash := sha256.New()
	src, err := input.Open(ctx, name, input.Options{MaxMemory: o.Analyze.MaxMemory, Copy: hash})
	if err != nil {
		return "", err
	}
	defer src.Close()
	if err := src.Rest(); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// nameOf is what an input is called.
func nameOf(name string, o *Options) string {
	shown := input.ShownName(name)
	switch {
	case name == "-":
		shown = "standard input"
	case !o.FullPath && !strings.Contains(shown, "://"):
		shown = filepath.Base(shown)
	}
	return cut(shown)
}

// newSource is the source with a name and labels, which may have to be replaced.
func newSource(name, shown string, labels []Label, o *Options) (Source, error) {
	if !o.Anonymize {
		return Source{shown, labels}, nil
	}
	if len(labels) > 0 && o.Key == nil {
		return Source{}, fmt.Errorf("labels of %s: they cannot be replaced without a key", name)
	}
	for i, l := range labels {
		labels[i].Value = analyze.Pseudonym(o.Key, "value", l.Value)
	}
	return Source{"trace", labels}, nil
}

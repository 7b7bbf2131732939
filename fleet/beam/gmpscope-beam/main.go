// Command gmpscope-beam is gmpscope fleet on Apache Beam: it sums up more traces than one
// machine can.
//
//	gmpscope-beam [flags] PATTERN...
//
// Patterns and outputs are paths in a file system that Beam knows: local ones, gs:// and
// s3://. Without --runner it runs on this machine, by Prism. The flags of Beam, such as
// --runner, --endpoint and --environment_type, choose another runner; docs/fleet.md has
// commands. It ends with 1 where the job fails, and with 2 where the command line is wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/gmpscope/gmpscope/fleet/beam/pipeline"
	"github.com/gmpscope/gmpscope/internal/version"
)

// list is a flag that can be repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

var (
	outputs, labels list
	group           = flag.String("group", "", "group traces by these `labels`, comma-separated (default service,version,gomaxprocs)")
	since           = flag.String("since", "", "call findings new that no `version` before this one has")
	labelPaths      = flag.String("label-paths", "", "take labels from the end of each path by a `pattern`, such as '{service}/{version}/*'")
	anonymize       = flag.Bool("anonymize", false, "replace names that are not Go's own")
	keyFile         = flag.String("anonymize-key", "", "with --anonymize: replace names by the secret in this local `file`, which travels with the job")
	fullPath        = flag.Bool("full-path", false, "name traces by their paths")
	configFile      = flag.String("config", "", "thresholds and suppressions in this local `file`")
	goVersion       = flag.String("go-version", "", "the Go `release` whose rules to apply (default: as each trace tells)")
	maxMemory       = flag.Int64("max-memory", 0, "limit the memory of the analysis of one trace to about so many `bytes`")
)

func main() {
	flag.Var(&outputs, "o", "write to this `path`, by its extension: .sum, .json, .html, .txt or .parquet; can be repeated")
	flag.Var(&labels, "label", "give all traces this label, `name=value`; can be repeated")
	flag.Parse()
	beam.Init() // does not return in a worker
	if err := run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "gmpscope-beam: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, patterns []string) error {
	in, out, err := settings(patterns)
	if err == nil {
		err = in.Check(out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gmpscope-beam: %v\n", err)
		os.Exit(2)
	}
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, in, out)
	return beamx.Run(ctx, p)
}

// settings are what the command line asks for.
func settings(patterns []string) (in pipeline.Settings, out []pipeline.Output, err error) {
	in = pipeline.Settings{
		Patterns: patterns, Labels: labels, LabelPaths: *labelPaths, Anonymize: *anonymize, FullPath: *fullPath,
		GoVersion: *goVersion, MaxMemory: *maxMemory,
	}
	if *keyFile != "" {
		key, err := os.ReadFile(*keyFile)
		if err != nil {
			return in, nil, err
		}
		if in.Key = []byte(strings.TrimSpace(string(key))); len(in.Key) < 16 || !*anonymize {
			return in, nil, fmt.Errorf("--anonymize-key %s: goes with --anonymize, and a secret has at least 16 bytes", *keyFile)
		}
	}
	if *configFile != "" {
		if in.Config, err = os.ReadFile(*configFile); err != nil {
			return in, nil, err
		}
	}
	var by []string
	if *group != "" {
		by = strings.Split(*group, ",")
	}
	for _, path := range outputs {
		out = append(out, pipeline.Output{Path: path, By: by, Since: *since, Tool: version.Tool()})
	}
	return in, out, nil
}

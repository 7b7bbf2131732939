// Package jsondoc writes docs/json.md and the JSON Schemas in docs/schema from the
// types of package jsondoc and from their comments. Run it by
//
//	go generate ./internal/jsondoc
package jsondoc

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// roots are the documents, in the order of the page.
var roots = []root{
	{"Document", "analyze", "`gmpscope analyze TRACE --format json`", reflect.TypeFor[jsondoc.Analysis]()},
	{"Dump", "dump", "Each line of `gmpscope dump TRACE`", reflect.TypeFor[jsondoc.Decision]()},
	{"Unit", "units", "Each line of `gmpscope dump --units TRACE`", reflect.TypeFor[jsondoc.Unit]()},
	{"Replay", "replay", "`gmpscope replay TRACE --format json`", reflect.TypeFor[jsondoc.Replay]()},
	{"Diff", "diff", "`gmpscope diff BEFORE AFTER --format json`", reflect.TypeFor[jsondoc.Diff]()},
	{"Check", "check", "`gmpscope check TRACE… --format json`", reflect.TypeFor[jsondoc.Check]()},
	{"Fleet", "fleet", "`gmpscope fleet PATH… --format json`", reflect.TypeFor[jsondoc.Fleet]()},
	{"Tests", "test", "`gmpscope test … --format json`", reflect.TypeFor[jsondoc.Tests]()},
	{"Sidecar", "meta", "The file `TRACE.meta.json` beside a trace, by `gmpscope record` and package capture", reflect.TypeFor[sidecar.Meta]()},
}

// Command writes the files.
func Command(*flag.FlagSet) cli.Do {
	return func(context.Context, []string, io.Writer) error {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		files, err := generate(root)
		if err != nil {
			return err
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

// generate returns the files by their names, relative to the root of the module.
func generate(dir string) (map[string][]byte, error) {
	c := newCollector(dir)
	files := map[string][]byte{}
	var pages []*document
	for _, r := range roots {
		d, err := c.document(r)
		if err != nil {
			return nil, err
		}
		pages = append(pages, d)
		if files["docs/schema/"+r.file+".json"], err = schemaOf(d); err != nil {
			return nil, err
		}
	}
	files["docs/json.md"] = page(pages)
	return files, nil
}

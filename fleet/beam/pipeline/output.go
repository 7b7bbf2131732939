package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

// Output is one file that the job writes, made from all records.
type Output struct {
	Path  string   // with the scheme of its file system; what it is follows from its extension
	By    []string // labels that make a group; nil means fleet.DefaultGrouping
	Since string   // version from which on findings count as new, as in fleet.Grouping
	Tool  string   // gmpscope and its version, as in fleet.Grouping
}

// formats are the extensions of outputs.
var formats = map[string]func(io.Writer, *fleet.Set, []fleet.Problem, *Output) error{
	".sum": func(w io.Writer, set *fleet.Set, p []fleet.Problem, _ *Output) error {
		return fleet.WriteAll(w, set.All(), p)
	},
	".parquet": func(w io.Writer, set *fleet.Set, _ []fleet.Problem, _ *Output) error {
		return fleet.WriteParquet(w, set.All())
	},
	".json": reported(report.WriteFleetJSON),
	".html": reported(func(w io.Writer, f *fleet.Report) error { return html.WriteFleet(w, f, false, html.Options{}) }),
	".txt":  reported(func(w io.Writer, f *fleet.Report) error { return report.WriteFleetText(w, f, report.TextOptions{}) }),
}

// reported is a format of the report.
func reported(write func(io.Writer, *fleet.Report) error) func(io.Writer, *fleet.Set, []fleet.Problem, *Output) error {
	return func(w io.Writer, set *fleet.Set, problems []fleet.Problem, o *Output) error {
		by := o.By
		if by == nil {
			by = fleet.DefaultGrouping()
		}
		f, err := fleet.Aggregate(set.All, problems, fleet.Grouping{By: by, Since: o.Since, Tool: o.Tool, Schema: report.Schema})
		if err != nil {
			return err
		}
		return write(w, f)
	}
}

// Check returns an error if the format of the output is unknown.
func (o *Output) Check() error {
	if formats[path.Ext(o.Path)] == nil {
		return fmt.Errorf("%s: must end in .sum, .json, .html, .txt or .parquet", o.Path)
	}
	return nil
}

// writeFn writes the outputs of all records. Its input has one key.
type writeFn struct{ Outputs []Output }

func (f *writeFn) ProcessElement(ctx context.Context, _ int, records, problems func(*[]byte) bool) error {
	set := &fleet.Set{}
	defer set.Close()
	n := 0
	for b := []byte(nil); records(&b); n++ {
		r, err := decode(b)
		if err != nil {
			return err
		}
		if err := set.Add(r); err != nil {
			return err
		}
	}
	var unread []fleet.Problem
	for b := []byte(nil); problems(&b); {
		var p fleet.Problem
		if err := json.Unmarshal(b, &p); err != nil {
			return err
		}
		unread = append(unread, p)
	}
	unread = fleet.MergeProblems(unread)
	switch {
	case n == 0 && len(unread) > 0:
		return fmt.Errorf("none of the inputs could be read; the first, %s: %s", unread[0].Name, unread[0].Why)
	case n == 0:
		return errors.New("there is no trace and no summary in what was named")
	}
	for i := range f.Outputs {
		if err := f.Outputs[i].write(ctx, set, unread); err != nil {
			return fmt.Errorf("writing %s: %w", f.Outputs[i].Path, err)
		}
	}
	return nil
}

// write writes an output under another name first, so that a reader never sees a part, and
// a job that is started again begins anew.
func (o *Output) write(ctx context.Context, set *fleet.Set, problems []fleet.Problem) error {
	fs, err := filesystem.New(ctx, o.Path)
	if err != nil {
		return err
	}
	defer fs.Close()
	part := o.Path + ".part"
	w, err := fs.OpenWrite(ctx, part)
	if err != nil {
		return err
	}
	if err := errors.Join(formats[path.Ext(o.Path)](w, set, problems, o), w.Close()); err != nil {
		return err
	}
	return filesystem.Rename(ctx, fs, part, o.Path)
}

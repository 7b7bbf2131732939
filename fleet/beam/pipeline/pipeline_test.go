package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/gmpscope/gmpscope/fleet"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

const traces = "../../testdata" // of package fleet

// execute runs a job to its end, in this process.
func execute(t *testing.T, in Settings, out ...Output) error {
	t.Helper()
	if err := in.Check(out); err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	Build(s, in, out)
	_, err := prism.Execute(t.Context(), p)
	return err
}

func mustExecute(t *testing.T, in Settings, out ...Output) {
	t.Helper()
	if err := execute(t, in, out...); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// gmpscope is the command that runs on one machine.
func gmpscope(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "gmpscope")
	build := exec.CommandContext(t.Context(), "go", "build", "-pgo=off", "-o", name, "./cmd/gmpscope")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

const byPath = "{service}-{version}-*.trace.gz"

// The job writes what the command does: records, report, and what could not be read.
func TestEqualsTheCommand(t *testing.T) {
	command := gmpscope(t)
	dir, in := t.TempDir(), t.TempDir()
	for _, name := range []string{"checkout-1.0-0", "checkout-1.0-1", "checkout-1.1-0", "checkout-1.2-0", "checkout-1.2-1", "search-1.0-0", "search-1.2-0"} {
		if err := os.WriteFile(filepath.Join(in, name+".trace.gz"), content(t, filepath.Join(traces, name+".trace.gz")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"checkout-1.1-0.trace.gz.labels": "host=h1\n", "damaged.trace": "go 1.26 trace\x00\x00\x00 and no more", "note.trace": "this is no trace\n",
	} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	settings := Settings{Patterns: []string{in + "/*"}, Labels: []string{"region=eu"}, LabelPaths: byPath}
	run := exec.CommandContext(t.Context(), command, "version")
	tool, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(string(tool), "\n")
	var out []Output
	for _, ext := range []string{"sum", "json", "html", "txt", "parquet"} {
		out = append(out, Output{Path: filepath.Join(dir, "beam."+ext), By: []string{"service", "version", "host"}, Tool: name})
	}
	mustExecute(t, settings, out...)
	for _, o := range out {
		ext := filepath.Ext(o.Path)
		local := filepath.Join(dir, "local"+ext)
		args := []string{"fleet", "-q", in, "--label", "region=eu", "--label-paths", byPath, "--group", "service,version,host", "-o", local}
		if b, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if !bytes.Equal(content(t, o.Path), content(t, local)) {
			t.Errorf("%s is another one than the command's", ext)
		}
	}
	var doc struct {
		Unread []json.RawMessage `json:"unread"`
	}
	if err := json.Unmarshal(content(t, filepath.Join(dir, "beam.json")), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Unread) != 2 {
		t.Errorf("unread: %s, want the two that are no traces", doc.Unread)
	}
}

// Files that two patterns name, summaries beside their traces, and a job that runs again
// change nothing.
func TestRepetition(t *testing.T) {
	dir := t.TempDir()
	once, half, again := filepath.Join(dir, "once.sum"), filepath.Join(dir, "half.sum"), filepath.Join(dir, "again.sum")
	mustExecute(t, Settings{Patterns: []string{traces + "/search-1.*.trace.gz"}, LabelPaths: byPath}, Output{Path: once})
	mustExecute(t, Settings{Patterns: []string{traces + "/search-1.1-*.trace.gz"}, LabelPaths: byPath}, Output{Path: half})
	want := content(t, once)
	for range 2 {
		mustExecute(t, Settings{Patterns: []string{half, traces + "/search-1.[01]-*.trace.gz", traces + "/search-*.trace.gz", half}, LabelPaths: byPath}, Output{Path: again})
		if !bytes.Equal(content(t, again), want) {
			t.Error("repetition changes the records")
		}
	}
}

// Two labels of one trace are one record with both, whatever comes first.
func TestUnites(t *testing.T) {
	dir := t.TempDir()
	a, b, both, swapped := filepath.Join(dir, "a.sum"), filepath.Join(dir, "b.sum"), filepath.Join(dir, "both.sum"), filepath.Join(dir, "swapped.sum")
	one := traces + "/search-1.0-0.trace.gz"
	mustExecute(t, Settings{Patterns: []string{one}, Labels: []string{"host=a"}}, Output{Path: a})
	mustExecute(t, Settings{Patterns: []string{one}, Labels: []string{"host=b"}}, Output{Path: b})
	mustExecute(t, Settings{Patterns: []string{a, b}}, Output{Path: both})
	mustExecute(t, Settings{Patterns: []string{b, a}}, Output{Path: swapped})
	if !bytes.Equal(content(t, both), content(t, swapped)) {
		t.Error("the order of the inputs matters")
	}
	f, err := os.Open(both)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := fleet.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := r.Next(); err != nil || len(rec.Sources) != 2 || rec.Conflict {
		t.Errorf("%+v, %v: want one record with two sources", rec, err)
	}
}

// The same files in another file system give the same records.
func TestFileSystems(t *testing.T) {
	dir := t.TempDir()
	local := filepath.Join(dir, "local.sum")
	mustExecute(t, Settings{Patterns: []string{traces + "/checkout-1.0-*.trace.gz"}, LabelPaths: byPath}, Output{Path: local})
	for i := range 5 {
		name := fmt.Sprintf("checkout-1.0-%d.trace.gz", i)
		memfs.Write("memfs://store/"+name, content(t, filepath.Join(traces, name)))
	}
	mustExecute(t, Settings{Patterns: []string{"memfs://store/checkout-*"}, LabelPaths: byPath}, Output{Path: "memfs://store/out.sum"})
	fs := memfs.New(t.Context())
	got, err := filesystem.Read(t.Context(), fs, "memfs://store/out.sum")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content(t, local)) {
		t.Error("other records than of local files")
	}
	if names, _ := fs.List(t.Context(), "memfs://store/*.part"); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// shaky is a file system of which the store fails now and then.
type shaky struct{ filesystem.Interface }

var failures atomic.Int64 // that are still to come

func (s shaky) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	w, err := s.Interface.OpenWrite(ctx, plain(name))
	return &shakyFile{w}, err
}

func (s shaky) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	return s.Interface.OpenRead(ctx, plain(name))
}

func (s shaky) List(ctx context.Context, glob string) ([]string, error) {
	names, err := s.Interface.List(ctx, plain(glob))
	for i := range names {
		names[i] = "shaky://" + strings.TrimPrefix(names[i], "memfs://")
	}
	return names, err
}

func (s shaky) Rename(ctx context.Context, from, to string) error {
	return filesystem.Rename(ctx, s.Interface, plain(from), plain(to))
}

func plain(name string) string { return "memfs://" + strings.TrimPrefix(name, "shaky://") }

type shakyFile struct{ io.WriteCloser }

func (f *shakyFile) Write(b []byte) (int, error) {
	if failures.Add(-1) >= 0 {
		return 0, errors.New("the store is full")
	}
	return f.WriteCloser.Write(b)
}

// A job whose output could not be written fails, leaves nothing that looks whole, and
// gives the right one when it is started again.
func TestStartedAgain(t *testing.T) {
	filesystem.Register("shaky", func(ctx context.Context) filesystem.Interface { return shaky{memfs.New(ctx)} })
	for i := range 2 {
		name := fmt.Sprintf("search-1.2-%d.trace.gz", i)
		memfs.Write("memfs://bad/"+name, content(t, filepath.Join(traces, name)))
	}
	settings := Settings{Patterns: []string{"shaky://bad/search-*"}, LabelPaths: byPath}
	failures.Store(1)
	if err := execute(t, settings, Output{Path: "shaky://bad/out.sum"}); err == nil {
		t.Error("the job did not fail")
	}
	fs := memfs.New(t.Context())
	if names, _ := fs.List(t.Context(), "memfs://bad/out.sum"); len(names) > 0 {
		t.Error("there is an output of the job that failed")
	}
	mustExecute(t, settings, Output{Path: "shaky://bad/out.sum"})
	want := filepath.Join(t.TempDir(), "want.sum")
	mustExecute(t, Settings{Patterns: []string{traces + "/search-1.2-[01].trace.gz"}, LabelPaths: byPath}, Output{Path: want})
	got, err := filesystem.Read(t.Context(), fs, "memfs://bad/out.sum")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content(t, want)) {
		t.Error("the job that was started again wrote something else")
	}
}

func TestNothingToRead(t *testing.T) {
	out := Output{Path: filepath.Join(t.TempDir(), "x.sum")}
	for _, c := range []struct{ pattern, want string }{
		{filepath.Join(t.TempDir(), "*.trace"), "there is no such file"},
		{"../go.mod", "not a Go execution trace"},
		{"../no.trace", "no such file"},
	} {
		if err := execute(t, Settings{Patterns: []string{c.pattern}}, out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.pattern, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	sum := []Output{{Path: "x.sum"}}
	for _, c := range []struct {
		in   Settings
		out  []Output
		want string
	}{
		{Settings{}, sum, "name traces"},
		{Settings{Patterns: []string{"x"}}, nil, "name an output"},
		{Settings{Patterns: []string{"x"}}, []Output{{Path: "x.doc"}}, "must end in"},
		{Settings{Patterns: []string{"x"}, Labels: []string{"x"}}, sum, "NAME=VALUE"},
		{Settings{Patterns: []string{"x"}, LabelPaths: "x"}, sum, "names in braces"},
		{Settings{Patterns: []string{"x"}, GoVersion: "1.2"}, sum, "not known"},
		{Settings{Patterns: []string{"x"}, Config: []byte("{")}, sum, "configuration"},
		{Settings{Patterns: []string{"x"}, Anonymize: true, Labels: []string{"a=b"}}, sum, "replaced by a key"},
	} {
		if err := c.in.Check(c.out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.in, err, c.want)
		}
	}
}

func TestAnonymous(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.json")
	mustExecute(t, Settings{Patterns: []string{traces + "/search-1.0-0.trace.gz"}, Anonymize: true, Key: []byte("0123456789abcdef"), Labels: []string{"service=secretname"}}, Output{Path: file})
	if b := content(t, file); bytes.Contains(b, []byte("secretname")) || bytes.Contains(b, []byte("search-1.0")) {
		t.Error("names are shown")
	}
}

// Files may be called what is a pattern, or none, to a file system: their labels are found
// all the same, and no name fails the job.
func TestOddNames(t *testing.T) {
	dir := t.TempDir()
	trace := content(t, filepath.Join(traces, "search-1.0-0.trace.gz"))
	for _, name := range []string{"a[1].trace.gz", "b[1.trace.gz", "c?.trace.gz", "d*.trace.gz"} {
		put(t, filepath.Join(dir, name), trace)
		put(t, filepath.Join(dir, name+".labels"), []byte("host="+name[:1]+"\n"))
	}
	put(t, filepath.Join(dir, "d.trace.gz.labels"), []byte("host=other\n"))
	out := filepath.Join(dir, "out.sum")
	mustExecute(t, Settings{Patterns: []string{dir + "/*.gz"}}, Output{Path: out})
	var hosts strings.Builder
	for _, s := range only(t, out).Sources {
		for _, l := range s.Labels {
			hosts.WriteString(l.Value)
		}
	}
	if hosts.String() != "abcd" {
		t.Errorf("hosts %q, want abcd", hosts.String())
	}
}

// A file with labels that is too long is an error of its trace, though only its beginning is read.
func TestLongLabels(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.trace.gz")
	put(t, name, content(t, filepath.Join(traces, "search-1.0-0.trace.gz")))
	put(t, name+".labels", bytes.Repeat([]byte("#"), 1<<20))
	err := execute(t, Settings{Patterns: []string{name}}, Output{Path: filepath.Join(dir, "x.sum")})
	if err == nil || !strings.Contains(err.Error(), "labels in x.trace.gz.labels") {
		t.Errorf("%v", err)
	}
}

// only returns the record of a file of summaries that has one.
func only(t *testing.T, name string) *fleet.Record {
	t.Helper()
	r, err := fleet.NewReader(bytes.NewReader(content(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the first record of %s: %v", name, err)
	}
	return rec
}

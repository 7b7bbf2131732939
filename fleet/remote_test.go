package fleet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// remote is an input that lies in a file of this machine.
func remote(path, file, labels string) *Remote {
	return &Remote{Path: path, Labels: labels, Open: func(context.Context) (io.ReadCloser, error) { return os.Open(file) }}
}

func TestRemoteEqualsLocal(t *testing.T) {
	const file = "testdata/search-1.0-0.trace.gz"
	pattern, err := ParsePattern("{service}-{version}-*.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"plain":   {Pattern: pattern, Labels: []Label{{Name: "region", Value: "eu"}}},
		"keyed":   {Pattern: pattern, Anonymize: true, Key: []byte("0123456789abcdef")},
		"unkeyed": {Anonymize: true},
	} {
		want, err := Summarize(t.Context(), file, o)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []*Record
		problems, err := remote("gs://bucket/search-1.0-0.trace.gz", file, "").Collect(t.Context(), o, func(r *Record) { got = append(got, r) })
		if err != nil || len(problems) > 0 {
			t.Fatal(name, problems, err)
		}
		if d := cmp.Diff([]*Record{want}, got); d != "" {
			t.Errorf("%s (-local +remote):\n%s", name, d)
		}
		// A file of what came of it holds the same.
		sums := filepath.Join(t.TempDir(), "x.sum")
		var b bytes.Buffer
		w := NewWriter(&b)
		if err := errors.Join(w.Write(want), w.Close(nil), os.WriteFile(sums, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		got = nil
		problems, err = remote("gs://bucket/x.sum", sums, "").Collect(t.Context(), o, func(r *Record) { got = append(got, r) })
		if d := cmp.Diff([]*Record{want}, got); d != "" || err != nil || len(problems) > 0 {
			t.Errorf("%s, summaries: %v %v (-local +remote):\n%s", name, problems, err, d)
		}
	}
}

func TestRemoteLabels(t *testing.T) {
	var got []*Record
	problems, err := remote("s3://b/x.trace", "testdata/search-1.0-0.trace.gz", "# of this one\nhost=h1\nregion=us\n").Collect(t.Context(),
		Options{Labels: []Label{{Name: "region", Value: "eu"}}, FullPath: true}, func(r *Record) { got = append(got, r) })
	if err != nil || len(problems) > 0 || len(got) != 1 {
		t.Fatal(got, problems, err)
	}
	if d := cmp.Diff([]Source{{"s3://b/x.trace", []Label{{Name: "host", Value: "h1"}, {Name: "region", Value: "us"}}}}, got[0].Sources); d != "" {
		t.Error(d)
	}
}

func TestRemoteProblems(t *testing.T) {
	gone := &Remote{Path: "gs://secret/gone.trace", Open: func(context.Context) (io.ReadCloser, error) {
		return nil, errors.New("gs://secret/gone.trace is not there")
	}}
	for _, c := range []struct {
		in   *Remote
		want string
	}{
		{gone, "gone.trace is not there"},
		{remote("gs://secret/go.trace", "doc.go", ""), "not a Go execution trace"},
		{remote("gs://secret/x.trace", "testdata/search-1.0-0.trace.gz", "no label"), "must be NAME=VALUE"},
	} {
		problems, err := c.in.Collect(t.Context(), Options{}, func(*Record) { t.Error("a record") })
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Why, c.want) || strings.Contains(problems[0].Why, "secret") {
			t.Errorf("%+v, %v: want %q", problems, err, c.want)
		}
		if problems, _ := c.in.Collect(t.Context(), Options{Anonymize: true}, nil); len(problems) != 1 || problems[0].Why != "it cannot be read" || problems[0].Name != "trace" {
			t.Errorf("anonymous: %+v", problems)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gone.Collect(ctx, Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context has ended", err)
	}
}

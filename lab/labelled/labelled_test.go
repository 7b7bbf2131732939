package labelled

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/lab/runner"
)

const root = "../.."

// literals are what stands behind the function in which a function literal is.
var literals = regexp.MustCompile(`(\.func\d+|\.\d+)+$`)

// sources returns the text of all source files of a program.
func sources(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		text.Write(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Each label says what it must, of functions that its program has.
func TestLabels(t *testing.T) {
	labels, err := Read(root, Dir)
	if err != nil {
		t.Fatal(err)
	}
	wrong, kept := 0, 0
	for _, l := range labels {
		source := sources(t, filepath.Join(root, Dir, l.Name))
		if l.Wrong != (l.Cause != "none") || !slices.Contains(Causes, l.Cause) || l.Description == "" || l.Remedy == "" || l.Proof == "" || l.Procs < 1 {
			t.Errorf("%s: %+v", l.Name, l)
		}
		if l.Wrong && l.Cause != "machine" && len(l.Culprit) == 0 || !l.Wrong && len(l.Culprit) > 0 {
			t.Errorf("%s: culprit %q", l.Name, l.Culprit)
		}
		for _, f := range slices.Concat(l.Culprit, l.Not) {
			name := literals.ReplaceAllString(f, "")
			if name = name[strings.LastIndexByte(name, '.')+1:]; !strings.Contains(source, name) {
				t.Errorf("%s has no %s", l.Name, f)
			}
		}
		if l.Wrong {
			wrong++
		}
		if l.Kept {
			kept++
		}
	}
	if fine := len(labels) - wrong; wrong < 30 || fine < 20 || 2*kept < len(labels)-2 || len(labels)-kept < 30 {
		t.Errorf("%d wrong, %d fine, %d of them kept", wrong, fine, kept)
	}
	pairs, err := Read(root, Pairs)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range pairs {
		if !slices.Contains([]compare.Verdict{compare.Better, compare.Worse, compare.NoChange}, l.Want) || l.Description == "" || l.Proof == "" {
			t.Errorf("%s: %+v", l.Name, l)
		}
	}
}

// A recording that is in the repository, with labels that are right and wrong.
func TestJudge(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(root, "testdata", "traces", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	lock, quiet := read("cases/lock-convoy-held-over-sleep-go1.26-p2.trace.gz"), read("single-go1.26-p4.trace.gz")
	for _, c := range []struct {
		name  string
		label Label
		trace []byte
		right bool
	}{
		{"the culprit", Label{Wrong: true, Culprit: []string{"main.other", "main.fetch"}}, lock, true},
		{"another", Label{Wrong: true, Culprit: []string{"main.other"}}, lock, false},
		{"the machine", Label{Wrong: true}, lock, false},
		{"fine, but it is not", Label{}, lock, false},
		{"fine", Label{}, quiet, true},
	} {
		x := runner.Recording{Take: &runner.Take{}, Trace: c.trace}
		r, err := x.Analyze(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if j := c.label.Judge(r); j.Right != c.right {
			t.Errorf("%s: right is %v: %s", c.name, j.Right, j.Headline)
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"Try first: split the work.", "split the work."},
		{"Act only if that is too slow for you: it may be what is meant. Then: ask for less.", "ask for less."},
		{"If that waiting matters to you, try: a semaphore.", "a semaphore."},
		{"Nothing to do about scheduling.", ""},
	} {
		if got := advice([]string{"Waiting for a P: 3 ms.", c.line}); got != c.want {
			t.Errorf("%q gives %q, want %q", c.line, got, c.want)
		}
	}
}

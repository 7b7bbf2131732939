// Package cases answers: do the detectors find in real programs what is there,
// and nothing else?
//
// A case is a small program, in analyze/findings/ROOM/testdata/CASE/main.go,
// that behaves badly in a known way, or well. Its package comment ends in one
// line for each recording to make of it:
//
//	//gmpscope:case procs=2 go=go1.26.8 want=convoy:warning,starvation may=late-preemption
//
// There procs is GOMAXPROCS and go the Go version; want names the detectors that
// must find something, each with the least severity (without one: note), and may
// those that may find something, of whatever severity. Besides, env gives
// variables to run with, as GODEBUG=asyncpreemptoff=1, and cut the share of the
// trace's bytes to keep, as after a crash.
//
// A program may hold several cases that differ in little: case names the one that
// a recording is of, if that is not the folder's name, and the program is told by
// the variable CASE ([rec.Case]).
//
// What is found above a note and neither wanted nor allowed is a false alarm. In
// a case called near-miss so is whatever the detector of its room finds.
//
//  1. [Find] reads the cases of a checkout.
//  2. [Recording.Judge] holds what the detectors find against what is wanted.
//  3. [Result] is that for all of them, and [Result.Page] the page about it.
package cases

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/runner"
)

const (
	// Trigger and NearMiss are the cases that each detector has.
	Trigger  = "trigger"
	NearMiss = "near-miss"

	// roomsDir holds the rooms of the detectors, and that of [All].
	roomsDir = "analyze/findings"
	// All is the room of the cases that belong to no single detector.
	All = "all"

	directive = "//gmpscope:case "
)

// Case is a program of which recordings are made.
type Case struct {
	Room    string // ID of a detector, or All
	Name    string
	Program string // folder of the program; often the name
	Doc     string // what the program does, and why it must or must not be found
}

// Dir is the folder of the program in the checkout, with slashes.
func (c *Case) Dir() string { return path.Join(roomsDir, c.Room, "testdata", c.Program) }

// Recording is one way to record a case, and what must come of it.
type Recording struct {
	runner.Take
	Case *Case
	Want map[string]findings.Severity
	May  []string
}

// Wanted returns the IDs of Want in order.
func (r *Recording) Wanted() []string { return slices.Sorted(maps.Keys(r.Want)) }

// Find reads the cases of the checkout root, in the order of the detectors, then
// by name.
func Find(root string) ([]*Recording, error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(roomsDir), "*", "testdata", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	var found []*Recording
	var problems []error
	for _, file := range files {
		rs, err := read(file)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file, err))
		}
		found = append(found, rs...)
	}
	order := rooms()
	slices.SortStableFunc(found, func(x, y *Recording) int {
		return slices.Index(order, x.Case.Room) - slices.Index(order, y.Case.Room)
	})
	names := make(map[string]bool)
	for _, r := range found {
		if names[r.Name] {
			problems = append(problems, fmt.Errorf("%s: two recordings are called %s", r.Program, r.Name))
		}
		names[r.Name] = true
	}
	return found, errors.Join(problems...)
}

// rooms returns the IDs of the detectors in their order, then All.
func rooms() []string {
	var ids []string
	for _, d := range all.Detectors(all.Default()) {
		ids = append(ids, d.ID)
	}
	return append(ids, All)
}

// read reads the recordings of one program.
func read(file string) ([]*Recording, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", source, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	c := &Case{
		Room:    filepath.Base(filepath.Dir(filepath.Dir(dir))),
		Name:    filepath.Base(dir),
		Program: filepath.Base(dir),
		Doc:     strings.TrimSpace(f.Doc.Text()),
	}
	cs := map[string]*Case{c.Name: c}
	if !slices.Contains(rooms(), c.Room) {
		return nil, fmt.Errorf("there is no detector %q", c.Room)
	}
	if c.Doc == "" {
		return nil, errors.New("the package comment does not say what the program does")
	}
	var out []*Recording
	for _, line := range f.Doc.List {
		text, ok := strings.CutPrefix(line.Text, directive)
		if !ok {
			continue
		}
		r, name, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line.Text, err)
		}
		if name == "" {
			name = c.Name
		} else {
			r.Env = append([]string{rec.CaseVariable + "=" + name}, r.Env...)
		}
		if cs[name] == nil {
			other := *c
			other.Name = name
			cs[name] = &other
		}
		r.Case = cs[name]
		r.Program = r.Case.Dir()
		r.Name = fmt.Sprintf("%s-%s-%s-p%d", r.Case.Room, name, runner.ShortVersion(r.Go), r.GOMAXPROCS)
		if _, ok := r.Want[c.Room]; name == Trigger && !ok || name == NearMiss && ok {
			return nil, fmt.Errorf("%s: a %s of %s", line.Text, c.Name, c.Room)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the package comment has no line %s…", directive)
	}
	return out, nil
}

// parse reads a directive after its first word, and the name of the case that it
// gives, if any.
func parse(text string) (r *Recording, name string, err error) {
	r = &Recording{}
	seen := make(map[string]bool)
	for _, field := range strings.Fields(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok || seen[key] {
			return nil, "", fmt.Errorf("field %q", field)
		}
		seen[key] = true
		switch key {
		case "case":
			name = value
			if value == "" {
				err = errors.New("empty")
			}
		case "procs":
			r.GOMAXPROCS, err = strconv.Atoi(value)
		case "go":
			r.Go = value
		case "want":
			r.Want, err = wants(value)
		case "may":
			r.May = list(value)
		case "env":
			r.Env = list(value)
		case "cut":
			r.Cut, err = strconv.ParseFloat(value, 64)
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return nil, "", fmt.Errorf("field %q: %w", field, err)
		}
	}
	if r.GOMAXPROCS < 1 || !strings.HasPrefix(r.Go, "go1.") || !seen["want"] || seen["cut"] && r.Cut <= 0 || r.Cut > 1 {
		return nil, "", errors.New("procs, go and want are needed, and a cut is more than 0")
	}
	return r, name, nil
}

// wants reads the value of want. A misspelt ID could never be found; one in may
// would show as a false alarm.
func wants(value string) (map[string]findings.Severity, error) {
	want := make(map[string]findings.Severity)
	for _, item := range list(value) {
		id, severity, ok := strings.Cut(item, ":")
		if !ok {
			severity = string(findings.Note)
		}
		s := findings.Severity(severity)
		if !slices.Contains([]findings.Severity{findings.Note, findings.Warning, findings.Critical}, s) {
			return nil, fmt.Errorf("no severity %q", severity)
		}
		if id == All || !slices.Contains(rooms(), id) {
			return nil, fmt.Errorf("there is no detector %q", id)
		}
		want[id] = s
	}
	return want, nil
}

func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
}

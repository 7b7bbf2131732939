// Package units answers: are the units of work right that gmpscope finds, and what makes some of
// them slow? The programs in lab/testdata/units write down when each of their units begins and
// ends, and each has a cause of slow units, which its label names.
package units

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// Dir is the folder of the programs, from the checkout root, with slashes.
const Dir = "lab/testdata/units"

// Label reports what a program does, and why some of its units are slow.
type Label struct {
	Name  string `json:"-"`
	Style string `json:"style"` // how units come about
	Kind  string `json:"kind"`  // of the units of which some are slow, as in the truth
	// What is what slow units do longer than typical ones, as in work.Via and work.Leaf.
	What     string `json:"what"`
	Function string `json:"function"` // where they wait, or who does it; "" if no bucket can name it
	First    string `json:"first"`    // what a user should read first
	Procs    int    `json:"procs"`    // GOMAXPROCS
}

// Read returns the labels in a checkout, by name.
func Read(root string) (out []*Label, err error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(Dir), "*", "label.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		l := &Label{Name: filepath.Base(filepath.Dir(name))}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(l); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// Takes are the recordings of the program: as it is, and as the twin that marks the same units
// as regions.
func (l *Label) Takes(goVersion string) (plain, twin *runner.Take) {
	plain = &runner.Take{Name: l.Name, Program: Dir + "/" + l.Name, Go: goVersion, GOMAXPROCS: l.Procs}
	marked := *plain
	marked.Name, marked.Env = l.Name+"-marked", []string{"MARK=region"}
	return plain, &marked
}

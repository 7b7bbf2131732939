package words

import (
	"fmt"
	"path"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Stack says where goroutines had stopped, by their stack, innermost frame first.
func Stack(p stacks.Place, fs []stacks.Frame) string {
	switch {
	case p == stacks.Others:
		return "further stacks"
	case len(fs) == 0:
		return "not recorded"
	case p == stacks.Created:
		return "created at " + Where(fs)
	}
	return Where(fs)
}

// Where names a stack by its innermost frame that is not of Go's own library, and the
// function of that library that it had called.
func Where(fs []stacks.Frame) string {
	at := 0
	for i, f := range fs {
		if OwnerOf(f.Function) == Program {
			at = i
			break
		}
	}
	if len(fs) == 0 {
		return "not recorded"
	}
	s := Line(fs[at]) + " " + Base(Visible(fs[at].Function))
	if at > 0 {
		s += ", in " + Base(Visible(fs[at-1].Function))
	}
	return s
}

// Owner says whose a function is.
type Owner int

// The owners.
const (
	Program Owner = iota
	Library       // Go's own
	Runtime
)

// OwnerOf returns whose a function is, by its package.
func OwnerOf(function string) Owner {
	switch pkg, _ := std.Split(function); {
	case pkg == "runtime":
		return Runtime
	case std.Has(pkg):
		return Library
	}
	return Program
}

// Line is the file and line of a frame, without the folder.
func Line(f stacks.Frame) string {
	if f.File == "" {
		return "(unknown file)"
	}
	return fmt.Sprintf("%s:%d", Visible(path.Base(strings.ReplaceAll(f.File, `\`, "/"))), f.Line)
}

package words

import (
	"fmt"
	"path"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Stack returns, in words, where goroutines had stopped. fs is their stack, innermost frame
// first.
func (n *Names) Stack(p stacks.Place, fs []stacks.Frame) string {
	switch {
	case p == stacks.Others:
		return "further stacks"
	case len(fs) == 0:
		return "not recorded"
	case p == stacks.Created:
		return "created at " + n.Where(fs)
	}
	return n.Where(fs)
}

// Where returns the name of a stack: its innermost frame that is not of Go's own library, and
// the function of that library that this frame had called.
func (n *Names) Where(fs []stacks.Frame) string {
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
	s := Line(fs[at]) + " " + n.Function(fs[at].Function)
	if at > 0 {
		s += ", in " + n.Function(fs[at-1].Function)
	}
	return s
}

// Stopped returns, in words, where the class of a victim of a finding had stopped before most
// of its waiting; "" if that is not known.
func (n *Names) Stopped(r *analyze.Result, a *findings.Actor) string {
	c := ClassOf(r, a)
	if c == nil || a.Role != findings.Victim {
		return ""
	}
	for i := range r.Stacks.Rows { // most waiting first
		row := &r.Stacks.Rows[i]
		if row.Class != c.ID || row.WaitNs == 0 {
			continue
		}
		at, part := n.Where(r.Stacks.Of(row.Stack)), quantity.Part(row.WaitNs, c.Waits.TotalNs)
		switch row.Place {
		case stacks.Stopped:
			return fmt.Sprintf("before %s of its waiting, its class had stopped at %s", part, at)
		case stacks.Created:
			return fmt.Sprintf("%s of the waiting of its class came before the first run, created at %s", part, at)
		}
	}
	return ""
}

// ClassOf returns the class of an actor, or nil if it has none.
func ClassOf(r *analyze.Result, a *findings.Actor) *waits.Class {
	for i := range r.Waits.Classes {
		if c := &r.Waits.Classes[i]; IsOf(a, c.Name, c.Creator) {
			return c
		}
	}
	return nil
}

// IsOf reports whether an actor is of the class with that name and creator.
func IsOf(a *findings.Actor, class, creator string) bool {
	return a.Class != "" && a.Class == class && (a.Creator == "" || a.Creator == creator)
}

// Owner specifies to whom a function belongs: the program, Go's library or the runtime.
type Owner int

// The owners of functions.
const (
	Program Owner = iota // the program, or a module that it uses
	Library              // Go's own
	Runtime              // package runtime
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

// Line returns the file, without its folder, and the line of a frame.
func Line(f stacks.Frame) string {
	if f.File == "" {
		return "(unknown file)"
	}
	return fmt.Sprintf("%s:%d", Visible(path.Base(strings.ReplaceAll(f.File, `\`, "/"))), f.Line)
}

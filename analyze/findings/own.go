package findings

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Own returns the innermost function of a stack, as [Facts.Frames] writes it, that
// is not of the standard library, and its place ("file:line"): it is what the owner
// of a program can change. Of a deferred call it is the function that deferred it.
// All of the standard library gives its outermost function; no frames, "".
func Own(frames []string) (function, place string) {
	for _, fr := range frames {
		function, place = frame(fr)
		if !ofLibrary(function) {
			break
		}
	}
	return function, place
}

// frame takes a frame apart, and leaves out what package funcname says of wrappers.
func frame(s string) (function, place string) {
	function, _, _ = strings.Cut(s, " ")
	if i := strings.LastIndex(s, " ("); i >= 0 {
		place = strings.TrimSuffix(s[i+2:], ")")
	}
	return function, place
}

// Doer names who an actor is: the function of the program in which its stack lies, and
// the start function of its class where that is another. It can stand before a verb.
func (a *Actor) Doer() string {
	switch function := a.own(); {
	case function == "" || function == a.start():
		return a.start()
	case ofLibrary(a.start()):
		return function
	default:
		return function + ", called by " + a.start() + ","
	}
}

// Work names what an actor does: its class, and in brackets the function in which its
// stack lies; that alone where the class is a function of the standard library.
func (a *Actor) Work() string {
	switch function := a.own(); {
	case function == "" || function == a.start():
		return a.start()
	case ofLibrary(a.start()):
		return function
	default:
		return a.start() + " (in " + function + ")"
	}
}

// start is the function that the goroutines of an actor's class run, without what
// started them.
func (a *Actor) start() string {
	name, _, _ := strings.Cut(a.Class, funcname.StartedBy)
	return name
}

// Runs reports whether a stack goes through the function that the goroutines of an actor's
// class run.
func (a *Actor) Runs(frames []string) bool {
	return slices.ContainsFunc(frames, func(s string) bool {
		function, _ := frame(s)
		return function == a.start()
	})
}

// own is the program's function in which the stack lies, "" if there is none.
func (a *Actor) own() string {
	function, _ := Own(a.Stack)
	if ofLibrary(function) {
		return ""
	}
	return function
}

// ofLibrary reports whether a function is the standard library's.
func ofLibrary(function string) bool {
	pkg, _ := std.Split(function)
	return std.Has(pkg)
}

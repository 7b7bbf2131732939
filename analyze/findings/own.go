package findings

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Own returns the innermost function of a stack, as [Facts.Frames] writes it, that
// is the program's own, and its place ("file:line"): it is what the owner of a program
// can change. The outermost function that is not of the standard library is the
// program's, and so is what lies in the same package or repository: what that calls in
// other modules is left out. Of a deferred call it is the function that deferred it. All
// of the standard library gives its outermost function; no frames, "".
func Own(frames []string) (function, place string) {
	home := ""
	for i := len(frames) - 1; i >= 0; i-- {
		f, at := frame(frames[i])
		switch {
		case ofLibrary(f):
			if function == "" {
				function, place = f, at
			}
		case home == "" || home == repository(f):
			home = repository(f)
			function, place = f, at
		}
	}
	return function, place
}

// repository is what the functions of one program have in common: the first three
// elements of a path that begins with a host, as github.com/org/repo, the first of
// another.
func repository(function string) string {
	pkg, _ := std.Split(function)
	parts := strings.Split(pkg, "/")
	if strings.Contains(parts[0], ".") {
		return strings.Join(parts[:min(3, len(parts))], "/")
	}
	return parts[0]
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

// Short names an actor by one function: the program's in which its stack lies, and else the
// start function.
func (a *Actor) Short() string {
	if function := a.own(); function != "" {
		return function
	}
	return a.start()
}

// Short is a class without what started its goroutines, and without a function in
// brackets.
func Short(class string) string {
	if strings.HasPrefix(class, funcname.NotShown) {
		return class // who started it is all that is known
	}
	class, _, _ = strings.Cut(class, funcname.StartedBy)
	class, _, _ = strings.Cut(class, " (in ")
	return class
}

// ShortOf names actors by one function each, at most two.
func ShortOf(actors []Actor) string {
	var names []string
	for i := range actors {
		if name := actors[i].Short(); !slices.Contains(names, name) && len(names) < 2 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

// start is the function that the goroutines of an actor's class run, without what
// started them, unless that is all that is known.
func (a *Actor) start() string {
	if strings.HasPrefix(a.Class, funcname.NotShown) {
		return a.Class
	}
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

package findings

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/std"
)

// ProgramsFunction returns the innermost function of a stack that is the program's own, which is
// what its owner can change, and its place ("file:line"). The frames are lines like those of
// [Facts.Frames]; tested is the import path of the package under test, or "".
//
// With a package under test, functions of its module, and of no other one that the program requires,
// are its own. Otherwise those are the outermost function that is neither of the standard library
// nor, as its file tells, of a module that the program requires, and all of the same package or
// repository, or of package main. If the outermost is of package main, which does not tell the
// repository, all functions outside the module cache and vendor folders are.
//
// Of a deferred call it is the function that deferred it. In a stack without any such function,
// those of required modules are looked at in the same way; if all is the standard library's it is the
// outermost function; without frames, "".
func ProgramsFunction(frames []string, tested string) (function Name, place string) {
	if tested != "" {
		for _, fr := range frames {
			if function, place = frame(fr); owns(tested, packageOf(function), place) {
				return function, place
			}
		}
	}
	if function, place = ofRepository(frames, false); function == "" || serves(packageOf(function)) {
		function, place = ofRepository(frames, true)
	}
	return function, place
}

// InnermostFunction returns the innermost function of a stack outside the standard library and
// packages like golang.org/x/sync that serve whoever calls them, and its place ("file:line"). The
// frames are lines like those of [Facts.Frames]; tested is the import path of the package under test,
// which counts as outside, or "". If there is no such function it is the outermost one; without
// frames, "".
func InnermostFunction(frames []string, tested string) (function Name, place string) {
	for _, fr := range frames {
		function, place = frame(fr)
		pkg := packageOf(function)
		if pkg == tested || !serves(pkg) {
			break
		}
	}
	return function, place
}

// serves reports whether a package is the standard library's, or only serves who calls it, as sync does.
func serves(pkg string) bool {
	return std.Has(pkg) || slices.ContainsFunc(low[:], func(of string) bool { return strings.HasPrefix(pkg+"/", of+"/") })
}

// low begin the paths of packages that only serve.
var low = [...]string{"golang.org/x/sync", "golang.org/x/sys", "github.com/stretchr/testify"}

// AtInnermost returns a copy of the actor that texts name by the innermost function of its stack, even
// a library's: for what it did there, such as holding a lock. For what goroutines do all along a
// stack, such as running, the program's own function is the better name.
func (a *Actor) AtInnermost() *Actor {
	b := *a
	b.Innermost = true
	return &b
}

// ProgramsFunction returns the innermost function that is the program's own in the stack with a
// handle, and its place ("file:line"), as the function [ProgramsFunction] does. Results are cached.
func (f *Facts) ProgramsFunction(stack int32) (function Name, place string) {
	o, ok := f.owned[stack]
	if !ok {
		o.function, o.place = ProgramsFunction(f.Frames(stack), f.Tested)
		if f.owned == nil {
			f.owned = map[int32]owned{}
		}
		f.owned[stack] = o
	}
	return o.function, o.place
}

// owned is what ProgramsFunction returns.
type owned struct {
	function Name
	place    string
}

// ProgramsOwn returns the innermost function that is the program's own in the stack with a handle;
// "" if all of the stack is the standard library's.
func (f *Facts) ProgramsOwn(stack int32) Name {
	function, _ := f.ProgramsFunction(stack)
	return unlessLibrary(function, f.Tested)
}

// unlessLibrary is a function, "" if it is the standard library's and not under test.
func unlessLibrary(function Name, tested string) Name {
	if OfLibrary(function) && packageOf(function) != tested {
		return ""
	}
	return function
}

// ofRepository is ProgramsFunction without tests, with modules that the program requires left out, or not.
func ofRepository(frames []string, required bool) (function Name, place string) {
	home := ""
	for i := len(frames) - 1; i >= 0; i-- {
		f, at := frame(frames[i])
		pkg := packageOf(f)
		if serves(pkg) {
			if function == "" {
				function, place = f, at
			}
			continue
		}
		if !required && ofModule(at) {
			continue
		}
		in := repository(pkg)
		home = cmp.Or(home, in)
		if home == in || in == "main" || home == "main" && !required && strings.Contains(at, "/") {
			function, place = f, at
		}
	}
	return function, place
}

// Common returns the innermost function outside the standard library that two stacks of a goroutine,
// as lines like those of [Facts.Frames], share from their outermost frames on; "" if there is none.
func Common(x, y []string) (function Name) {
	for i := 1; i <= min(len(x), len(y)); i++ {
		name, _ := frame(x[len(x)-i])
		if other, _ := frame(y[len(y)-i]); name != other {
			break
		}
		if !OfLibrary(name) {
			function = name
		}
	}
	return function
}

// ofModule reports whether a file is of a module that a program requires: it lies in a
// folder with a version, as in the module cache and in what go build -trimpath writes, or
// among those that are vendored.
func ofModule(place string) bool {
	return strings.Contains(place, "@v") || strings.Contains(place, "/vendor/")
}

// repository is what the packages of one program have in common: the first three
// elements of a path that begins with a host, as github.com/org/repo, the first of
// another.
func repository(pkg string) string {
	first, rest, _ := strings.Cut(pkg, "/")
	if !strings.Contains(first, ".") {
		return first
	}
	end := len(first)
	for range 2 {
		var element string
		element, rest, _ = strings.Cut(rest, "/")
		end += 1 + len(element)
	}
	return pkg[:min(end, len(pkg))]
}

// frame parses a frame, and leaves out what package funcname says about wrappers.
func frame(s string) (function Name, place string) {
	if i := strings.LastIndex(s, " ("); i >= 0 {
		place = strings.TrimSuffix(s[i+2:], ")")
	}
	return Name(FunctionOf(s)), place
}

// Doer returns a name of the actor that can stand before a verb, as in "main.read, called by
// main.loop,": the function that Short returns, followed by that of CalledBy, or if there is none by
// the start function of its class, if that is another one outside the standard library.
func (a *Actor) Doer() Text {
	function, by := a.function(), a.CalledBy()
	switch {
	case function == "" || function == a.start():
		return Say("%s", a.start())
	case by != "":
	case OfLibrary(a.start()):
		return Say("%s", function)
	default:
		by = a.start()
	}
	return Say("%s, called by %s,", function, by)
}

// Called returns a Text that names a function and its caller, "function (called by by)"; the function
// alone if by is "".
func Called(function, by Name) Text {
	if by == "" {
		return Say("%s", function)
	}
	return Say("%s (called by %s)", function, by)
}

// Work returns what the actor does, for texts: the function that Short returns and, in brackets, the
// start function of its class if that is another one outside the standard library, as in "main.read
// (run by main.loop)". The function of CalledBy, if there is one, is in the brackets instead. A caller
// from another package of the program comes first.
func (a *Actor) Work() Text {
	function, user := a.function(), a.CalledBy()
	switch {
	case function == "" || function == a.start():
		return Say("%s", a.start())
	case user != "" || OfLibrary(a.start()):
		return Called(function, user)
	default:
		by := a.Caller()
		if by == "" || packageOf(by) == packageOf(function) {
			return Say("%s (run by %s)", function, a.start())
		}
		return Say("%s (in %s, run by %s)", by, function, a.start())
	}
}

// CalledBy returns the program's own function through which the actor came to the function that names
// it, if that is one of a module that the program requires, as it may be after AtInnermost; else "".
func (a *Actor) CalledBy() Name {
	function, place := InnermostFunction(a.Stack, a.Tested)
	by, _ := ProgramsFunction(a.Stack, a.Tested)
	if !a.Innermost || !ofModule(place) || by == function || OfLibrary(by) {
		return ""
	}
	return by
}

// Module returns the module that the program requires, as "path@version", in which the function is that
// names the actor; "" if the function is the program's own, or the module is not known.
func (a *Actor) Module() string {
	find := ProgramsFunction
	if a.Innermost {
		find = InnermostFunction
	}
	function, place := find(a.Stack, a.Tested)
	folder, rest, ok := strings.Cut(place, "@v")
	pkg := packageOf(function)
	if !ok || std.Has(pkg) || a.Tested != "" && owns(a.Tested, pkg, place) {
		return ""
	}
	version, dir, _ := strings.Cut(path.Dir(rest), "/")
	module := strings.TrimSuffix(strings.TrimSuffix(pkg, dir), "/")
	if last := path.Base(folder); !strings.Contains(last, "!") {
		module = path.Join(path.Dir(module), last) // whose dot does not end the path of a package, as in yaml.v3
	}
	return module + "@v" + version
}

// packageOf is the path of a function's package.
func packageOf[S ~string](function S) string {
	pkg, _ := std.Split(string(function))
	return pkg
}

// Short returns the name of the actor: the innermost function of the program in its stack, or with
// Innermost the innermost function, or else the start function of its class.
func (a *Actor) Short() Name {
	return cmp.Or(a.function(), a.start())
}

// Short returns the short name of a class for texts: the function that its goroutines run, without
// the wrapper that started them, if that function is known. class is a name as Actor.Class has it.
func Short[S ~string](class S) S {
	if strings.HasPrefix(string(class), funcname.NotShown) {
		return class
	}
	function, _, _ := strings.Cut(string(class), funcname.StartedBy)
	return S(function)
}

// Brief returns a name of the actor that tells users most: as Short does, except that for a function
// of the program that was called from another package of it, it returns the caller.
func (a *Actor) Brief() Name {
	own := a.function()
	if a.CalledBy() != "" {
		return own
	}
	inside := false
	for _, fr := range a.Stack {
		function, _ := frame(fr)
		inside = inside || function == own
		if inside && packageOf(function) != packageOf(own) {
			if own == "" || OfLibrary(function) {
				break
			}
			return function
		}
	}
	if strings.HasPrefix(a.Class, funcname.NotShown) {
		return a.Short() // who started it is all that is known of the rest
	}
	if start := a.start(); own != "" && start != "" && packageOf(own) != packageOf(start) && !OfLibrary(start) {
		return start // the frames between are missing
	}
	return a.Short()
}

// ShortOf returns the names of the actors by [Actor.Short], at most two different ones, with " and "
// between them.
func ShortOf(actors []Actor) Text {
	var names []Name
	for i := range actors {
		if name := actors[i].Short(); !slices.Contains(names, name) && len(names) < 2 {
			names = append(names, name)
		}
	}
	return List(names, " and ")
}

// Caller returns the function that called the one that names the actor, by its stack; "" if there is
// none, or if that is the standard library's or the start function of the actor's class.
func (a *Actor) Caller() Name {
	own := a.function()
	for i := len(a.Stack) - 1; i > 0 && own != ""; i-- {
		if in, _ := frame(a.Stack[i-1]); in != own {
			continue
		}
		by, _ := frame(a.Stack[i])
		if by == own || by == a.start() || OfLibrary(by) {
			return ""
		}
		return by
	}
	return ""
}

// start is the Short of an actor's class.
func (a *Actor) start() Name { return Short(Name(a.Class)) }

// Internal reports whether the goroutines of the actor's class were started by the standard library
// for work of its own, such as a connection of net/http, and not to run functions of the program.
func (a *Actor) Internal() bool {
	if !OfLibrary(a.start()) || strings.HasPrefix(a.Class, funcname.NotShown) {
		return false
	}
	switch pkg := packageOf(a.start()); pkg {
	case "context", "sync", "time", "testing", "iter":
		return false
	default:
		return packageOf(a.Creator) == pkg
	}
}

// Runs reports whether a stack, given as lines like those of [Facts.Frames], goes through the function
// that the goroutines of the actor's class run.
func (a *Actor) Runs(frames []string) bool { return Through(frames, string(a.start())) }

// Through reports whether the stack of the actor goes through a function, given by its full name.
func (a *Actor) Through(function Name) bool { return Through(a.Stack, string(function)) }

// Through reports whether a stack, given as lines like those of [Facts.Frames], goes through any of
// the functions, given by their full names.
func Through(frames []string, functions ...string) bool {
	return slices.ContainsFunc(frames, func(s string) bool { return slices.Contains(functions, FunctionOf(s)) })
}

// FunctionOf returns the full name of the function in a frame, which is a line "function (file:line)"
// as [Facts.Frames] has it.
func FunctionOf(frame string) string {
	function, _, _ := strings.Cut(frame, " ")
	return function
}

// function is the one in which the stack lies, "" if there is none: the program's, unless the actor is
// named as AtInnermost says.
func (a *Actor) function() Name {
	find := ProgramsFunction
	if a.Innermost {
		find = InnermostFunction
	}
	function, _ := find(a.Stack, a.Tested)
	return unlessLibrary(function, a.Tested)
}

// OfLibrary reports whether a function, given by its full name, is the standard library's.
func OfLibrary[S ~string](function S) bool { return std.Has(packageOf(function)) }

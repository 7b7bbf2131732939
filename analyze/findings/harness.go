package findings

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Part is the role of code in a program built by go test. [Facts.Part] tells that of a stack.
type Part uint8

// The roles of code.
const (
	Product  Part = iota // tested code; all code of a program without tests
	TestCode             // tests, benchmarks, examples, fuzz targets, and what else is in _test.go files
	Harness              // package testing, and what stands between it and test code, as testify's suites do
)

// Tests are the tests that a trace of a program built by go test shows.
type Tests struct {
	Functions  map[string]bool // names of the functions that are in _test.go files; the values are true
	Benchmarks bool            // only benchmarks ran
}

// LeftOut counts actions of package testing that no finding is about.
type LeftOut struct {
	Collections int64 `json:"collections"` // garbage collections that it asked for
	Statistics  int64 `json:"statistics"`  // reads of memory statistics
	Findings    int64 `json:"findings"`    // findings about the harness alone
}

// Part returns whether the stack with a handle is in tested code, test code or the harness: the
// innermost frame that is neither the runtime's nor of another low-level package decides. The
// outermost function that package testing calls is test code, wherever it lies.
func (f *Facts) Part(stack int32) Part {
	p, ok := f.parts[stack]
	if !ok {
		p, _ = f.part(f.Frames(stack))
		if f.parts == nil {
			f.parts = map[int32]Part{}
		}
		f.parts[stack] = p
	}
	return p
}

// part is Part of a stack as [Facts.Frames] writes it. It is not known where the stack shows only
// the standard library.
func (f *Facts) part(frames []string) (p Part, known bool) {
	var inner, outer Name
	test := false // the owner's functions, and whether one is in a _test.go file
	for _, fr := range frames {
		function, place := frame(fr)
		switch pkg := packageOf(function); {
		case f.harness(function):
			switch {
			case inner == "":
				return Harness, true
			case !test && strings.HasPrefix(string(inner), string(outer)):
				return TestCode, true
			}
			return p, true
		case std.Has(pkg) && pkg != f.Tested:
		case owns(f.Tested, pkg, place):
			in := f.inTest(function, place)
			if inner == "" && in {
				p = TestCode
			}
			inner, outer, test, known = cmp.Or(inner, function), function, test || in, true
		default:
			known = true
		}
	}
	return p, known
}

// harness reports whether a function is package testing's, or in the file that go test makes.
func (f *Facts) harness(function Name) bool {
	pkg := packageOf(function)
	return pkg != f.Tested && (pkg == "testing" || strings.HasPrefix(pkg, "testing/")) || function == "main.main" && f.Tested != ""
}

// inTest reports whether a function is in a _test.go file, or a mock in a program under test.
func (f *Facts) inTest(function Name, place string) bool {
	return strings.Contains(place, "_test.go:") || f.Tests.Functions[string(function)] || f.Tested != "" && mocks.MatchString(place)
}

// mocks matches files that are named for the mocks in them, as generators and people name them:
// mock.go, mock_store.go, store_mock.go, and those of a package mock or mocks.
var mocks = regexp.MustCompile(`(^|/)(mocks?/[^/]*|mocks?|mocks?_[^/]*|[^/]*_mocks?)\.go:`)

// owns reports whether a frame is the owner's of a program whose package tested is under test:
// of that package, of its module wherever that lies, or of no other module.
func owns(tested, pkg, place string) bool {
	pkg = strings.TrimSuffix(pkg, "_test")
	switch _, dir, ok := strings.Cut(place, "@v"); {
	case std.Has(pkg):
		return pkg == tested
	case ok:
		_, dir, _ = strings.Cut(path.Dir(dir), "/")
		return strings.HasPrefix(tested+"/", strings.TrimSuffix(strings.TrimSuffix(pkg, dir), "/")+"/")
	}
	return !ofModule(place)
}

// ActorPart returns whether an actor belongs to tested code, test code or the harness, by its stack,
// or else by its class. A victim belongs to the part that started its goroutine, unless it waits for
// the harness.
func (f *Facts) ActorPart(a *Actor) Part {
	p, known := f.part(a.Stack)
	switch by := f.started(a); {
	case !known, a.Role == Victim && (p != Harness || by == Product):
		return by
	}
	return p
}

// started reports what code the function is that the goroutines of an actor's class run. What test code
// has the standard library run belongs to the test.
func (f *Facts) started(a *Actor) Part {
	function, by := startedBy(Name(a.Class))
	switch pkg := packageOf(function); {
	case f.harness(function):
		return Harness
	case f.harness(by), f.Tests.Functions[string(function)], std.Has(pkg) && pkg != f.Tested && f.Tests.Functions[a.Creator]:
		return TestCode
	}
	return Product
}

// RunsTests reports whether the goroutines of a class, given by its handle, were started by package
// testing, or a framework like it, to run tests, benchmarks and the like: their start function is
// testing.tRunner or another one of the harness.
func (f *Facts) RunsTests(class int32) bool {
	function, by := startedBy(f.Name(class))
	return f.harness(function) || f.harness(by)
}

// startedBy splits the name of a class: the function that its goroutines run, or, if that is not
// known, what else is, and what started that.
func startedBy(class Name) (function, by Name) {
	what, _, who := funcname.Cut(string(class))
	if what == funcname.NotShown {
		what, who = who, ""
	}
	function, _ = frame(what)
	return function, Name(who)
}

// tests applies to findings what holds for tested programs: what is about the harness goes, whose
// culprit is test code is at most a note.
func (f *Facts) tests(list []Finding) []Finding {
	out := list[:0]
	for _, x := range list {
		if f.ofProgram(&x) {
			x.plain()
			out = append(out, x)
		} else {
			f.LeftOut.Findings++
		}
	}
	return out
}

// ofProgram removes the harness from the actors of a finding, makes it as mild as the others
// deserve, and reports whether any of those are left that it had. The first cause is the culprit;
// without one, and of a symptom, who waits most is looked at.
func (f *Facts) ofProgram(x *Finding) bool {
	var all, left [2]int // actors by whether they are causes
	var loud [2]bool     // whether the first of them is product code
	var test [2]bool     // or test code
	x.Actors = slices.DeleteFunc(x.Actors, func(a Actor) bool {
		if a.Class == "" && len(a.Stack) == 0 {
			return false
		}
		role, p := b2i(a.Role == Cause), f.ActorPart(&a)
		all[role]++
		if p == Harness {
			return true
		}
		if left[role]++; left[role] == 1 {
			loud[role] = p == Product
			test[role] = p == TestCode
		}
		return false
	})
	if len(x.Actors) > 0 && all[1] == 0 { // who waits is to blame, by what it does
		if p, known := f.part(x.Actors[0].Stack); known {
			test[0] = p == TestCode
		}
	}
	x.OfTest = test[0] || test[1]
	culprits := b2i(all[1] > 0 && x.Kind != KindSymptom)
	switch {
	case x.Kind == KindMachine:
	case all[0] > 0 && left[0] == 0, all[1] > 0 && left[1] == 0:
		return false
	case all[culprits] > 0 && !loud[culprits], f.aboutTest(x):
		x.Severity = Note
	}
	return true
}

// aboutTest reports whether the headline of a finding names test code, and no product code that its actors
// are or call.
func (f *Facts) aboutTest(x *Finding) bool {
	test := false
	for i := range x.Actors {
		a := &x.Actors[i]
		if start, _ := startedBy(Name(a.Class)); start != "" && x.Headline.names(start) {
			if f.started(a) == Product {
				return false
			}
			test = true
		}
		for _, fr := range a.Stack {
			if function, place := frame(fr); !f.inTest(function, place) && x.Headline.names(function) {
				return false
			}
		}
	}
	return test || slices.ContainsFunc(x.Headline.Names(), func(n Name) bool { return f.Tests.Functions[string(n)] })
}

// Plain returns a text for users in which the functions by which package testing runs something are
// replaced by what that is: "a test", "a fuzz test" or "a benchmark".
func Plain(text string) string { return plain.Replace(text) }

var plain = func() *strings.Replacer {
	var pairs []string
	for function, is := range map[string]string{
		"testing.tRunner": "a test", "testing.(*F).Fuzz.func1.1": "a fuzz test",
		"testing.(*B).launch": "a benchmark", "testing.(*B).run1.func1": "a benchmark", "testing.(*B).RunParallel.func1": "a benchmark",
	} {
		pairs = append(pairs, funcname.NotShown+funcname.StartedBy+function, is, funcname.StartedBy+function, "", function, is)
	}
	return strings.NewReplacer(pairs...)
}()

// plain does so in all that a finding says.
func (x *Finding) plain() {
	all := append([]Text{x.Headline, x.Title}, x.Advice...)
	for _, e := range x.Evidence {
		all = append(all, e.What, e.Value)
	}
	for _, t := range all {
		for i := range t {
			t[i].Text = Plain(t[i].Text)
		}
	}
}

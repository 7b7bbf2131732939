package funcname

import (
	"regexp"
	"strings"
)

// The links that stand between the two functions in the name of a class of goroutines that is
// told apart by more than its start function.
const (
	StartedBy = ", started by "
	WokenBy   = ", woken by "
	StoppedIn = ", last stopped in "
)

// NotShown is shown instead of a function of the program that no stack in the trace has.
const NotShown = "(unknown function)"

// Cut splits the name of a class into what, the function that names it, and who, the function
// that comes after link, one of the constants. link and who are empty if the name is that of
// one function.
func Cut(class string) (what, link, who string) {
	for _, link := range []string{StartedBy, WokenBy, StoppedIn} {
		if what, who, ok := strings.Cut(class, link); ok {
			return what, link, who
		}
	}
	return class, "", ""
}

// Spellings returns the ways in which one may name a class: in full, without who started it,
// each from any folder of its path on, and in the short form.
func Spellings(class string) []string {
	out := []string{class}
	if what, link, _ := Cut(class); link == StartedBy {
		out = append(out, what)
	}
	for _, s := range out {
		out = append(out, (*Shorts)(nil).Class(s))
		dir := folders(s)
		for i := range len(dir) {
			if dir[i] == '/' {
				out = append(out, s[i+1:])
			}
		}
	}
	return out
}

// Shorts has the short names of functions. A nil *Shorts has none, and shortens
// names by the path of their package alone.
type Shorts struct {
	short map[string]string // by the written name
}

// Shorten finds short names for the functions in the names of classes, as
// [Written]: without the path of the package, and with as much of it as tells
// them apart where they would be the same.
func Shorten(classes []string) *Shorts {
	s := &Shorts{short: map[string]string{}}
	var open []function
	used := map[string]string{} // by short name, the function that it is for
	for _, c := range classes {
		what, _, who := Cut(c)
		for _, fn := range []string{what, who} {
			if _, ok := used[fn]; !ok {
				used[fn] = fn // no other's short name
				open = append(open, parse(fn))
			}
		}
	}
	for n := 0; len(open) > 0; n++ {
		owners := map[string]int{}
		for i := range open {
			owners[open[i].with(n)]++
		}
		var same []function
		for _, f := range open {
			short := f.with(n)
			if by, ok := used[short]; short != f.full && (owners[short] > 1 || ok && by != f.full) {
				same = append(same, f)
				continue
			}
			s.short[f.full], used[short] = short, f.full
		}
		open = same
	}
	return s
}

// Class returns the short name of a class: that of the functions in it.
func (s *Shorts) Class(name string) string {
	what, link, who := Cut(name)
	if link == "" {
		return s.Function(name)
	}
	return s.Function(what) + link + s.Function(who)
}

// Function returns the short name of a function. One that [Shorten] was not given
// has its name without the path of its package.
func (s *Shorts) Function(name string) string {
	if s != nil {
		if short, ok := s.short[name]; ok {
			return short
		}
	}
	f := parse(name)
	return f.with(0)
}

// maxFolders is how many folders of a path a short name has at most; where they
// do not tell it from others, it has all.
const maxFolders = 4

// function is the name of a function, taken apart.
type function struct {
	full   string
	path   string // of its package, with what belongs to the last element
	called string // what the package is called, by its path
	fn     string
}

var (
	// version is the last element of the path of a module's second or later version.
	version = regexp.MustCompile(`^v[0-9]+$`)
	// dotted is the part of a package's last element that is no identifier of its:
	// nats.go, yaml.v3. Nothing in Go is called go; a type called v3 is taken for a
	// version.
	dotted = regexp.MustCompile(`^[A-Za-z0-9_~+-]+((?:\.(?:go|v[0-9]+))+)\.`)
)

// folders returns the directory part of an import path. Of names with stranger letters
// nothing is left out.
func folders(path string) string {
	end := 0
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/' && i > end:
			end = i + 1
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._~+-", c) >= 0:
		default:
			return path[:end]
		}
	}
	return path[:end]
}

// parse parses the name of a function, as [Written]. What does not begin as an
// import path has none.
func parse(name string) function {
	f := function{full: name, fn: name}
	dir := folders(name)
	last := name[len(dir):]
	end := strings.IndexByte(last, '.')
	suffix := ""
	if strings.Contains(last, ".go.") || strings.Contains(last, ".v") { // OPT: few have
		if m := dotted.FindStringSubmatchIndex(last); m != nil {
			suffix = last[m[2]:m[3]]
			end = m[3]
		}
	}
	if end <= 0 || end+1 == len(last) {
		return f
	}
	f.path, f.fn = dir+last[:end], last[end+1:]
	f.called = strings.TrimSuffix(last[:end], suffix)
	if parent := strings.TrimSuffix(dir, "/"); parent != "" && version.MatchString(f.called) {
		f.called = strings.TrimSuffix(parent[strings.LastIndexByte(parent, '/')+1:], ".go")
	}
	return f
}

// with is the name with n folders before the package's; with none the package is as
// one calls it in Go, without version.
func (f *function) with(n int) string {
	if f.path == "" {
		return f.full
	}
	if n == 0 {
		return f.called + "." + f.fn
	}
	at := len(f.path)
	for range n + 1 {
		if at = strings.LastIndexByte(f.path[:at], '/'); at < 0 || n > maxFolders {
			return f.full
		}
	}
	return f.path[at+1:] + "." + f.fn
}

// Package std answers: is this package Go's own? The look of a path does not say
// so: text/acme may be anybody's.
package std

import (
	_ "embed"
	"strings"
)

// packages are the import paths of all packages that a release of Go since 1.11
// has in its standard library, on any platform and with any experiment, a line
// each. Those of the go command and the other tools (go list cmd) are not among
// them: few record traces of those, but a module called cmd may be anybody's.
//
//go:generate ../../scripts/lab std -o packages.txt
//go:embed packages.txt
var packages string

var known = func() map[string]bool {
	m := map[string]bool{}
	for _, p := range strings.Fields(packages) {
		m[p] = true
	}
	return m
}()

// Has reports whether path is the import path of a package in the standard
// library. What the library has vendored has the path that traces show, as in
// vendor/golang.org/x/net/idna.
func Has(path string) bool { return known[path] }

// Split cuts the full name of a function into the path of its package and the rest, which is
// empty if there is no dot. Type arguments, which hold paths of their own, do not count.
func Split(fn string) (pkg, rest string) {
	plain := fn
	if i := strings.IndexByte(fn, '['); i >= 0 {
		plain = fn[:i]
	}
	from := 0
	for i := strings.IndexByte(plain, '/'); i >= 0; i = strings.IndexByte(plain[from:], '/') { // OPT: LastIndexByte looks at each byte
		from += i + 1
	}
	i := strings.IndexByte(fn[from:], '.')
	if i < 0 {
		return fn, ""
	}
	return fn[:from+i], fn[from+i+1:]
}

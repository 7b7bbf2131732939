// Package version names the version of the program that it is built into.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// What scripts/release has the linker set: the tag, if there is one, and the commit,
// with ",modified" behind it if the files differ from it.
var tag, commit string

// Tool returns "gmpscope" with its version, as documents name the program that wrote them.
func Tool() string {
	b, _ := debug.ReadBuildInfo()
	return "gmpscope " + describe(tag, commit, b)
}

// describe reports which version this is: by what scripts/release set, by what the go
// command knows of the clone that it built, or by the module that it installed. b
// may be nil.
func describe(tag, commit string, b *debug.BuildInfo) string {
	commit, state, _ := strings.Cut(commit, ",")
	version := cmp.Or(tag, "devel")
	if b != nil && commit == "" {
		for _, s := range b.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				state = "modified"
			}
		}
		// In a clone the go command makes up a version since Go 1.24, such as
		// v0.0.0-20260102150405-0123456789ab+dirty; it says no more than the commit.
		if commit == "" && b.Main.Version != "(devel)" {
			version = cmp.Or(b.Main.Version, version)
		}
	}
	if commit == "" {
		return version
	}
	version += " (commit " + commit[:min(12, len(commit))]
	if state != "" {
		version += ", " + state
	}
	return version + ")"
}

package version

import (
	"runtime/debug"
	"testing"
)

func TestDescribe(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	built := func(version string, settings ...string) *debug.BuildInfo {
		b := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			b.Settings = append(b.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return b
	}
	for _, c := range []struct {
		what, tag, commit string
		b                 *debug.BuildInfo
		want              string
	}{
		{"a release", "v1.2.3", revision, built("(devel)"), "v1.2.3 (commit 0123456789ab)"},
		{"a release of no tag", "", revision, built("(devel)"), "devel (commit 0123456789ab)"},
		{"a release of changed files", "v1.2.3", revision + ",modified", built("(devel)"), "v1.2.3 (commit 0123456789ab, modified)"},
		{"a release of an archive", "", "", built("(devel)"), "devel"},
		{"go install of a version", "", "", built("v1.2.3"), "v1.2.3"},
		{"go install of a commit", "", "", built("v0.0.0-20260102150405-0123456789ab"), "v0.0.0-20260102150405-0123456789ab"},
		{"go build in a clone", "", "", built("(devel)", "vcs.revision", revision, "vcs.modified", "false"), "devel (commit 0123456789ab)"},
		{"go build in a changed clone", "", "", built("v0.0.0-20260102150405-0123456789ab+dirty", "vcs.revision", revision, "vcs.modified", "true"), "devel (commit 0123456789ab, modified)"},
		{"go build with -buildvcs=false", "", "", built("(devel)"), "devel"},
		{"a build of another tool", "", "", built(""), "devel"},
		{"no build information", "", "", nil, "devel"},
	} {
		if got := describe(c.tag, c.commit, c.b); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

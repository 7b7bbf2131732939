package typecheck

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun has errors that the compiler would report: in a test, for one platform
// only, and for 32 bits only.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module m\n\ngo 1.26\n",
		"a.go":          "package m\n\nimport \"math\"\n\nvar large int = math.MaxInt32 + small\n",
		"a_linux.go":    "package m\n\nconst small = 1\n",
		"a_windows.go":  "package m\n\nconst small = \"\"\n",
		"a_test.go":     "package m\n\nfunc helper() int { return large }\n",
		"x_test.go":     "package m_test\n\nimport _ \"m\"\n",
		"a_tag_test.go": "//go:build tag\n\npackage m\n\nvar text string = helper()\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	for _, c := range []struct{ platform, tags, want string }{
		{"linux/amd64", "", ""},
		{"linux/386", "", "overflows"},
		{"windows/amd64", "", "a.go:5"},
		{"linux/amd64", "tag", "a_tag_test.go:5"},
	} {
		var out bytes.Buffer
		err := run(&out, dir, c.platform, c.tags, []string{"./..."})
		if (err != nil) != (c.want != "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s with tags %q: %v, and\n%s\nwant %q", c.platform, c.tags, err, out.String(), c.want)
		}
	}
	if err := run(&bytes.Buffer{}, dir, "linux", "", []string{"./..."}); err == nil {
		t.Error("a platform without a processor is no error")
	}
	if err := run(&bytes.Buffer{}, dir, "linux/amd64", "", []string{"./none"}); err == nil {
		t.Error("a package that is not there is no error")
	}
}

package truth

import "testing"

func TestModuleIsTakenApart(t *testing.T) {
	for spec, want := range map[string][3]string{
		"go.etcd.io/bbolt@v1.3.11":                       {"go.etcd.io/bbolt", "v1.3.11", "./."},
		"example.org/x/net@v0.1.0/http2/hpack":           {"example.org/x/net", "v0.1.0", "./http2/hpack"},
		"example.org/v2@v2.0.0-20240101000000-abcdef/z/": {"example.org/v2", "v2.0.0-20240101000000-abcdef", "./z"},
	} {
		module, version, pkg, err := splitModule(spec)
		if got := [3]string{module, version, pkg}; err != nil || got != want {
			t.Errorf("%s is %q, %v", spec, got, err)
		}
	}
	for _, spec := range []string{"", "example.org/x", "@v1.0.0", "example.org/x@", "example.org/x@v1.0.0/../y"} {
		if _, _, _, err := splitModule(spec); err == nil {
			t.Errorf("%q is taken", spec)
		}
	}
	for name, p := range realPrograms {
		if _, _, _, err := splitModule(p.pkg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

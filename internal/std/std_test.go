package std

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestHolds holds the list against the Go that runs the test.
func TestHolds(t *testing.T) {
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Skipf("no go command here: %v", err)
	}
	for _, p := range strings.Fields(string(out)) {
		if !Has(p) {
			t.Errorf("%s is not in packages.txt: add this Go to gen's releases, and go generate", p)
		}
	}
}

func TestHas(t *testing.T) {
	list := strings.Fields(packages)
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Error("packages.txt is not sorted, or has some twice")
	}
	for _, p := range []string{
		"runtime", "net/http", "internal/abi", "internal/runtime/maps", "weak", "arena", "encoding/json/v2", "runtime/cgo",
		"vendor/golang.org/x/net/http2/hpack",
		"vendor/golang_org/x/net/idna",                     // Go 1.11
		"internal/x/net/http/httpguts",                     // Go 1.12
		"internal/syscall/windows", "runtime/internal/sys", // not on every platform, not in every release
	} {
		if !Has(p) {
			t.Errorf("%s is not Go's own", p)
		}
	}
	for _, p := range []string{
		"", "main", "text", "text/acme", "internal/acme", "internal", "crypto/acme", "runtime/acme", "vendor/acme", "vendor", "vendor/golang.org/x/acme",
		"cmd/go", "cmd/internal/obj", "golang.org/x/net/idna", "net/http_test", "net/http/", "Sync",
	} {
		if Has(p) {
			t.Errorf("%q is Go's own", p)
		}
	}
}

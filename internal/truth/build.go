package truth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed workloads/*.go
var workloadSources embed.FS

// A Builder makes programs that run on an instrumented runtime. What it makes
// is kept in Cache and found again by content.
type Builder struct {
	Cache string    // directory, created if needed
	Log   io.Writer // progress, may be nil
}

// DefaultCache is where the command keeps toolchain-dependent files.
func DefaultCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "gmpscope", "truth"), nil
}

func (b *Builder) logf(format string, args ...any) {
	if b.Log != nil {
		fmt.Fprintf(b.Log, format+"\n", args...)
	}
}

// goroot returns the root of a release, like "1.26.8". The go command fetches
// it if the machine does not have it.
func goroot(ctx context.Context, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = os.TempDir() // outside any module: no go.mod may object to the version
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=go"+version, "GOROOT=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("toolchain go%s: %w: %s", version, err, bytes.TrimSpace(stderr.Bytes()))
	}
	root := strings.TrimSpace(string(out))
	text, err := os.ReadFile(filepath.Join(root, "VERSION"))
	if err != nil {
		return "", fmt.Errorf("toolchain go%s: %w", version, err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if strings.TrimSpace(first) != "go"+version {
		return "", fmt.Errorf("toolchain in %s is %s, want go%s", root, first, version)
	}
	return root, nil
}

// Workload returns the path of the workload program built for a release.
func (b *Builder) Workload(ctx context.Context, version string) (string, error) {
	files := map[string][]byte{
		// The oldest release that has to build it sets the language version;
		// newer features are behind build constraints.
		"go.mod": []byte("module workloads\n\ngo 1.22\n"),
	}
	entries, err := workloadSources.ReadDir("workloads")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		text, err := workloadSources.ReadFile("workloads/" + e.Name())
		if err != nil {
			return "", err
		}
		files[e.Name()] = text
	}
	return b.build(ctx, version, "workloads", files, "build", ".")
}

// Test returns the path of the test program of a package of the standard
// library, built for a release.
func (b *Builder) Test(ctx context.Context, version, pkg string) (string, error) {
	return b.build(ctx, version, "test-"+strings.ReplaceAll(pkg, "/", "-"), nil, "test", "-c", pkg)
}

// buildRules is part of every key in the cache. A change in how programs are
// built, not in what, has to change it.
const buildRules = 2

func (b *Builder) build(ctx context.Context, version, name string, files map[string][]byte, verb string, args ...string) (string, error) {
	goroot, err := goroot(ctx, version)
	if err != nil {
		return "", err
	}
	replaced, err := Instrument(goroot, version)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, buildRules, verb, args)
	for _, m := range []map[string][]byte{replaced, files} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(h, "%s %d\n%s", k, len(m[k]), m[k])
		}
	}
	key := fmt.Sprintf("%s-go%s-%s", name, version, hex.EncodeToString(h.Sum(nil))[:12])
	bin := filepath.Join(b.Cache, "bin", key)
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}

	dir := filepath.Join(b.Cache, "build", key)
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for path, text := range replaced {
		to := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return "", err
		}
		overlay.Replace[path] = to
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(src, path), text, 0o644); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, text, 0o644); err != nil {
		return "", err
	}

	b.logf("building %s", key)
	tmp := bin + ".tmp"
	full := []string{filepath.Join(goroot, "bin", "go"), verb, "-overlay", overlayFile, "-o", tmp}
	full = append(full, args...)
	if nice, err := exec.LookPath("nice"); err == nil {
		full = append([]string{nice}, full...)
	}
	cmd := exec.CommandContext(ctx, full[0], full[1:]...)
	cmd.Dir = src
	// The go command refuses to overlay files of its module cache, and that is
	// where fetched toolchains live: it gets another, empty one.
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOROOT=", "GOFLAGS=", "GOWORK=off", "GOPROXY=off",
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOMODCACHE="+filepath.Join(b.Cache, "mod"))
	if verb == "test" {
		cmd.Dir = filepath.Join(goroot, "src") // the module of the standard library
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", key, err, out.Bytes())
	}
	return bin, os.Rename(tmp, bin)
}

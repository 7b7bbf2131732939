package truth

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/gotool"
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
	tool := gotool.Tool{Env: []string{"GOTOOLCHAIN=go" + version, "GOROOT="}}
	out, err := tool.Run(ctx, os.TempDir(), "env", "GOROOT") // outside any module: no go.mod may object to the version
	if err != nil {
		return "", err
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
	bin, _, err := b.build(ctx, version, job{name: "workloads", files: files, verb: "build", args: []string{"."}})
	return bin, err
}

// Test returns the path of the test program of a package of the standard
// library, built for a release.
func (b *Builder) Test(ctx context.Context, version, pkg string) (string, error) {
	root, err := goroot(ctx, version)
	if err != nil {
		return "", err
	}
	bin, _, err := b.build(ctx, version, job{
		name: "test-" + strings.ReplaceAll(pkg, "/", "-"), verb: "test", args: testArgs(pkg),
		dir: filepath.Join(root, "src"), // the module of the standard library
	})
	return bin, err
}

// ModuleTest returns the path of the test program of a package of any module,
// and a folder where the program may run: a copy of its own. What the module
// needs is fetched in the versions that its own go.mod asks for.
func (b *Builder) ModuleTest(ctx context.Context, version, spec string) (bin, dir string, err error) {
	module, release, pkg, err := splitModule(spec)
	if err != nil {
		return "", "", err
	}
	bin, src, err := b.build(ctx, version, job{
		name: "mod-" + path.Base(spec), module: module + "@" + release, verb: "test", args: testArgs(pkg),
	})
	return bin, filepath.Join(src, pkg), err
}

// testArgs builds and does not vet, which would not see through the overlay.
func testArgs(pkg string) []string { return []string{"-c", "-vet=off", pkg} }

// buildRules is part of every key in the cache. A change in how programs are
// built, not in what, has to change it.
const buildRules = 3

// A job is one call of the go command.
type job struct {
	name   string
	files  map[string][]byte // the source, or
	module string            // the module with the source, or
	dir    string            // where the source is
	verb   string
	args   []string
}

// build returns the program and the folder in which it was built.
func (b *Builder) build(ctx context.Context, version string, j job) (bin, src string, err error) {
	goroot, err := goroot(ctx, version)
	if err != nil {
		return "", "", err
	}
	replaced, err := Instrument(goroot, version)
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, buildRules, j.verb, j.args, j.module)
	for _, m := range []map[string][]byte{replaced, j.files} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(h, "%s %d\n%s", k, len(m[k]), m[k])
		}
	}
	key := fmt.Sprintf("%s-go%s-%s", j.name, version, hex.EncodeToString(h.Sum(nil))[:12])
	bin = filepath.Join(b.Cache, "bin", key)
	dir := filepath.Join(b.Cache, "build", key)
	src = filepath.Join(dir, "src")
	if j.dir != "" {
		src = j.dir
	}
	if exist(bin, src) {
		return bin, src, nil
	}

	b.logf("building %s", key)
	// With a module cache of its own: the go command refuses to overlay files of its module
	// cache, and that is where fetched toolchains live.
	tool := gotool.Tool{Path: filepath.Join(goroot, "bin", "go"), Env: []string{
		"GOTOOLCHAIN=local", "GOROOT=", "GOOS=linux", "GOARCH=amd64", "GOMODCACHE=" + filepath.Join(b.Cache, "mod"),
	}}
	if j.module != "" {
		if err := tool.CopyModule(ctx, j.module, src); err != nil {
			return "", "", fmt.Errorf("building %s: %w", key, err)
		}
	}
	for _, d := range []string{dir, src, filepath.Dir(bin)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", "", err
		}
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for path, text := range replaced {
		to := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return "", "", err
		}
		overlay.Replace[path] = to
	}
	for path, text := range j.files {
		if err := os.WriteFile(filepath.Join(src, path), text, 0o644); err != nil {
			return "", "", err
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", "", err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, text, 0o644); err != nil {
		return "", "", err
	}
	tmp := bin + ".tmp"
	args := append([]string{j.verb, "-overlay", overlayFile, "-o", tmp}, j.args...)
	if _, err := tool.Run(ctx, src, args...); err != nil {
		return "", "", fmt.Errorf("building %s: %w", key, err)
	}
	return bin, src, os.Rename(tmp, bin)
}

func exist(paths ...string) bool {
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			return false
		}
	}
	return true
}

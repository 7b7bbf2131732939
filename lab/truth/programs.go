package truth

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A realProgram is other people's code: the tests of one of its packages. The
// version is the newest, or nearly, that every release in the matrix builds;
// the tests are those that pass with any number of Ps and use no network but
// loopback.
type realProgram struct {
	pkg   string // MODULE@VERSION/PKG
	small string // of the tests, some that leave a small trace
	args  []string
}

var realPrograms = map[string]realProgram{
	// A database in a file: writers that batch, fsync, readers of a memory map.
	"bbolt": {"go.etcd.io/bbolt@v1.3.11", "TestDB_Batch|TestDB_Concurrent_WriteTo", []string{
		"-test.run", "TestDB_Batch|TestDB_Concurrent_WriteTo|TestManyDBs|TestOpen_MultipleGoroutines|TestSimulate_(100op_10p|1000op_10p|1000op_100p)$",
	}},
	// Consensus: leaders, followers and their logs in one process.
	"raft": {"github.com/hashicorp/raft@v1.7.1", "TestRaft_(TripleNode|ApplyConcurrent)$", []string{
		"-test.count", "3", "-test.run", "TestRaft_(SingleNode|TripleNode|ApplyConcurrent|ApplyNonLeader|JoinNode|AutoSnapshot|UserSnapshot|SnapshotRestore)$",
	}},
	// A cache: benchmarks that run in as many goroutines as there are Ps.
	"ristretto": {"github.com/dgraph-io/ristretto/v2@v2.1.0", "TestCache(ProcessItems|Set|Get|Del|Clear|Metrics)$", []string{
		"-test.run", "TestCache(ProcessItems|Set|Get|Del|Clear|Metrics)$|TestDropUpdates|TestUpdateMaxCost",
		"-test.bench", "Store|Sketch", "-test.benchtime", "30000x",
	}},
}

// RealPrograms returns the names of the workloads that are other people's code.
func RealPrograms() []string { return slices.Sorted(maps.Keys(realPrograms)) }

// SmallArgs returns the arguments that make a real program do little; none for
// a workload of our own, which has its scale for that.
func SmallArgs(workload string) []string {
	p, ok := realPrograms[workload]
	if !ok {
		return nil
	}
	return []string{"-test.count", "1", "-test.bench", "", "-test.run", p.small}
}

// A Program is ready to be run.
type Program struct {
	Path string
	Dir  string // where it finds its files; "" for anywhere
	// args are the arguments that name the trace and the work.
	args func(traceFile string) []string
}

// Program builds what a recipe asks for.
func (b *Builder) Program(ctx context.Context, r Recipe) (Program, error) {
	name, args := r.Workload, r.Args
	if p, ok := realPrograms[name]; ok {
		name = "mod:" + p.pkg
		args = slices.Concat(p.args, r.Args)
	}
	testRun := func(traceFile string) []string {
		return append([]string{"-test.trace", traceFile, "-test.timeout", "100s"}, args...)
	}
	if pkg, ok := strings.CutPrefix(name, "test:"); ok {
		root, err := goroot(ctx, r.Go)
		if err != nil {
			return Program{}, err
		}
		bin, err := b.Test(ctx, r.Go, pkg)
		return Program{bin, filepath.Join(root, "src", pkg), testRun}, err
	}
	if pkg, ok := strings.CutPrefix(name, "mod:"); ok {
		bin, dir, err := b.ModuleTest(ctx, r.Go, pkg)
		return Program{bin, dir, testRun}, err
	}
	bin, err := b.Workload(ctx, r.Go)
	return Program{bin, "", func(traceFile string) []string {
		return []string{
			"-trace", traceFile, "-workload", name,
			"-seed", strconv.Itoa(r.Seed), "-scale", strconv.FormatFloat(r.Scale, 'g', -1, 64),
		}
	}}, err
}

// splitModule parses MODULE@VERSION/PKG; PKG is "." for the module's root.
func splitModule(s string) (module, version, pkg string, err error) {
	module, rest, ok := strings.Cut(s, "@")
	version, pkg, _ = strings.Cut(rest, "/")
	pkg = path.Clean(pkg)
	if !ok || module == "" || version == "" || !filepath.IsLocal(pkg) {
		return "", "", "", fmt.Errorf("%q is not of the form MODULE@VERSION/PKG", s)
	}
	return module, version, "./" + pkg, nil
}

// Package std writes the list of the standard library's packages. It asks each
// release of Go in turn, which the go command downloads: some GB, and minutes.
package std

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/gotool"
)

// releases are those that write traces which gmpscope reads: the last one of
// each version, since releases have added internal packages.
var releases = []string{
	"1.11.13", "1.12.17", "1.13.15", "1.14.15", "1.15.15", "1.16.15", "1.17.13", "1.18.10", "1.19.13", "1.20.14", "1.21.13",
	"1.22.12", "1.23.12", "1.24.13", "1.25.11", "1.26.8", "1.27.4",
}

// tags are build tags without which go list does not see some packages. They are
// separated as Go 1.11 and 1.12 want it, which later releases take too.
const tags = "asan msan race goexperiment.arenas goexperiment.boringcrypto goexperiment.jsonv2 goexperiment.runtimesecret goexperiment.simd goexperiment.synctest"

// Command writes the list.
func Command(flags *flag.FlagSet) cli.Do {
	out := flags.String("o", "packages.txt", "write the list to `FILE`")
	return func(ctx context.Context, _ []string, _ io.Writer) error { return run(ctx, *out) }
}

func run(ctx context.Context, out string) error {
	all := map[string]bool{}
	for _, release := range releases {
		platforms, err := command(ctx, release, "", "tool", "dist", "list")
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, p := range platforms {
			// Packages differ by system; what is there for one architecture only is there
			// for amd64.
			goos, goarch, _ := strings.Cut(p, "/")
			if seen[goos] || goarch != "amd64" && slices.Contains(platforms, goos+"/amd64") {
				continue
			}
			seen[goos] = true
			packages, err := command(ctx, release, p, "list", "-find", "-tags="+tags, "std")
			if err != nil {
				return err
			}
			for _, name := range packages {
				all[name] = true
			}
		}
	}
	var list bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintln(&list, name)
	}
	return os.WriteFile(out, list.Bytes(), 0o644)
}

// command returns the words that a go command of that release prints, on a
// platform such as linux/amd64.
func command(ctx context.Context, release, platform string, args ...string) ([]string, error) {
	tool := gotool.Tool{Env: []string{"GOTOOLCHAIN=go" + release, "GOROOT=", "GOENV=off", "GOEXPERIMENT=", "CGO_ENABLED=1"}}
	if goos, goarch, ok := strings.Cut(platform, "/"); ok {
		tool.Env = append(tool.Env, "GOOS="+goos, "GOARCH="+goarch)
	}
	b, err := tool.Run(ctx, os.TempDir(), args...) // in no module
	if err != nil {
		return nil, fmt.Errorf("go%s %s: %w", release, platform, err)
	}
	return strings.Fields(string(b)), nil
}

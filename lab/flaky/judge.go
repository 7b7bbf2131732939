// Package flaky holds what gmpscope test says about flaky tests against what they lack: half of them are
// starved, half are wrong (testdata/flaky/README.md has the key).
package flaky

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Command judges them.
func Command(flags *flag.FlagSet) cli.Do {
	only := flags.String("only", "", "only tests whose names match this `regexp`")
	least := flags.Int("least", 0, "fail if gmpscope is right of fewer than this `number`")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		match, err := regexp.Compile(*only)
		if err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		root, err := runner.Root()
		if err != nil {
			return err
		}
		temp, err := os.MkdirTemp("", "gmpscope-flaky-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir := filepath.Join(temp, "flaky") // its script builds a program beside itself
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "lab", "testdata", "flaky"))); err != nil {
			return err
		}
		tool := filepath.Join(temp, "gmpscope")
		build := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/gmpscope")
		build.Dir, build.Stderr = root, os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building gmpscope: %w", err)
		}
		key, err := readKey(filepath.Join(dir, "README.md"))
		if err != nil {
			return err
		}
		right, all := 0, 0
		for _, k := range key {
			if !match.MatchString(k.name) {
				continue
			}
			var said bool
			var runs []string
			for try := 0; try < 5 && len(runs) == 0; try++ { // until it fails
				if said, runs, err = ask(ctx, dir, tool, k.name); err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
			}
			all++
			if said == k.starved && len(runs) > 0 {
				right++
			}
			fmt.Fprintf(stdout, "%-12s starved: %-5v  gmpscope: %-5v  %s\n", k.name, k.starved, said, strings.Join(runs, ", "))
		}
		fmt.Fprintf(stdout, "right: %d of %d\n", right, all)
		if right < *least {
			return fmt.Errorf("right of %d, not of %d", right, *least)
		}
		return nil
	}
}

type test struct {
	name    string
	starved bool
}

// row is one of the key: the name of a test, and its kind.
var row = regexp.MustCompile(`(?m)^\| (\w+) \| (starved|logic)`)

func readKey(file string) (key []test, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		key = append(key, test{m[1], m[2] == "starved"})
	}
	if len(key) == 0 {
		return nil, fmt.Errorf("%s has no key", file)
	}
	return key, nil
}

// ask has gmpscope run a test so that it fails. What it says about most of the runs that failed is what it
// says; runs has how often it said what.
func ask(ctx context.Context, dir, tool, name string) (starved bool, runs []string, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "fail.sh"), name, tool, "test", "--format=json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return false, nil, err
	}
	var doc jsondoc.Tests
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		return false, nil, fmt.Errorf("%w; it printed %s", err, errs.String())
	}
	said := map[string]int{}
	balance := 0
	for _, p := range doc.Packages {
		for _, t := range p.Tests {
			switch {
			case t.Verdict == "":
				continue
			case strings.HasPrefix(t.Verdict, "starved"):
				balance++
			default:
				balance--
			}
			said[t.Verdict]++
		}
	}
	for verdict, n := range said {
		runs = append(runs, fmt.Sprintf("%d %s", n, verdict))
	}
	slices.Sort(runs)
	return balance > 0, runs, nil
}

// Package typecheck type-checks packages and their tests for a platform, and
// compiles nothing: to compile what they import takes minutes for each platform.
// Function bodies are checked in the named packages only.
//
//	scripts/lab typecheck -platform linux/386 ./...
package typecheck

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
)

// Command checks the packages that its arguments name.
func Command(flags *flag.FlagSet) cli.Do {
	platform := flags.String("platform", runtime.GOOS+"/"+runtime.GOARCH, "check for `GOOS/GOARCH`")
	dir := flags.String("C", ".", "check packages of the module in `DIR`")
	tags := flags.String("tags", "", "check with these build `TAGS`, separated by commas")
	return func(_ context.Context, args []string, stdout io.Writer) error {
		return run(stdout, *dir, *platform, *tags, args)
	}
}

// listed is a package as go list prints it. With -test, a package that has tests
// is listed again with its test files, as "p [p.test]".
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // imports that are listed by another path
	DepOnly    bool              // imported only, not named
}

// run writes each type error in the packages that patterns name, and fails if
// there is one.
func run(out io.Writer, dir, platform, tags string, patterns []string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return errors.New("name the platform as GOOS/GOARCH")
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-test", "-tags", tags, "-json=ImportPath,Name,Dir,GoFiles,ImportMap,DepOnly", "--"}, patterns...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	packages, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run go list: %w", err)
	}

	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	named, failed := 0, 0
	for d := json.NewDecoder(packages); ; { // a package comes after all that it imports
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read what go list prints: %w", err)
		}
		if p.ImportPath == "unsafe" || p.Name == "main" && strings.HasSuffix(p.ImportPath, ".test") {
			continue // the latter is generated
		}
		if !p.DepOnly {
			named++
		}
		n, err := check(out, &p, checked, sizes)
		if err != nil {
			return err
		}
		failed += n
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("run go list: %w", err)
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d type errors", platform, failed)
	}
	fmt.Fprintf(out, "%s: %d packages have no type error\n", platform, named)
	return nil
}

// check adds p to what is checked, and returns how many type errors it has.
func check(out io.Writer, p *listed, checked map[string]*types.Package, sizes types.Sizes) (int, error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return 0, err
		}
		parsed = append(parsed, f)
	}
	failed := 0
	config := types.Config{
		IgnoreFuncBodies: p.DepOnly,
		Sizes:            sizes,
		Importer: importer(func(path string) (*types.Package, error) {
			if other, ok := p.ImportMap[path]; ok {
				path = other
			}
			if imported := checked[path]; imported != nil {
				return imported, nil
			}
			return nil, fmt.Errorf("%s is not listed", path)
		}),
		Error: func(err error) {
			failed++
			fmt.Fprintln(out, err)
		},
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	checked[p.ImportPath], _ = config.Check(path, fset, parsed, nil) // Error has the errors
	return failed, nil
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

package growth

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// tableFile has what the analyses of some traces take, and which these are.
const tableFile = "lab/growth/instructions.txt"

//go:embed instructions.txt
var table []byte

// tolerance is by which share the instructions of an analysis may differ from the table.
const tolerance = 0.03

// Guard sets up "lab instructions".
func Guard(fs *flag.FlagSet) cli.Do {
	update := fs.Bool("update", false, "write "+tableFile+" again")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		rows, err := count(ctx, root)
		if err != nil {
			return err
		}
		if *update {
			var b bytes.Buffer
			for i := range rows {
				fmt.Fprintf(&b, "%12d %s\n", rows[i].is, rows[i].trace)
			}
			return os.WriteFile(filepath.Join(root, tableFile), b.Bytes(), 0o644)
		}
		for i := range rows {
			r := &rows[i]
			off := float64(r.is)/float64(r.was) - 1
			fmt.Fprintf(stdout, "%12d %+6.2f %% %s\n", r.is, 100*off, r.trace)
			if math.Abs(off) > tolerance {
				err = errors.Join(err, fmt.Errorf("%s takes %+.1f %% of the instructions in %s: find out why, or renew it: scripts/instructions -update", r.trace, 100*off, tableFile))
			}
		}
		return err
	}
}

// row is a trace of the table.
type row struct {
	trace   string
	was, is int64 // instructions
}

// count analyses the traces of the table.
func count(ctx context.Context, root string) ([]row, error) {
	var rows []row
	for r := bytes.NewReader(table); ; {
		var x row
		if _, err := fmt.Fscan(r, &x.was, &x.trace); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", tableFile, err)
		}
		rows = append(rows, x)
	}
	dir, err := os.MkdirTemp("", "instructions-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	gmpscope := filepath.Join(dir, "gmpscope")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-pgo=off", "-o", gmpscope, "./cmd/gmpscope")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build gmpscope: %w\n%s", err, out)
	}
	var (
		all  sync.WaitGroup
		errs = make([]error, len(rows))
		free = make(chan struct{}, runtime.NumCPU())
	)
	for i := range rows {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			rows[i].is, _, errs[i] = instructions(ctx, gmpscope, filepath.Join(root, rows[i].trace))
		})
	}
	all.Wait()
	return rows, errors.Join(errs...)
}

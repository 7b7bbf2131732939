package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/gmpscope/gmpscope/internal/truth"
)

// ablate prints docs/hypotheses.md.
func ablate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := newOptions("ablate", stderr)
	dir := o.String("dir", "", "`directory` with recordings")
	file := o.String("out", "", "`FILE` to write; standard output if it is empty")
	if err := o.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("--dir is missing")
	}
	a, err := truth.Ablate(ctx, *dir)
	if err != nil {
		return err
	}
	if *file != "" {
		return os.WriteFile(*file, []byte(a.Page()), 0o644)
	}
	_, err = io.WriteString(stdout, a.Page())
	return err
}

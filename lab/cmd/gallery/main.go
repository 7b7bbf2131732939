// Gallery writes docs/gallery.md; package gallery says of what.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gmpscope/gmpscope/lab/gallery"
	"github.com/gmpscope/gmpscope/lab/runner"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := runner.Root()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := gallery.Page(ctx, &page, root); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "gallery.md"), page.Bytes(), 0o644)
}

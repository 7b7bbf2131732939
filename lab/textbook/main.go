// Package textbook answers: what does each mechanism of the scheduler do?
//
// It runs the seven programs of the classic explanation of Go's scheduler, and
// four about fairness, on the simulator, each with one mechanism off and on,
// and writes lab/docs/textbook.md with a picture for each.
//
//	scripts/lab textbook
package textbook

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Command writes the page and its pictures.
func Command(*flag.FlagSet) cli.Do {
	return func(context.Context, []string, io.Writer) error {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		return write(filepath.Join(root, "lab", "docs"))
	}
}

func write(dir string) error {
	all, err := runAll()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "textbook"), 0o777); err != nil {
		return err
	}
	for name, text := range page(all) {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func runAll() ([]outcome, error) {
	var all []outcome
	for _, p := range programs() {
		o, err := p.run()
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// page makes the page and its pictures, by name relative to the folder docs.
func page(all []outcome) map[string]string {
	files := map[string]string{"textbook.md": text(all)}
	for _, o := range all {
		files["textbook/"+o.id+".svg"] = picture(o)
	}
	return files
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gmpscope/gmpscope/internal/files"
)

// The streams that are outputs.
const (
	theStdout = "standard output"
	theStderr = "standard error"
)

// declareInputs declares inputs, before the command creates an output: it fails if they are the same
// file, and the message names the flag or argument. Inputs that only opening them declares are
// found out then, or when the output would be committed.
func (a *app) declareInputs(what string, names ...string) error {
	for _, name := range names {
		id, shown := files.Named(name), what+" "+name
		if name == "-" {
			id, shown = files.Opened(a.stdin), "standard input"
		}
		if err := a.guard.Reads(shown, id); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) open(ctx context.Context, what, name string) (*files.File, error) {
	if err := a.declareInputs(what, name); err != nil {
		return nil, err
	}
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	return f, nil
}

// readStdin declares standard input as an input, and returns what reads it until the context ends.
func (a *app) readStdin(ctx context.Context, what string) (io.Reader, error) {
	if err := a.declareInputs(what, "-"); err != nil {
		return nil, err
	}
	return files.Reader(ctx, a.stdin), nil
}

// read opens an input for as long as parse reads it.
func (a *app) read(ctx context.Context, what, name string, parse func(io.Reader) error) error {
	f, err := a.open(ctx, what, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return parse(f)
}

// output has write make the output that a flag names, which nobody sees before it is complete.
func (a *app) output(ctx context.Context, flag, name string, write func(*files.Output) error) error {
	out, err := a.create(ctx, flag, name)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

// create begins the output that a flag names; - is standard output.
func (a *app) create(ctx context.Context, flag, name string) (*files.Output, error) {
	if name == "-" {
		return files.To(a.stdout), nil // the guard knows it
	}
	f, err := files.Create(ctx, flag, name)
	if errors.Is(err, files.ErrDirectory) {
		return nil, usagef("%s %s: is a directory: name a file in it", flag, name)
	}
	return f, err
}

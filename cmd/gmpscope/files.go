package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gmpscope/gmpscope/internal/files"
)

// handled is a file of this command, and what it is called in a message.
type handled struct {
	id   files.ID
	what string
}

// reads declares inputs: the command fails if an output is the same file as one of
// them, whichever is declared first. Every file that a command reads is declared,
// before the command creates one.
func (a *app) reads(what string, names ...string) error {
	for _, name := range names {
		if err := a.readsOne(what, name); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) readsOne(what, name string) error {
	in := handled{files.Named(name), what + " " + name}
	if name == "-" {
		in = handled{files.Opened(a.stdin), "standard input"}
	}
	if files.Opened(a.stderr).Same(in.id) {
		a.stderr = io.Discard // not even this goes there
		return usagef("standard error is the same file as %s", in.what)
	}
	for _, out := range slices.Concat(a.outputs, []handled{{files.Opened(a.stdout), "standard output"}}) {
		if out.id.Same(in.id) {
			return overwrites(out, in)
		}
	}
	a.inputs = append(a.inputs, in)
	return nil
}

// open declares an input, and opens it.
func (a *app) open(ctx context.Context, what, name string) (*files.File, error) {
	if err := a.reads(what, name); err != nil {
		return nil, err
	}
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	return f, nil
}

// create begins the output that a flag names; - is standard output.
func (a *app) create(ctx context.Context, flag, name string) (*files.Output, error) {
	if name == "-" {
		return files.To(a.stdout), nil // reads looks at it
	}
	out := handled{files.Named(name), flag + " " + name}
	streams := []handled{{files.Opened(a.stdout), "standard output"}, {files.Opened(a.stderr), "standard error"}}
	for _, other := range slices.Concat(a.inputs, a.outputs, streams) {
		if out.id.Same(other.id) {
			return nil, overwrites(out, other)
		}
	}
	f, err := files.Create(ctx, name)
	if errors.Is(err, files.ErrDirectory) {
		return nil, usagef("%s: is a directory: name a file in it", out.what)
	}
	if err != nil {
		return nil, err
	}
	a.outputs = append(a.outputs, out)
	return f, nil
}

func overwrites(out, other handled) error {
	return usagef("%s is the same file as %s: write to another", out.what, other.what)
}

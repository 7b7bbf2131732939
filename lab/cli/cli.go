// Package cli is what the subcommands of lab share: a table, and how one of it is
// found, gets its flags, and runs.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Command is a subcommand.
type Command struct {
	Name string // some words
	Args string // what follows its flags; "" takes nothing
	What string // what it does, for the usage
	// Init declares the flags, and returns what is done once they are read.
	Init func(*flag.FlagSet) Do
}

// Do does what a subcommand is for.
type Do func(ctx context.Context, args []string, stdout io.Writer) error

// Run runs the subcommand of the table that args begins with.
func Run(ctx context.Context, table []Command, args []string, stdout, stderr io.Writer) error {
	for _, c := range table {
		words := strings.Fields(c.Name)
		if len(args) < len(words) || !slices.Equal(words, args[:len(words)]) {
			continue
		}
		flags := flag.NewFlagSet("lab "+c.Name, flag.ContinueOnError)
		flags.SetOutput(stderr)
		flags.Usage = func() {
			fmt.Fprintf(stderr, "lab %s [flags] %s\n%s\n", c.Name, c.Args, c.What)
			flags.PrintDefaults()
		}
		do := c.Init(flags)
		if err := flags.Parse(args[len(words):]); err != nil {
			return err
		}
		if flags.NArg() > 0 && c.Args == "" {
			return fmt.Errorf("unexpected argument %q", flags.Arg(0))
		}
		return do(ctx, flags.Args(), stdout)
	}
	for _, c := range table {
		if c.What != "" {
			fmt.Fprintf(stderr, "  lab %-44s %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.What)
		}
	}
	return errors.New("want one of these commands; -h behind it shows its flags")
}

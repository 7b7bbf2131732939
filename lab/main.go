// Lab measures gmpscope: it records programs, holds what gmpscope says about them against what is
// known, and writes the pages about that.
//
//	scripts/lab               lists the commands
//	scripts/lab COMMAND -h    lists the flags of one
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/gmpscope/gmpscope/lab/accuracy"
	"github.com/gmpscope/gmpscope/lab/bench"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/corpus"
	"github.com/gmpscope/gmpscope/lab/flaky"
	"github.com/gmpscope/gmpscope/lab/growth"
	"github.com/gmpscope/gmpscope/lab/hostile"
	"github.com/gmpscope/gmpscope/lab/jsondoc"
	"github.com/gmpscope/gmpscope/lab/manpages"
	"github.com/gmpscope/gmpscope/lab/same"
	"github.com/gmpscope/gmpscope/lab/std"
	"github.com/gmpscope/gmpscope/lab/sweep"
	"github.com/gmpscope/gmpscope/lab/textbook"
	"github.com/gmpscope/gmpscope/lab/truth/commands"
	"github.com/gmpscope/gmpscope/lab/typecheck"
)

var table = slices.Concat(corpus.Commands(), commands.Truth, accuracy.Replay, sweep.Sweep, bench.Bench, same.Commands, []cli.Command{
	{Name: "judge flaky", What: "judge whether gmpscope test tells starved tests from wrong ones", Init: flaky.Command},
	{Name: "growth", What: "measure how the cost of an analysis grows with one thing at a time", Init: growth.Command},
	{Name: "instructions", What: "hold how many instructions analyses take against a table", Init: growth.Guard},
	{Name: "hostile", What: "hold gmpscope against bounds on traces that are made to cost much", Init: hostile.Command},
	{Name: "textbook", What: "write lab/docs/textbook.md and its pictures", Init: textbook.Command},
	{Name: "jsondoc", What: "write docs/json.md and docs/schema", Init: jsondoc.Command},
	{Name: "man", What: "write manual pages", Init: manpages.Command},
	{Name: "std", What: "write the list of the standard library's packages", Init: std.Command},
	{Name: "typecheck", Args: "PACKAGE…", What: "type-check for another platform", Init: typecheck.Command},
})

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := cli.Run(ctx, table, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// perEvent prints what an event of each trace takes.
func perEvent(flags *flag.FlagSet) cli.Do {
	program := flags.String("gmpscope", "gmpscope", "the `PROGRAM` to run")
	rounds := flags.Int("rounds", 3, "how often each trace is read")
	return func(ctx context.Context, files []string, stdout io.Writer) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "events-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		b := &bench{dir: dir, rounds: max(1, *rounds), log: os.Stderr, self: self, gmpscope: *program}
		to := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		defer to.Flush()
		fmt.Fprintf(to, "trace\tMB\tM events\tns of CPU an event, plain loop\tanalyze\t\n")
		for _, file := range files {
			m, err := b.stored(ctx, file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			fmt.Fprintf(to, "%s\t%.1f\t%.2f\t%.0f\t%.0f\t\n", m.title, float64(m.Bytes)/1e6, float64(m.Events)/1e6, m.perEvent(plainLoop), m.perEvent(analysis))
		}
		return nil
	}
}

// stored runs the tools on a trace that there is, which may be compressed.
func (b *bench) stored(ctx context.Context, file string) (*measured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if data, err = runner.Decompress(data); err != nil {
		return nil, err
	}
	m := &measured{spec: spec{title: filepath.Base(file)}, file: filepath.Join(b.dir, "trace")}
	if err := os.WriteFile(m.file, data, 0o644); err != nil {
		return nil, err
	}
	if m.facts, err = learn(ctx, m.file); err != nil {
		return nil, err
	}
	return m, b.take(ctx, m)
}

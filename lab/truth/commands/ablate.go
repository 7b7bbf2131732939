package commands

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/truth"
)

// ablate prints lab/docs/hypotheses.md.
func ablate(flags *flag.FlagSet) cli.Do {
	dir := flags.String("dir", "", "`directory` with recordings, for what each hypothesis is worth")
	from := flags.String("from", "recorded for this", "what `recordings` these are, as the page says it")
	examples := flags.String("examples", "lab/truth/testdata/floor,lab/truth/testdata/examples", "`directories` with the recordings of the examples")
	only := flags.String("only", "", "`NAMES` of hypotheses, comma-separated: print only what these are worth")
	file := flags.String("out", "", "`FILE` to write; standard output if it is empty")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		if *dir == "" {
			return errors.New("--dir is missing")
		}
		if *only != "" {
			a, err := truth.Ablate(ctx, *dir, strings.Split(*only, ",")...)
			if err != nil {
				return err
			}
			_, err = io.WriteString(stdout, a.Total()+"\n"+a.ByWorkload())
			return err
		}
		list, err := truth.Examples(ctx, strings.Split(*examples, ",")...)
		if err != nil {
			return err
		}
		a, err := truth.Ablate(ctx, *dir)
		if err != nil {
			return err
		}
		page := truth.HypothesesPage(list, a, *from)
		if *file != "" {
			return os.WriteFile(*file, []byte(page), 0o644)
		}
		_, err = io.WriteString(stdout, page)
		return err
	}
}

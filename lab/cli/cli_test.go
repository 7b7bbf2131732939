package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestRun finds a command of two words before one of one, gives it flags and arguments, and
// refuses what the command does not take.
func TestRun(t *testing.T) {
	say := func(name string) func(*flag.FlagSet) Do {
		return func(flags *flag.FlagSet) Do {
			n := flags.Int("n", 1, "")
			return func(_ context.Context, args []string, stdout io.Writer) error {
				_, err := fmt.Fprint(stdout, name, *n, args)
				return err
			}
		}
	}
	table := []Command{{"truth list", "", "lists", say("list")}, {"truth", "FILE…", "tells", say("truth")}}
	for _, c := range []struct{ args, want, failed string }{
		{"truth list -n 3", "list3 []", ""},
		{"truth list x", "", "unexpected argument"},
		{"truth -n 2 a b", "truth2 [a b]", ""},
		{"truth -m", "", "not defined"},
		{"tru", "", "want one of"},
		{"", "", "want one of"},
	} {
		var out strings.Builder
		err := Run(t.Context(), table, strings.Fields(c.args), &out, io.Discard)
		if out.String() != c.want || (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%q: %q, %v", c.args, out.String(), err)
		}
	}
}

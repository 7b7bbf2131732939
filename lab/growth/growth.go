package growth

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"text/tabwriter"

	"github.com/gmpscope/gmpscope/lab/cli"
)

// Command sets up "lab growth".
func Command(fs *flag.FlagSet) cli.Do {
	gmpscope := fs.String("gmpscope", "gmpscope", "the `PROGRAM` to run")
	only := fs.String("only", "", "only things whose names match `REGEXP`")
	events := fs.Int("events", 1<<16, "make traces of some `N` events, and of four times as many for the most of a thing")
	dir := fs.String("dir", "", "keep the traces in `DIR`")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		match, err := regexp.Compile(*only)
		if err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		if *dir == "" {
			temp, err := os.MkdirTemp("", "growth-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(temp)
			*dir = temp
		}
		to := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		defer to.Flush()
		fmt.Fprintf(to, "thing\tnumbers of it\tinstructions for an event\t\t\t\texponent\t\n")
		for i := range things {
			if !match.MatchString(things[i].name) {
				continue
			}
			if err := things[i].measure(ctx, to, *gmpscope, *dir, *events); err != nil {
				return fmt.Errorf("%s: %w", things[i].name, err)
			}
			to.Flush()
		}
		return nil
	}
}

// sizes is how many numbers of a thing are tried, each a quarter of the next.
const sizes = 4

// measure prints what an event costs with each number of the thing.
func (t *thing) measure(ctx context.Context, to io.Writer, gmpscope, dir string, events int) error {
	fmt.Fprintf(to, "%s\t%d to %d\t", t.name, t.most>>(2*(sizes-1)), t.most)
	var costs [sizes]float64
	for i := range sizes {
		n := t.most >> (2 * (sizes - 1 - i))
		name := filepath.Join(dir, fmt.Sprintf("%s-%d.trace", t.name, n))
		if i == sizes-1 {
			events *= 4 // as many for each as in the trace before: a thing may have costs of its own
		}
		if err := t.create(name, n, max(events, 8*n)); err != nil {
			return err
		}
		count, read, err := instructions(ctx, gmpscope, name)
		if err != nil {
			return err
		}
		costs[i] = float64(count) / float64(read)
		fmt.Fprintf(to, "%.0f\t", costs[i])
	}
	fmt.Fprintf(to, "%.2f\t\n", exponent(costs))
	return nil
}

// exponent is that of a trace's length in what its analysis costs, if there is more of the thing
// in proportion, between the last two sizes. 1 is linear: an event costs the same.
//
// It is not fitted to the part of the cost that grows: of two small differences, that shows nothing.
func exponent(costs [sizes]float64) float64 {
	return 1 + math.Log(costs[sizes-1]/costs[sizes-2])/math.Log(4)
}

func (t *thing) create(name string, n, events int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(t.write(w, n, events), w.Flush(), f.Close())
}

var (
	counted = regexp.MustCompile(`Collected : (\d+)`)
	holds   = regexp.MustCompile(`holds +([\d,]+) events`)
)

// instructions returns how many instructions an analysis takes, by valgrind's callgrind, and
// how many events it read.
func instructions(ctx context.Context, gmpscope, trace string) (count, events int64, err error) {
	cmd := exec.CommandContext(ctx, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", gmpscope, "analyze", trace)
	// Valgrind fails at signals in the middle of things, and on some processors at RDTSCP.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	found, read := counted.FindSubmatch(stderr.Bytes()), holds.FindSubmatch(stdout.Bytes())
	if found == nil || read == nil {
		return 0, 0, fmt.Errorf("%s: it says nothing of instructions or events", cmd)
	}
	count, _ = strconv.ParseInt(string(found[1]), 10, 64)
	events, _ = strconv.ParseInt(string(bytes.ReplaceAll(read[1], []byte(","), nil)), 10, 64)
	return count, max(1, events), nil
}

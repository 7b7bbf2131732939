package commands

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/truth"
)

// hardLoads are in the floor set twice: they are where a change of the rules
// shows first.
var hardLoads = []string{"fanout", "gosched", "locked", "mixed", "thousand", "tree"}

// floor records the small set that the tests hold the reconstruction against:
// every workload, with releases and GOMAXPROCS in rotation.
func floor(flags *flag.FlagSet) cli.Do {
	o := recipeFlags(flags, allReleases, "all", allProcs)
	limit := flags.Int("limit", 80, "a recording takes at most this many `KiB`, compressed")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		return o.floor(ctx, *limit<<10, stdout)
	}
}

func (o *options) floor(ctx context.Context, limit int, stdout io.Writer) error {
	dir := o.out
	if dir == "." {
		return errors.New("--out is missing: its old recordings are removed")
	}
	b, recipes, err := o.recipes(ctx)
	if err != nil {
		return err
	}
	recipes = sample(recipes, hardLoads)
	old, err := filepath.Glob(filepath.Join(dir, "*.zst"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if o.out, err = os.MkdirTemp("", "truth"); err != nil {
		return err
	}
	defer os.RemoveAll(o.out)
	o.force = true
	for _, r := range recipes {
		if err := o.oneSmall(ctx, b, r, dir, limit, stdout); err != nil {
			return fmt.Errorf("%s: %w", r.Name(), err)
		}
	}
	fmt.Fprintln(stdout, "now: go -C lab test ./truth -run Floor -update")
	return nil
}

// oneSmall makes a recording that takes at most limit bytes, with less and less work.
func (o *options) oneSmall(ctx context.Context, b *truth.Builder, r truth.Recipe, dir string, limit int, stdout io.Writer) error {
	r.Args = append(r.Args, truth.SmallArgs(r.Workload)...)
	for range 10 {
		if err := o.one(ctx, b, r, io.Discard); err != nil {
			return err
		}
		packed, truthLines, err := pack(filepath.Join(o.out, r.Name()))
		if err != nil && !errors.Is(err, truth.ErrTooLong) {
			return err
		}
		if n := len(packed) + len(truthLines); err == nil && n <= limit {
			fmt.Fprintf(stdout, "%-24s scale %-8g %6d bytes\n", r.Name(), r.Scale, n)
			stem := filepath.Join(dir, r.Name())
			return errors.Join(os.WriteFile(stem+".trace.zst", packed, 0o644), os.WriteFile(stem+".truth.zst", truthLines, 0o644))
		}
		r.Scale /= 2
	}
	return fmt.Errorf("%s takes more than %d bytes even with little work", r.Name(), limit)
}

// pack returns the trace and the truth of a recording, compressed.
func pack(stem string) (traceFile, truthFile []byte, err error) {
	plain, err := os.ReadFile(stem + ".trace")
	if err != nil {
		return nil, nil, err
	}
	lines, err := truth.ReadLinesFile(stem + ".truth.jsonl")
	if err != nil {
		return nil, nil, err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	var b bytes.Buffer
	err = truth.WriteCompact(&b, lines)
	return z.EncodeAll(plain, nil), b.Bytes(), err
}

package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// fleetCost measures what the traces in a folder cost on one core, and simulates what that
// means for many traces a day: the figures of docs/fleet.md.
func fleetCost(flags *flag.FlagSet) cli.Do {
	traces := flags.Int("traces", 1_000_000, "traces a day")
	megabytes := flags.Float64("megabytes", 5, "their mean size, uncompressed")
	return func(ctx context.Context, args []string, stdout io.Writer) error {
		if len(args) != 1 {
			return errors.New("name one folder")
		}
		r, err := measure(ctx, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "| workers | CPU | busy | longest wait for a worker | levels of merges | merging | report |\n|---:|---:|---:|---:|---:|---:|---:|\n")
		for _, workers := range []int{1, 10, 100} {
			simulate(stdout, day{*traces, *megabytes * 1e6, 64}, r, workers)
		}
		return nil
	}
}

// rates is what one core does.
type rates struct {
	bytesPerSecond  float64 // of uncompressed traces, summed up
	recordBytes     float64 // of a file of summaries
	mergesPerSecond float64 // records read, merged and written
	reportPerSecond float64 // records read twice, for a report
}

// copies is how many records are made of those of real traces for the merge.
const copies = 5_000

// files is how many files they lie in.
const files = 64

// measure sets the rates by the traces in folder.
func measure(ctx context.Context, folder string) (r rates, err error) {
	runtime.GOMAXPROCS(1)
	names, err := fleet.Find([]string{folder})
	if err != nil {
		return r, err
	}
	began := cpuTime()
	set, problems, err := fleet.Collect(ctx, names, fleet.Collecting{Workers: 1})
	if err != nil {
		return r, err
	}
	defer set.Close()
	took := cpuTime() - began
	var records []*fleet.Record
	total := int64(0)
	for rec, err := range set.All() {
		if err != nil {
			return r, err
		}
		records = append(records, rec)
		total += rec.Trace.Bytes
	}
	if len(records) == 0 || took == 0 {
		return r, fmt.Errorf("no trace in %s could be read, or no CPU time be measured", folder)
	}
	r.bytesPerSecond = float64(total) / took.Seconds()
	fmt.Printf("%d traces of %.1f MB uncompressed (%d unread): %.2f s of CPU, %.1f MB/s\n", len(records), float64(total)/1e6, len(problems), took.Seconds(), r.bytesPerSecond/1e6)
	return r, r.measureMerge(ctx, records)
}

// measureMerge makes many records of few, and merges and reports them.
func (r *rates) measureMerge(ctx context.Context, records []*fleet.Record) error {
	temp, err := os.MkdirTemp("", "gmpscope-fleet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	names, size, err := copyInto(temp, records)
	if err != nil {
		return err
	}
	r.recordBytes = float64(size) / copies
	began := cpuTime()
	set, _, err := fleet.Collect(ctx, names, fleet.Collecting{Workers: 1})
	if err != nil {
		return err
	}
	defer set.Close()
	if err := fleet.WriteAll(io.Discard, set.All(), nil); err != nil {
		return err
	}
	r.mergesPerSecond = copies / (cpuTime() - began).Seconds()
	began = cpuTime()
	if _, err := fleet.Aggregate(set.All, nil, fleet.Grouping{By: fleet.DefaultGrouping()}); err != nil {
		return err
	}
	r.reportPerSecond = copies / (cpuTime() - began).Seconds()
	fmt.Printf("%d summaries in %d files: %.0f bytes each; %.0f a second merged, %.0f reported on\n",
		copies, files, r.recordBytes, r.mergesPerSecond, r.reportPerSecond)
	return nil
}

// copyInto writes copies of the records, with keys of their own and one of 300 services, to
// files, and returns their names and how large they are together.
func copyInto(folder string, records []*fleet.Record) (names []string, size int64, err error) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range files {
		set := &fleet.Set{}
		defer set.Close()
		for n := i; n < copies; n += files {
			rec := *records[random.IntN(len(records))]
			rec.Key = runner.Sum([]byte(fmt.Sprint(n)))
			rec.Sources = []fleet.Source{{Name: fmt.Sprint(n, ".trace"), Labels: []fleet.Label{{Name: "service", Value: fmt.Sprint("s", n%300)}, {Name: "version", Value: fmt.Sprint(n % 4)}}}}
			if err := set.Add(&rec); err != nil {
				return nil, 0, err
			}
		}
		name := filepath.Join(folder, fmt.Sprint(i, ".sum"))
		f, err := os.Create(name)
		if err != nil {
			return nil, 0, err
		}
		if err := fleet.WriteAll(f, set.All(), nil); err != nil {
			return nil, 0, err
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, 0, err
		}
		if err := f.Close(); err != nil {
			return nil, 0, err
		}
		names, size = append(names, name), size+at
	}
	return names, size, nil
}

// day is a day of traces.
type day struct {
	traces     int
	traceBytes float64 // uncompressed, the mean
	fanIn      int     // files that one merge reads
}

// simulate prints what so many workers, of one core each, make of a day: traces come at
// equal intervals, with sizes of an exponential distribution, and the next free worker
// takes the next one; each writes a file an hour; at the end of the day the files are
// merged in a tree, each level spread over the workers, and one of them makes the report.
func simulate(w io.Writer, d day, r rates, workers int) {
	random := rand.New(rand.NewPCG(34, uint64(workers)))
	const dayLength = 24 * 3600.0
	free := make([]float64, workers) // when each is
	var busy, waited, last float64
	for i := range d.traces {
		arrives := dayLength * float64(i) / float64(d.traces)
		next := 0
		for k := range free {
			if free[k] < free[next] {
				next = k
			}
		}
		begins := max(arrives, free[next])
		takes := random.ExpFloat64() * d.traceBytes / r.bytesPerSecond
		free[next] = begins + takes
		busy, waited, last = busy+takes, max(waited, begins-arrives), max(last, free[next])
	}
	levels, merging := 0, 0.0
	for n := workers * 24; n > 1; levels++ {
		n = (n + d.fanIn - 1) / d.fanIn
		merging += float64(d.traces) / r.mergesPerSecond / float64(min(n, workers))
	}
	fmt.Fprintf(w, "| %d | %.1f h | %.0f %% | %s | %d | %.0f s | %.0f s |\n", workers, busy/3600, 100*busy/(float64(workers)*max(dayLength, last)),
		time.Duration(waited*1e9).Round(time.Second), levels, merging, float64(d.traces)/r.reportPerSecond)
}

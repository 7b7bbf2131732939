package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/stretch"
)

// spec reports how to make a trace.
type spec struct {
	name  string
	title string
	source
	// How long it is to be made of what was recorded: at least so many bytes, or, if
	// it is set, about that time. Neither: as recorded.
	bytes    int64
	duration time.Duration
	// closely has all commands measured on it, and not only analyze.
	closely bool
}

// A source is a program that is recorded at work.
type source interface {
	// key names a recording, with all that it depends on.
	key() string
	// record writes a trace to a file. Programs are found in the folder dir.
	record(ctx context.Context, dir, file string) error
}

// recording reports what the load program records; see there.
type recording struct {
	load    string
	procs   int
	periods int
	size    int
}

func (r recording) key() string {
	return fmt.Sprintf("%s-%d-%d-%d", r.load, r.procs, r.periods, r.size)
}

const loadProgram = "load"

// traces returns what is measured: loads of many kinds, of which most have 10 to 20 MB, some that differ
// in one thing, and programs of others.
func traces() []spec {
	steady := recording{"steady", 4, 6, 1500}
	return append([]spec{
		{name: central, title: "mixed", source: recording{"mixed", 4, 12, 1200}, bytes: 30e6, closely: true},
		{name: megabyte, title: "a megabyte", source: steady, bytes: 1e6},
		{name: "dense", title: "dense", source: recording{"dense", 4, 8, 10_000}, bytes: 15e6},
		{name: "service", title: "a service", source: recording{"service", 4, 2, 70_000}, closely: true},
		{name: "locks", title: "many locks, 2,400 goroutines", source: recording{"locks", 4, 2, 240_000}},
		{name: "churn", title: "goroutines that end at once", source: recording{"churn", 4, 3, 400_000}},
		{name: "crews", title: "10,000 short goroutines at a time", source: recording{"crews", 4, 2, 300_000}},
		{name: "channels", title: "channels, 8 Ps", source: recording{"channels", 8, 2, 120_000}},
		{name: "forks", title: "fork and join, 64 Ps", source: recording{"forks", 64, 4, 2000}},
		{name: "store", title: "a key-value store", source: recording{"store", 4, 3, 600_000}},
		{name: "stacks", title: "a compiler's stacks", source: recording{"stacks", 4, 2, 24_000}},
		{name: "deep", title: "stacks 128 deep", source: recording{"deep", 4, 1, 8000}},
		{name: "https", title: "HTTPS and garbage", source: recording{"https", 4, 2, 6000}},
		{name: "annotations", title: "annotations", source: recording{"annotations", 4, 3, 80_000}},
		{name: "idle", title: "long idle stretches", source: recording{"idle", 4, 1, 24}},
		{name: "parked", title: "100,000 parked goroutines", source: recording{"parked", 4, 2, 100_000}},
		{name: "sleepers", title: "1,000,000 goroutines that sleep", source: recording{"sleepers", 4, 1, 1_000_000}},
		{name: "few", title: "100,000 goroutines", source: recording{"crowd", 4, 1, 100_000}},
		{name: "many", title: "1,000,000 goroutines", source: recording{"crowd", 4, 1, 1_000_000}},
		{name: "minute", title: "steady, 20 s", source: steady, duration: 20 * time.Second},
		{name: "minutes", title: "steady, 200 s", source: steady, duration: 200 * time.Second},
	}, realPrograms()...)
}

// facts is what is known of a trace before anything is measured on it.
type facts struct {
	Bytes       int64
	Largest     int64 // bytes of the largest generation
	Events      int64
	Generations int
	Live        int // the most goroutines at a time
	Duration    time.Duration
}

// made returns the trace of a spec and its facts, and makes it if it is not
// there.
func (b *bench) made(ctx context.Context, t spec) (file string, f facts, err error) {
	file = filepath.Join(b.dir, fmt.Sprintf("%s-%s-%d.trace", t.name, t.key(), max(t.bytes, int64(t.duration))))
	known, err := os.ReadFile(file + ".json")
	if err != nil {
		fmt.Fprintf(b.log, "making %s\n", t.title)
		known, err = b.child(ctx, "make", t.name, file)
		if err != nil {
			return "", f, err
		}
		if err := os.WriteFile(file+".json", known, 0o644); err != nil {
			return "", f, err
		}
	}
	return file, f, json.Unmarshal(known, &f)
}

// recordings is how often a load is recorded until it holds a loop.
const recordings = 10

// makeTrace is a child: make NAME FILE. It makes the trace that is called that, and prints its facts.
func makeTrace(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 2 {
		return errors.New("make wants two arguments")
	}
	all := traces()
	at := slices.IndexFunc(all, func(t spec) bool { return t.name == args[0] })
	if at < 0 {
		return fmt.Errorf("no trace is called %q", args[0])
	}
	if err := all[at].make(ctx, args[1]); err != nil {
		return err
	}
	f, err := learn(ctx, args[1])
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[1], err)
	}
	return json.NewEncoder(stdout).Encode(f)
}

// make writes the trace to a file. What was recorded stays beside it.
func (t spec) make(ctx context.Context, file string) error {
	dir := filepath.Dir(file)
	recorded := filepath.Join(dir, t.key()+".recording")
	for try := 1; ; try++ {
		if _, err := os.Stat(recorded); err != nil {
			temp := recorded + ".tmp"
			if err := t.record(ctx, dir, temp); err != nil {
				return fmt.Errorf("recording %s: %w", t.title, err)
			}
			if err := os.Rename(temp, recorded); err != nil {
				return err
			}
		}
		err := lengthen(recorded, file, t.bytes, t.duration)
		if !errors.Is(err, stretch.ErrNoLoop) || try == recordings {
			return err
		}
		if err := os.Remove(recorded); err != nil {
			return err
		}
	}
}

// record records r into a file.
func (r recording) record(ctx context.Context, dir, file string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, loadProgram),
		"-load", r.load, "-periods", strconv.Itoa(r.periods), "-size", strconv.Itoa(r.size), "-o", file)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(r.procs)) // the same on each machine
	return quiet(cmd)
}

// quiet runs a command. What it prints is in the error only.
func quiet(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// lengthen writes a recorded trace to a file so that it has about that many
// bytes or that duration; if both are zero, as it is.
func lengthen(recorded, file string, bytes int64, duration time.Duration) error {
	if bytes == 0 && duration == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return os.Link(recorded, file)
	}
	data, err := os.ReadFile(recorded)
	if err != nil {
		return err
	}
	loop, err := stretch.Find(data)
	if err != nil {
		return err
	}
	turns := (bytes - loop.Start.Bytes + loop.Turn.Bytes - 1) / loop.Turn.Bytes
	if duration > 0 {
		turns = int64((duration - loop.Start.Duration + loop.Turn.Duration/2) / loop.Turn.Duration)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := loop.Write(f, max(0, int(turns))); err != nil {
		return err
	}
	return f.Close()
}

// learn reads a whole trace, which x/exp/trace must accept.
func learn(ctx context.Context, file string) (facts, error) {
	var f facts
	in, err := os.Open(file)
	if err != nil {
		return f, err
	}
	defer in.Close()
	if f.Bytes, f.Largest, f.Generations, err = sizes(ctx, file); err != nil {
		return f, err
	}
	r, err := trace.NewReader(in)
	if err != nil {
		return f, err
	}
	var (
		first trace.Time
		live  = make(map[trace.GoID]bool)
	)
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if f.Events == 0 {
			first = ev.Time()
		}
		f.Events++
		f.Duration = time.Duration(ev.Time() - first)
		if ev.Kind() != trace.EventStateTransition {
			continue
		}
		if t := ev.StateTransition(); t.Resource.Kind == trace.ResourceGoroutine {
			if _, to := t.Goroutine(); to == trace.GoNotExist {
				delete(live, t.Resource.Goroutine())
			} else {
				live[t.Resource.Goroutine()] = true
				f.Live = max(f.Live, len(live))
			}
		}
	}
}

// plain is a child: plain FILE. It reads a trace and does nothing with it.
func plain(_ context.Context, args []string, _ io.Writer) error {
	if len(args) != 1 {
		return errors.New("plain wants a file")
	}
	in, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := trace.NewReader(in)
	for err == nil {
		_, err = r.ReadEvent()
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// sizes separates the generations of a trace without decoding them.
func sizes(ctx context.Context, file string) (bytes, largest int64, count int, err error) {
	src, err := input.Open(ctx, file, input.Options{})
	if err != nil {
		return 0, 0, 0, err
	}
	defer src.Close()
	for {
		g, err := src.Next()
		if err == io.EOF {
			return bytes, largest, count, nil
		}
		if err != nil {
			return 0, 0, 0, err
		}
		bytes += g.Bytes
		largest = max(largest, g.Bytes)
		count++
	}
}

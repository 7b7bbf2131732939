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
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/stretch"
)

// spec reports how to make a trace.
type spec struct {
	name  string
	title string
	length
	source
	// How long it is to be made of what was recorded: at least so many bytes, or, if
	// it is set, about that time. Neither: as recorded.
	bytes    int64
	duration time.Duration
	// closely has all commands measured on it, and not only analyze.
	closely bool
}

// length distinguishes the traces of one load.
type length int

const (
	alone length = iota // the load has no other
	short
	long
)

func (l length) String() string { return [...]string{"", ", short", ", long"}[l] }

// what names the trace for people.
func (t spec) what() string { return t.title + t.length.String() }

// stem is what the names of its files begin with.
func (t spec) stem() string { return t.name + strings.ReplaceAll(t.length.String(), ", ", "-") }

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

// traces returns what is measured.
func traces(full bool) []spec {
	return slices.Concat(shapes(full), lengths(full), realPrograms())
}

// shapes are loads of many kinds. Each has a short trace, of 3 to 10 MB, and, in
// full, one of 120 MB or more.
func shapes(full bool) []spec {
	var (
		mixed = recording{"mixed", 4, 12, 1200}
		dense = recording{"dense", 4, 8, 10_000}
		all   []spec
	)
	add := func(name, title string, at length, from source, bytes int64) {
		if full || at == short || name == central {
			all = append(all, spec{name: name, title: title, length: at, source: from, bytes: bytes, closely: at == long && (name == central || name == "service")})
		}
	}
	both := func(name, title string, procs, size, periods int) {
		add(name, title, short, recording{name, procs, 1, size}, 0)
		add(name, title, long, recording{name, procs, periods, size}, 0)
	}
	add(central, "mixed", short, mixed, 6e6)
	add(central, "mixed", long, mixed, 126e6)
	add(megabyte, "a megabyte", short, recording{"steady", 4, 6, 1500}, 1e6)
	add("dense", "dense", short, dense, 6e6)
	add("dense", "dense", long, dense, 126e6)
	both("service", "a service", 4, 70_000, 16)
	both("churn", "goroutines that end at once", 4, 400_000, 24)
	both("channels", "channels, 8 Ps", 8, 120_000, 24)
	both("forks", "fork and join, 64 Ps", 64, 2000, 40)
	both("store", "a key-value store", 4, 600_000, 26)
	both("stacks", "a compiler's stacks", 4, 24_000, 24)
	add("parked", "parked goroutines", short, recording{"parked", 4, 1, 100_000}, 0)
	add("parked", "parked goroutines", long, recording{"parked", 4, 6, 1_000_000}, 0)
	return all
}

// lengths are traces that differ in one thing, so that the page can say what that
// costs.
func lengths(full bool) []spec {
	if !full {
		steady := recording{"steady", 4, 6, 1500}
		return []spec{
			{name: "few", title: "10,000 goroutines", source: recording{"crowd", 4, 1, 10_000}, closely: true},
			{name: "many", title: "100,000 goroutines", source: recording{"crowd", 4, 1, 100_000}, closely: true},
			{name: "minute", title: "steady, 20 s", source: steady, duration: 20 * time.Second, closely: true},
			{name: "minutes", title: "steady, 200 s", source: steady, duration: 200 * time.Second, closely: true},
		}
	}
	var (
		mixed  = recording{"mixed", 4, 12, 4000}
		dense  = recording{"dense", 4, 6, 100_000}
		steady = recording{"steady", 4, 8, 2000}
	)
	return []spec{
		{name: "mixed577", title: "mixed, 577 MB", source: mixed, bytes: 577e6, closely: true},
		{name: "gigabyte", title: "mixed, a gigabyte", source: mixed, bytes: 1 << 30, closely: true},
		{name: "dense525", title: "dense, 525 MB", source: dense, bytes: 525e6, closely: true},
		{name: "few", title: "100,000 goroutines", source: recording{"crowd", 4, 1, 100_000}, closely: true},
		{name: "many", title: "1,000,000 goroutines", source: recording{"crowd", 4, 1, 1_000_000}, closely: true},
		{name: "minute", title: "steady, 1 min", source: steady, duration: time.Minute, closely: true},
		{name: "minutes", title: "steady, 10 min", source: steady, duration: 10 * time.Minute, closely: true},
	}
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
	file = filepath.Join(b.dir, fmt.Sprintf("%s-%s-%d.trace", t.stem(), t.key(), max(t.bytes, int64(t.duration))))
	known, err := os.ReadFile(file + ".json")
	if err != nil {
		fmt.Fprintf(b.log, "making %s\n", t.what())
		known, err = b.child(ctx, "make", t.stem(), strconv.FormatBool(b.full), file)
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

// makeTrace is a child: make STEM FULL FILE. It makes the trace that is called
// that, and prints its facts.
func makeTrace(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 3 {
		return errors.New("make wants three arguments")
	}
	full, err := strconv.ParseBool(args[1])
	if err != nil {
		return err
	}
	all := traces(full)
	at := slices.IndexFunc(all, func(t spec) bool { return t.stem() == args[0] })
	if at < 0 {
		return fmt.Errorf("no trace is called %q", args[0])
	}
	if err := all[at].make(ctx, args[2]); err != nil {
		return err
	}
	f, err := learn(ctx, args[2])
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[2], err)
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
				return fmt.Errorf("recording %s: %w", t.what(), err)
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
	err = generations(ctx, file, func(g *input.Generation) error {
		bytes += g.Bytes
		largest = max(largest, g.Bytes)
		count++
		return nil
	})
	return bytes, largest, count, err
}

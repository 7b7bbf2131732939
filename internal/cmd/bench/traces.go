package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/bench/stretch"
)

// spec says how to make a trace.
type spec struct {
	name  string
	title string
	recording
	// How long it is to be: at least so many bytes, or, if it is set, about that
	// time. Neither: as recorded.
	bytes    int64
	duration time.Duration
}

// recording says what the load program records; see there.
type recording struct {
	load    string
	periods int
	size    int
}

func (r recording) file() string { return fmt.Sprintf("%s-%d-%d.recording", r.load, r.periods, r.size) }

const loadProgram = "load"

// traces returns what is measured.
func traces(full bool) []spec {
	if !full {
		steady := recording{"steady", 6, 1500}
		return []spec{
			{name: central, title: "mixed", recording: recording{"mixed", 12, 1200}, bytes: 12e6},
			{name: "mixed126", title: "mixed, long", recording: recording{"mixed", 12, 1200}, bytes: 126e6},
			{name: "dense", title: "dense", recording: recording{"dense", 8, 10_000}, bytes: 12e6},
			{name: "few", title: "10,000 goroutines", recording: recording{"crowd", 1, 10_000}},
			{name: "many", title: "100,000 goroutines", recording: recording{"crowd", 1, 100_000}},
			{name: "short", title: "steady, 20 s", recording: steady, duration: 20 * time.Second},
			{name: "long", title: "steady, 200 s", recording: steady, duration: 200 * time.Second},
		}
	}
	var (
		mixed  = recording{"mixed", 12, 4000}
		dense  = recording{"dense", 6, 100_000}
		steady = recording{"steady", 8, 2000}
	)
	return []spec{
		{name: central, title: "mixed", recording: mixed, bytes: 126e6},
		{name: "mixed577", title: "mixed, long", recording: mixed, bytes: 577e6},
		{name: "gigabyte", title: "mixed, a gigabyte", recording: mixed, bytes: 1 << 30},
		{name: "dense", title: "dense", recording: dense, bytes: 525e6},
		{name: "few", title: "100,000 goroutines", recording: recording{"crowd", 1, 100_000}},
		{name: "many", title: "1,000,000 goroutines", recording: recording{"crowd", 1, 1_000_000}},
		{name: "short", title: "steady, 1 min", recording: steady, duration: time.Minute},
		{name: "long", title: "steady, 10 min", recording: steady, duration: 10 * time.Minute},
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
	file = filepath.Join(b.dir, fmt.Sprintf("%s-%s-%d-%d-%d.trace", t.name, t.load, t.periods, t.size, max(t.bytes, int64(t.duration))))
	known, err := os.ReadFile(file + ".json")
	if err != nil {
		fmt.Fprintf(b.log, "making %s\n", t.title)
		known, err = b.child(ctx, "make", t.load, strconv.Itoa(t.periods), strconv.Itoa(t.size),
			strconv.FormatInt(t.bytes, 10), t.duration.String(), file)
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

// makeTrace is a child: make LOAD PERIODS SIZE BYTES DURATION FILE. It prints
// the facts of the trace.
func makeTrace(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 6 {
		return errors.New("make wants six arguments")
	}
	var (
		r              = recording{load: args[0]}
		bytes          int64
		duration       time.Duration
		errs           [4]error
		file, recorded = args[5], ""
	)
	r.periods, errs[0] = strconv.Atoi(args[1])
	r.size, errs[1] = strconv.Atoi(args[2])
	bytes, errs[2] = strconv.ParseInt(args[3], 10, 64)
	duration, errs[3] = time.ParseDuration(args[4])
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	dir := filepath.Dir(file)
	recorded = filepath.Join(dir, r.file())
	for try := 1; ; try++ {
		if _, err := os.Stat(recorded); err != nil {
			if err := r.record(ctx, dir, recorded); err != nil {
				return err
			}
		}
		err := lengthen(recorded, file, bytes, duration)
		if err == nil {
			break
		}
		if !errors.Is(err, stretch.ErrNoLoop) || try == recordings {
			return err
		}
		if err := os.Remove(recorded); err != nil {
			return err
		}
	}
	f, err := learn(ctx, file)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return json.NewEncoder(stdout).Encode(f)
}

// record records r into a file.
func (r recording) record(ctx context.Context, dir, file string) error {
	temp := file + ".tmp"
	cmd := exec.CommandContext(ctx, filepath.Join(dir, loadProgram),
		"-load", r.load, "-periods", strconv.Itoa(r.periods), "-size", strconv.Itoa(r.size), "-o", temp)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=4") // the same on each machine
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("recording %s: %w\n%s", r.load, err, out)
	}
	return os.Rename(temp, file)
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

// sizes tells the generations of a trace apart without decoding them.
func sizes(ctx context.Context, file string) (bytes, largest int64, count int, err error) {
	err = generations(ctx, file, func(g *input.Generation) error {
		bytes += g.Bytes
		largest = max(largest, g.Bytes)
		count++
		return nil
	})
	return bytes, largest, count, err
}

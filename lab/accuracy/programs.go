package accuracy

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/replay"
)

// tuned is how many recordings of each program were looked at while the model was mended.
// The others were only measured.
const tuned = 2

// programsPage writes lab/docs/replay-programs.md of the recordings that -record made.
func programsPage(ctx context.Context, w io.Writer, dir string) error {
	lacked, err := cpuWaits(dir)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.trace.gz"))
	if err != nil {
		return err
	}
	var rows []row
	for _, file := range files {
		name := filepath.Base(file)
		m := recorded.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		procs, _ := strconv.Atoi(m[2])
		r, err := simulateWith(ctx, file, replay.SimulateOptions{WhatIf: []replay.Change{{Procs: 3 - procs}}})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		x := row{name: strings.TrimSuffix(name, ".trace.gz"), res: r}
		if ns, ok := lacked[name]; ok {
			x.lacked = &ns
		}
		rows = append(rows, x)
	}
	fmt.Fprint(w, programsHead)
	fmt.Fprint(w, "| recordings | with | of these | in all bands | without the machine's part |\n|---|---|---:|---:|---:|\n")
	for _, half := range []struct {
		name string
		of   func(run int) bool
	}{
		{"looked at", func(run int) bool { return run <= tuned }},
		{"held out", func(run int) bool { return run > tuned }},
	} {
		for _, cpu := range []struct {
			name string
			of   func(r *row) bool
		}{
			{"GOMAXPROCS 1", func(r *row) bool { return r.res.Simulated.Workload.GOMAXPROCS == 1 }},
			{"GOMAXPROCS 2", func(r *row) bool { return r.res.Simulated.Workload.GOMAXPROCS == 2 }},
			{"the CPU: lacked for less than 2 %", func(r *row) bool { return r.lacked != nil && !r.lacks() }},
			{"… and for less than 15 % of the time waited", func(r *row) bool { return r.lacked != nil && !r.lacks() && !r.lacksForWaits() }},
		} {
			var some []row
			for _, r := range rows {
				m := recorded.FindStringSubmatch(r.name + ".trace.gz")
				if run, _ := strconv.Atoi(m[3]); half.of(run) && cpu.of(&r) {
					some = append(some, r)
				}
			}
			strict, without := good(some)
			fmt.Fprintf(w, "| %s | %s | %d | %d | %d |\n", half.name, cpu.name, len(some), strict, without)
		}
	}
	var fed []row
	for _, r := range rows {
		if r.lacked != nil && !r.lacks() {
			fed = append(fed, r)
		}
	}
	fmt.Fprint(w, "\n## Recordings that had the CPU, but are out of a band\n\n")
	table(w, outOfBand(fed))
	fmt.Fprint(w, programsWhatIf)
	writeWhatIfs(w, predictWhatIfs(rows))
	return nil
}

const programsHead = `# How far the simulation is off for real programs

For those who change the simulator. Made on a machine with two cores to itself by

    scripts/lab replay record DIR
    scripts/lab replay programs DIR > lab/docs/replay-programs.md

The programs are listed in lab/accuracy/record.go: tests and benchmarks of a database, of consensus, gossip, caches,
servers and codecs, and the compiler. Each was recorded five times with one P and with two: two were looked at while the model was
mended, the others held out. The columns and bands are those of
[replay.md](replay.md). On this virtual machine threads lack a CPU even when nothing else runs: the kernel wakes a thread on the core of its
waker while the other is idle.

A recording had the CPU if threads lacked one for less than 2 % of the P-time, as the kernel counted. In a program that is mostly
idle, as raft is, that can still exceed the band of the time waited: the last row of each half leaves these out.

`

const programsWhatIf = `
## What if: twice the Ps, or half of them

Each recording predicts makespan and time waited with the other GOMAXPROCS, which are compared with the medians of the
recordings made with it (in brackets, their range). Right is within 10 % and 25 %. Trusted is what the
simulation does not call untrusted. Both are counted for makespan and waiting together, and, in brackets, for the makespan. The last column has a reason against the makespan.

With two Ps the same work takes 1.05 to 2.0 times as long as with one (busy time, medians; 1.4 in the middle): caches,
memory and the allocator are shared, and threads lose their CPU while a goroutine runs. So most makespans for two Ps
come out too short, and those for one too long; by how much, neither trace shows.

raft elects by deadlines of random length, so that with the same GOMAXPROCS it takes 0.7 or 1.2 s: its predictions are refused.

`

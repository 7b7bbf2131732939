package waits

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// parse reads a stream of decisions, one a line: time, kind, and fields such as
// g1, p0, stack1, local, steal, tracer, or a number for GOMAXPROCS. The class of a
// goroutine is its number.
func parse(t *testing.T, text string) []reference.Decision {
	t.Helper()
	var ds []reference.Decision
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		at, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		d := reference.Decision{Time: at, G: reference.NoG, P: reference.NoP, Victim: reference.NoP}
		for k := reference.KindReady; k <= reference.KindSyscallExit; k++ {
			if k.String() == f[1] {
				d.Kind = k
			}
		}
		if d.Kind == reference.KindNone {
			t.Fatalf("%q: no such kind", line)
		}
		for _, w := range f[2:] {
			n, err := strconv.ParseInt(strings.TrimLeft(w, "gp"), 10, 32)
			switch {
			case err == nil && w[0] == 'g':
				d.G, d.Class = n, int32(n)
			case err == nil && w[0] == 'p':
				d.P = int32(n)
			case err == nil:
				d.Batch = int32(n)
			case strings.HasPrefix(w, "stack"):
				n, err := strconv.ParseInt(w[len("stack"):], 10, 32)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				d.Stack = int32(n)
			case strings.HasPrefix(w, "label"):
				n, err := strconv.ParseInt(w[len("label"):], 10, 32)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				d.Label = int32(n)
			case w == "tracer-flag":
				d.Flags |= reference.FlagTracer
			case w == "gc-flag":
				d.Flags |= reference.FlagGC
			case w == "system-flag":
				d.Flags |= reference.FlagSystem
			default:
				found := false
				for q := reference.QueueUnknown; q <= reference.QueueDirect; q++ {
					if q.String() == w {
						d.To, found = q, true
					}
				}
				for y := reference.WhyBlock; y <= reference.WhyCorrected; y++ {
					if y.String() == w {
						d.Why, found = y, true
					}
				}
				if !found {
					t.Fatalf("%q: %q?", line, w)
				}
			}
		}
		ds = append(ds, d)
	}
	return ds
}

func account(ds []reference.Decision, end int64, o Options) Result {
	a := drive(New(o))
	for i := range ds {
		a.Add(&ds[i])
	}
	return a.Finish(end, numbered)
}

// numbered names class 7 "f7", created by "c7".
func numbered(id int32) (string, string) { return fmt.Sprint("f", id), fmt.Sprint("c", id) }

// TestCauses has the causes of the only user wait of g1 worked out by hand.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         map[Cause]int64
	}{
		{"others that became runnable earlier run first", `
			0 gomaxprocs 1
			0 p-start p0
			0 ready g2 local p0
			0 ready g3 local p0
			0 start g2 p0
			10 ready g1 local p0
			30 stop g2 block
			31 start g3 p0
			50 stop g3 block
			53 start g1 p0`,
			map[Cause]int64{CauseQueueing: 20 + 19, CauseOverhead: 1 + 3}},
		{"one that became runnable later overtakes through runnext", `
			0 gomaxprocs 1
			0 p-start p0
			0 ready g2 local p0
			0 start g2 p0
			10 ready g1 local p0
			15 ready g3 runnext p0
			20 stop g2 block
			20 start g3 p0
			50 stop g3 block
			50 start g1 p0`,
			map[Cause]int64{CauseQueueing: 10, CauseOvertaken: 30}},
		{"a goroutine keeps its place in the order through a system call", `
			0 gomaxprocs 1
			0 p-start p0
			0 ready g2 local p0
			0 start g2 p0
			10 ready g1 local p0
			20 syscall g2 p0
			25 syscall-exit g2 p0
			40 stop g2 block
			40 start g1 p0`,
			map[Cause]int64{CauseQueueing: 10 + 15, CauseUnavailable: 5}},
		{"a P in a system call is unavailable until it is retaken and given on", `
			0 gomaxprocs 1
			0 p-start p0
			0 ready g2 local p0
			0 start g2 p0
			10 syscall g2 p0
			20 ready g1 local p0
			50 retake p0 sysmon
			52 handoff p0
			55 p-start p0
			60 start g1 p0`,
			map[Cause]int64{CauseUnavailable: 30, CauseIdlePAvailable: 5, CausePWakingUp: 5}},
		{"a hand-over to a locked thread makes the P unavailable", `
			0 gomaxprocs 1
			0 p-start p0
			10 ready g1 local p0
			11 p-stop p0 locked
			41 p-start p0
			42 start g1 p0`,
			map[Cause]int64{CauseOverhead: 1, CauseUnavailable: 30, CausePWakingUp: 1}},
		{"a mark worker and the tracer hold the P", `
			0 gomaxprocs 1
			0 p-start p0
			0 ready g2 direct gc-flag
			0 start g2 p0
			0 ready g1 local p0
			30 stop g2 block
			30 ready g3 direct tracer-flag
			30 start g3 p0
			37 stop g3 block
			37 start g1 p0`,
			map[Cause]int64{CauseGC: 30, CauseTracer: 7}},
		{"an idle P misses it, then wakes and steals it", `
			0 gomaxprocs 2
			0 p-start p0
			0 ready g2 local p0
			0 start g2 p0
			10 ready g1 local p0
			30 p-start p1
			35 steal p1 1
			35 move g1 local p1 steal
			35 start g1 p1`,
			map[Cause]int64{CauseIdlePAvailable: 20, CausePWakingUp: 5}},
		{"a P that has run something since it woke does not count as waking", `
			0 gomaxprocs 2
			0 p-start p0
			0 ready g2 local p0
			0 ready g3 local p0
			0 start g2 p0
			10 ready g1 local p0
			30 p-start p1
			35 start g3 p1
			40 stop g3 block
			45 start g1 p1`,
			map[Cause]int64{CauseIdlePAvailable: 20, CauseQueueing: 15}},
		{"a mark worker on its own P goes before the waking of another", `
			0 gomaxprocs 2
			0 p-start p0
			0 ready g1 local p0
			0 ready g2 direct gc-flag
			0 start g2 p0
			10 p-start p1
			20 stop g2 block
			30 start g1 p1`,
			map[Cause]int64{CauseGC: 20, CausePWakingUp: 10}},
		{"its P stops first, then the world", `
			0 gomaxprocs 3
			0 p-start p0
			0 p-start p1
			0 p-start p2
			0 ready g2 local p1
			0 start g2 p1
			0 ready g3 local p2
			0 start g3 p2
			0 ready g4 local p0
			0 start g4 p0
			10 ready g1 local p0
			20 stw-begin g3 p2
			25 stop g4 stw
			25 p-stop p0 stw
			45 stop g2 stw
			45 p-stop p1 stw
			70 stw-end
			80 p-start p0
			81 start g1 p0`,
			map[Cause]int64{CauseQueueing: 15, CauseSTW: 45, CauseIdlePAvailable: 10, CausePWakingUp: 1}},
		{"the P that stops the world serves nobody either", `
			0 gomaxprocs 2
			0 p-start p0
			0 p-start p1
			0 ready g2 local p0
			0 start g2 p0
			0 ready g3 local p1
			0 start g3 p1
			0 ready g1 local p0
			20 stw-begin g2 p0
			30 stop g3 stw
			30 p-stop p1 stw
			50 p-start p1
			50 start g3 p1
			55 stw-end
			60 stop g2 block
			61 start g1 p0`,
			map[Cause]int64{CauseQueueing: 20 + 5, CauseSTW: 35, CauseOverhead: 1}},
		{"the global queue waits for all Ps by their shares", `
			0 gomaxprocs 4
			0 p-start p0
			0 p-start p1
			0 p-start p2
			0 p-start p3
			0 ready g2 local p0
			0 start g2 p0
			0 ready g3 direct gc-flag
			0 start g3 p1
			0 ready g4 local p2
			0 start g4 p2
			0 syscall g4 p2
			0 ready g1 global
			0 ready g5 runnext p3
			0 start g5 p3
			41 stop g5 block
			42 start g1 p3`,
			// 42 ns of each P: g2 behind, GC, system call; P3: 41 overtaken, 1 residue,
			// so 10.5, 10.5, 10.5, 10.25, 0.25: the remainders of a half go first.
			map[Cause]int64{CauseUnavailable: 11, CauseGC: 11, CauseQueueing: 10, CauseOvertaken: 10}},
		{"with an idle P the global queue does not wait for the others", `
			0 gomaxprocs 2
			0 p-start p0
			0 ready g2 local p0
			0 start g2 p0
			0 ready g1 global
			30 p-start p1
			40 start g1 p1`,
			map[Cause]int64{CauseIdlePAvailable: 30, CausePWakingUp: 10}},
		{"a goroutine run at once has no queue", `
			0 gomaxprocs 1
			0 p-start p0
			5 ready g1 direct network
			9 start g1 p0`,
			map[Cause]int64{CauseOverhead: 4}},
		{"each queue on the way has its own causes", `
			0 gomaxprocs 2
			0 p-start p0
			0 p-start p1
			0 ready g2 local p0
			0 start g2 p0
			0 ready g3 direct gc-flag
			0 start g3 p1
			0 ready g1 local p0
			10 move g1 global overflow
			30 move g1 local p1 global-batch
			60 stop g3 block
			60 start g1 p1`,
			map[Cause]int64{CauseQueueing: 10 + 10, CauseGC: 10 + 30}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := parse(t, c.stream)
			r := account(ds, ds[len(ds)-1].Time, Options{})
			for _, s := range r.Worst {
				if s.G != 1 {
					continue
				}
				got := map[Cause]int64{}
				for _, x := range s.Causes {
					if x.Ns != 0 {
						got[x.Cause] = x.Ns
					}
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("causes (-want +got):\n%s", d)
				}
				if err := check(ds, 10, false); err != nil {
					t.Errorf("the oracle disagrees: %v", err)
				}
				return
			}
			t.Fatal("no story of g1")
		})
	}
}

// TestCounted checks which waits are counted where.
func TestCounted(t *testing.T) {
	ds := parse(t, `
		0 gomaxprocs 1
		0 p-start p0
		0 ready g1 local p0
		10 start g1 p0
		30 stop g1 gosched
		30 ready g1 global gosched
		30 ready g2 local p0 system-flag
		40 start g2 p0
		60 stop g2 block
		70 start g1 p0
		80 stop g1 block
		90 start g3 p0
		95 stop g3 exit
		96 ready g3 local p0
		97 ready g4 local p0`)
	r := account(ds, 100, Options{})
	for _, c := range []struct {
		name      string
		s         Summary
		count, ns int64
	}{
		{"all", r.All, 3, 10 + 10 + 40},
		{"user", r.User, 1, 10},
		{"self", r.Self, 1, 40},
		{"system", r.System, 1, 10},
	} {
		if c.s.Count != c.count || c.s.TotalNs != c.ns {
			t.Errorf("%s: %d waits, %d ns; want %d, %d", c.name, c.s.Count, c.s.TotalNs, c.count, c.ns)
		}
	}
	if r.All.OpenCount != 2 || r.All.OpenNs != 4+3 || r.User.OpenCount != 2 {
		t.Errorf("open: %d, %d ns; want 2, 7", r.All.OpenCount, r.All.OpenNs)
	}
	type row struct {
		ID                          int32
		Goroutines, Starts, Running int64
		System                      bool
	}
	var got []row
	for _, c := range r.Classes {
		got = append(got, row{c.ID, c.Goroutines, c.Starts, c.RunningNs, c.System})
	}
	want := []row{{1, 1, 2, 30, false}, {2, 1, 1, 20, true}, {3, 2, 1, 5, false}, {4, 1, 0, 0, false}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("classes (-want +got):\n%s", d)
	}
}

// TestUncounted has starts to which no wait belongs.
func TestUncounted(t *testing.T) {
	ds := parse(t, `
		0 p-start p0
		5 ready g1 local p0
		9 start g1 p0
		10 stop g1 block
		11 start g2 p0`)
	for i := range ds {
		ds[i].Wait = -1
	}
	r := account(ds, 20, Options{})
	if r.All.Count != 0 || r.Classes[0].Starts+r.Classes[1].Starts != 2 {
		t.Errorf("%d waits, %d starts; want 0, 2", r.All.Count, r.Classes[0].Starts+r.Classes[1].Starts)
	}
}

// TestAntagonists checks who ran while a class waited, and how much of that
// was one interval longer than a slice.
func TestAntagonists(t *testing.T) {
	ds := parse(t, `
		0 gomaxprocs 1
		0 p-start p0
		0 ready g2 local p0
		0 ready g3 local p0
		0 start g2 p0
		10 ready g1 local p0
		60 stop g2 block
		60 start g3 p0
		100 stop g3 block
		100 start g1 p0`)
	r := account(ds, 100, Options{SliceNs: 50})
	for _, c := range r.Classes {
		if c.ID == 1 {
			want := []Antagonist{{2, "f2", "c2", 50}, {3, "f3", "c3", 40}}
			if d := cmp.Diff(want, c.Antagonists); d != "" {
				t.Errorf("antagonists (-want +got):\n%s", d)
			}
			if c.Waits.BehindLongNs != 50 {
				t.Errorf("behind long: %d, want 50", c.Waits.BehindLongNs)
			}
		}
	}
	if r.User.BehindLongNs != 50+60 {
		t.Errorf("behind long of all: %d, want 110", r.User.BehindLongNs)
	}
}

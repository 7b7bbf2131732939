package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// namedRecord is a Record with names for handles.
type namedRecord struct {
	Time                  int64
	CPU, TID, Next, Group int32
	Comm, Into            string
	Kind                  Kind
	State                 string
}

// readAll returns the records of a text.
func readAll(text string) (*Reader, []namedRecord, error) {
	r, err := New(strings.NewReader(text), "trace.txt")
	if err != nil {
		return nil, nil, err
	}
	var out []namedRecord
	for {
		x, err := r.Next()
		if err == io.EOF {
			return r, out, nil
		}
		if err != nil {
			return r, out, err
		}
		t := namedRecord{x.Time, x.CPU, x.TID, x.Next, x.Group, "", "", x.Kind, ""}
		if x.TID != 0 {
			t.Comm = r.Name(x.Comm)
		}
		if x.Next != 0 {
			t.Into = r.Name(x.Into)
		}
		if x.State != 0 {
			t.State = string(x.State)
		}
		out = append(out, t)
	}
}

func TestLines(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want namedRecord
	}{
		"ftrace": {
			"            node-21431   [001] d..2. 49504.095323: sched_switch: prev_comm=node prev_pid=21431 prev_prio=120 prev_state=R+ ==> next_comm=kdamond.0 next_pid=76 next_prio=120",
			namedRecord{49504_095323000, 1, 21431, 76, 0, "node", "kdamond.0", Switch, "R"}},
		"ftrace with the process, without flags": {
			" app-12  (     10) [000] 4.000001: sched_switch: prev_comm=app prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
			namedRecord{4_000001000, 0, 12, 0, 10, "app", "", Switch, "S"}},
		"perf script": {
			"            perf 21599 [000] 49507.924117202: sched:sched_switch: prev_comm=perf prev_pid=21599 prev_prio=120 prev_state=D ==> next_comm=migration/0 next_pid=18 next_prio=0",
			namedRecord{49507_924117202, 0, 21599, 18, 0, "perf", "migration/0", Switch, "D"}},
		"perf script with the process, a period, and short fields": {
			"my app 7/9 [012] 1.000000002:          1 sched:sched_switch: my app:9 [120] T ==> swapper/12:0 [120]",
			namedRecord{1_000000002, 12, 9, 0, 7, "my app", "", Switch, "T"}},
		"waking": {
			"          <idle>-0       [001] d.h3. 49504.502368: sched_waking: comm=a b pid=21451 prio=120 target_cpu=003",
			namedRecord{49504_502368000, 3, 21451, 0, 0, "a b", "", Wake, ""}},
		"short wakeup": {
			"swapper 0 [001] 2.5000000: sched:sched_wakeup: x:5 [120] CPU:002",
			namedRecord{}},
		"wakeup, short fields": {
			"swapper 0 [001] 2.500000: sched:sched_wakeup: x:5 [120] CPU:002",
			namedRecord{2_500000000, 2, 5, 0, 0, "x", "", Wake, ""}},
		"wakeup that does not say where": {
			"swapper 0 [001] 2.500000: sched:sched_wakeup_new: comm=x pid=5 prio=120",
			namedRecord{2_500000000, NoCPU, 5, 0, 0, "x", "", Wake, ""}},
		"names of threads that look like lines": {
			" sched_switch: -3 [001] d..2. 5.000000: sched_switch: prev_comm=sched_switch:  prev_pid=3 prev_prio=120 prev_state=S ==> next_comm= ==> x next_pid=4 next_prio=120",
			namedRecord{5_000000000, 1, 3, 4, 0, "sched_switch: ", " ==> x", Switch, "S"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, got, err := readAll("# tracer: nop\n#\n" + tc.line + "\n")
			if tc.want == (namedRecord{}) {
				if err == nil {
					t.Fatalf("no error but %+v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]namedRecord{tc.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// line is one of ftrace.
func line(cpu int, micros int64, prev int, state string, next int) string {
	return fmt.Sprintf("  t%d-%d [%03d] d..2. %d.%06d: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=t%d next_pid=%d next_prio=120\n",
		prev, prev, cpu, micros/1e6, micros%1e6, prev, prev, state, next, next)
}

func TestErrors(t *testing.T) {
	good := line(0, 1, 1, "S", 2)
	for name, tc := range map[string]struct{ text, want string }{
		"empty":                 {"", "no records of the kernel's scheduler in it"},
		"something else":        {"hello\nworld\n", "no records of the kernel's scheduler in it"},
		"another event":         {" x-1 [000] d..2. 1.000000: sched_stat_runtime: comm=x pid=1\n", "no records"},
		"perf.data":             {"PERFILE2xxxx", "perf script --ns -i FILE"},
		"a clock in ticks":      {good + " x-1 [000] d..2. 123456: sched_waking: comm=x pid=1 prio=1 target_cpu=000\n", "line 2: no CPU in brackets and time in seconds"},
		"no CPU":                {good + " x-1 d..2. 1.000000: sched_waking: comm=x pid=1 prio=1\n", "line 2: no CPU in brackets"},
		"a CPU out of range":    {good + " x-1 [99999] d..2. 1.000000: sched_waking: comm=x pid=1 prio=1\n", "line 2: the number of a CPU"},
		"a thread that is none": {good + " x-1 [001] d..2. 1.000000: sched_waking: comm=x pid=-1 prio=1\n", "line 2: a wake-up does not say"},
		"a switch cut off":      {good + " x-1 [001] d..2. 1.000000: sched_switch: prev_comm=x prev_pid=1 prev_prio=1\n", "line 2: a sched_switch does not say"},
		"a line without end":    {good + strings.Repeat("x", maxLine+bufferSize), "line 2 is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readAll(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "reading trace.txt: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if strings.Contains(tc.want, "no records") && !errors.Is(err, ErrNoRecords) {
				t.Error("not ErrNoRecords")
			}
		})
	}
}

// TestOrder has the lines of several CPUs out of order.
func TestOrder(t *testing.T) {
	text := line(0, 10, 1, "S", 2) + line(1, 5, 3, "S", 4) + line(0, 20, 2, "S", 1) + "CPU:1 [LOST 12 EVENTS]\n" + line(1, 15, 4, "S", 3) + line(0, 20, 1, "R", 2)
	r, got, err := readAll(text)
	if err != nil {
		t.Fatal(err)
	}
	var times []string
	for _, x := range got {
		times = append(times, fmt.Sprint(x.Time/1000, " CPU ", x.CPU, " ", x.TID, " ", x.Kind))
	}
	want := []string{"5 CPU 1 3 0", "10 CPU 0 1 0", "15 CPU 1 4 0", "20 CPU 0 2 0", "20 CPU 1 0 2", "20 CPU 0 1 0"}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Error(diff)
	}
	if r.ResolutionNs() != 1000 {
		t.Error("resolution", r.ResolutionNs())
	}
}

// TestTooLate has a line that comes after more lines than are sorted at once: its CPU has
// lost a record.
func TestTooLate(t *testing.T) {
	var text strings.Builder
	for i := range int64(3 * window) {
		text.WriteString(line(0, 100+i, 1, "S", 1))
	}
	text.WriteString(line(7, 1, 1, "S", 1))
	r, got, err := readAll(text.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3*window+1 || r.late != 1 {
		t.Fatal(len(got), "records,", r.late, "late")
	}
	last := int64(0)
	for _, x := range got {
		if x.Time < last {
			t.Fatal("time falls to", x.Time)
		}
		last = x.Time
		if x.CPU == 7 && x.Kind != Lost {
			t.Error("the late one is no Lost")
		}
	}
}

func TestCompressed(t *testing.T) {
	text := line(0, 1, 1, "S", 2)
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	io.WriteString(g, text)
	g.Close()
	z, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(z, text)
	z.Close()
	for _, s := range []string{text, gz.String(), zs.String()} {
		if _, got, err := readAll(s); err != nil || len(got) != 1 {
			t.Errorf("%d records, %v", len(got), err)
		}
		if _, _, err := readAll(s[:len(s)-4]); err == nil && s != text {
			t.Error("cut off: no error")
		}
	}
}

// TestNames has more names than are told apart.
func TestNames(t *testing.T) {
	c := newComms()
	for i := range 2 * maxComms {
		h := c.of([]byte(fmt.Sprint("name", i)))
		if want := i + 1; i+1 < maxComms && int(h) != want || i+1 >= maxComms && h != 0 {
			t.Fatalf("handle %d of name %d", h, i)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(line(0, 1, 1, "S", 2) + "CPU:1 [LOST 12 EVENTS]\n" + line(1, 1, 1, "R+", 2))
	f.Add("swapper 0 [001] 2.500000: sched:sched_wakeup: x:5 [120] CPU:002\n a [000] 1.0: PERF_RECORD_LOST lost 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := New(strings.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		defer r.Close()
		last := int64(0)
		for {
			x, err := r.Next()
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("an error of several lines: %q", err)
				}
				return
			}
			if x.Time < last || x.CPU < NoCPU || x.CPU >= maxCPU || x.TID < 0 || x.Next < 0 {
				t.Fatalf("%+v after %d", x, last)
			}
			last = x.Time
			r.Name(x.Comm)
			r.Name(x.Into)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var text strings.Builder
	const lines = 100_000
	for i := range int64(lines) {
		text.WriteString(line(int(i%4), 100+i, int(i%4)+1, "S", int(i+1)%4+1))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		r, err := New(strings.NewReader(text.String()), "trace.txt")
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lines, "ns/line")
}

// TestWindow: a record moves by the logarithm of the window, also one that comes late.
func TestWindow(t *testing.T) {
	line := func(b *strings.Builder, us int) {
		fmt.Fprintf(b, "a-1 (1) [000] d..2. %d.%06d: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n", us/1_000_000, us%1_000_000)
	}
	for name, at := range map[string]func(i int) int{
		"in order": func(i int) int { return 1000 + i },
		"late":     func(i int) int { return 1_000_000 * min(1, max(0, 2*window-i)) },
		"at once":  func(int) int { return 1000 },
		"backward": func(i int) int { return 1_000_000 - i },
	} {
		var text strings.Builder
		const n = 4 * window
		for i := range n {
			line(&text, at(i))
		}
		r, got, err := readAll(text.String())
		if err != nil || len(got) != n {
			t.Fatalf("%s: %d records, %v", name, len(got), err)
		}
		if most := int64(2 * n * 12); r.moves > most {
			t.Errorf("%s: %d moves of %d records, want %d at most", name, r.moves, n, most)
		}
		for i := 1; i < n; i++ {
			if got[i].Time < got[i-1].Time {
				t.Fatalf("%s: record %d is before the one before", name, i)
			}
		}
	}
}

// TestBomb: a text that unpacks to far more than its size is refused.
func TestBomb(t *testing.T) {
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(z, "a-1 (1) [000] d..2. 1.000000: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120")
	lines := bytes.Repeat([]byte(strings.Repeat("x", 999)+"\n"), 1000)
	for range maxSize/len(lines) + 10 {
		if _, err := z.Write(lines); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := New(&packed, "bomb.zst")
	if err == nil {
		defer r.Close()
		for err == nil {
			_, err = r.Next()
		}
	}
	if err == nil || !strings.Contains(err.Error(), "unpacks to more than 200 times its size") {
		t.Error(err)
	}
}

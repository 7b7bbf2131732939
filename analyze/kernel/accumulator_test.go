package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/procs/procstest"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	start    = 1_000_000_000_000 // raw time of the first event
	firstTID = 100               // thread of P 0
)

// change is that a CPU goes from one thread to another at a time, ns of the trace.
type change struct {
	at         int64
	cpu        int
	prev, next int
	state      string
}

// write returns changes as perf script has them.
func write(list []change) string {
	slices.SortStableFunc(list, func(x, y change) int { return int(x.at - y.at) })
	var b strings.Builder
	for _, c := range list {
		t := start + c.at
		fmt.Fprintf(&b, "x 1 [%03d] %d.%09d: sched:sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=t%d next_pid=%d next_prio=120\n",
			c.cpu, t/1e9, t%1e9, c.prev, c.prev, c.state, c.next, c.next)
	}
	return b.String()
}

// follow has an Accumulator take a stream and records.
func follow(t *testing.T, ds []reference.Decision, end int64, text string) (*Machine, error) {
	return followFrom(t, ds, end, end, text)
}

// followFrom is follow where the clocks are compared by what comes before a time.
func followFrom(t *testing.T, ds []reference.Decision, sampled, end int64, text string) (*Machine, error) {
	t.Helper()
	r, err := New(strings.NewReader(text), "test")
	if err != nil {
		return nil, err
	}
	a := NewAccumulator(r, Options{})
	for i := range ds {
		if d := &ds[i]; d.Time < sampled && (d.Kind == reference.KindStart || d.Kind == reference.KindStop) {
			a.Sample(start+d.Time, d.M)
		}
	}
	if err := a.Start(start); err != nil {
		return nil, err
	}
	spans, ps := breakdown.New(ledger.Part{}), procs.New()
	feed := ledger.NewFeed(func(b *ledger.Block) {
		if err := a.Add(b, nil); err != nil {
			t.Fatal(err)
		}
	}, spans.Add, ps.Add)
	feed.AddAll(ds)
	feed.Close(end)
	open := feed.Live()
	b, p := spans.Finish(end, open, nil), ps.Finish()
	return a.Finish(Facts{EndNs: end, RecordedNs: end, Live: open, Breakdown: &b, Procs: &p})
}

// onThreads gives each P a thread and a CPU of its own.
func onThreads(s *procstest.Stream) {
	for i := range s.Decisions {
		if d := &s.Decisions[i]; d.P >= 0 {
			d.M = firstTID + int64(d.P)
		}
	}
}

// interference has another process take the CPUs between decisions of their threads, and
// returns that and when each was away.
func interference(r *rand.Rand, s *procstest.Stream) (list []change, away [][]span) {
	away = make([][]span, len(s.Known))
	for p := range s.Known {
		tid := firstTID + p
		list = append(list, change{-1000, p, 0, tid, "R"})
		last := int64(0)
		for _, d := range s.Decisions {
			if d.P != int32(p) {
				continue
			}
			if gap := d.Time - last; gap >= 10 && r.IntN(3) == 0 {
				from := last + 1 + r.Int64N(gap/2)
				to := from + 1 + r.Int64N(d.Time-from-1)
				list = append(list, change{from, p, tid, 7, "R"}, change{to, p, 7, tid, "S"})
				away[p] = append(away[p], span{from, to})
			}
			last = d.Time
		}
		list = append(list, change{s.End + 1000, p, tid, 0, "S"})
	}
	return list, away
}

// TestTruth compares random streams, with random interference, with what is so in each of
// their moments.
func TestTruth(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 33))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 500})
		onThreads(&s)
		list, away := interference(r, &s)
		m, err := follow(t, s.Decisions, s.End, write(list))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int64, len(s.Known))
		for _, x := range s.Moments {
			for p, state := range x.States {
				if state != ledger.User {
					continue
				}
				for _, a := range away[p] {
					want[p] += max(0, min(a.to, x.To)-max(a.from, x.From))
				}
			}
		}
		for _, p := range m.Ps {
			if p.OffCPUNs != want[p.P] || p.UnknownNs != 0 {
				t.Errorf("seed %d: P %d off for %d, want %d; unknown %d", seed, p.P, p.OffCPUNs, want[p.P], p.UnknownNs)
			}
		}
		if m.Off.OthersNs != m.OffCPUNs || m.InsideShare != 1 {
			t.Errorf("seed %d: %+v, inside %v", seed, m.Off, m.InsideShare)
		}
	}
}

// TestMissingRecords leaves records out, and marks some as lost: what is not known is
// counted, and nothing more than there is.
func TestMissingRecords(t *testing.T) {
	unknown := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 34))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 600, Gaps: seed%2 == 0})
		onThreads(&s)
		list, _ := interference(r, &s)
		lines := strings.SplitAfter(write(list), "\n")
		lines = slices.DeleteFunc(lines, func(string) bool { return r.IntN(40) == 0 })
		for i := range lines {
			if r.IntN(60) == 0 {
				lines[i] = fmt.Sprintf("CPU:%d [LOST 3 EVENTS]\n", r.IntN(len(s.Known)))
			}
		}
		m, err := follow(t, s.Decisions, s.End, strings.Join(lines, ""))
		if err != nil {
			t.Fatal("seed", seed, err)
		}
		all := m.OnOff
		for i := range m.Ps {
			if x := m.Ps[i].OnOff; x.OnCPUNs+x.OffCPUNs != x.RunningNs || x.OffCPUNs < 0 || x.UnknownNs < 0 || x.UnknownNs > x.OnCPUNs {
				t.Errorf("seed %d: P %d: %+v", seed, i, x)
			}
		}
		o := &m.Off
		if sum := o.OthersNs + o.OwnNs + o.IdleNs + o.StoppedNs + o.BlockedNs + o.UnknownNs; sum != all.OffCPUNs {
			t.Errorf("seed %d: %+v, by cause %d", seed, all, sum)
		}
		if all.UnknownNs > 0 {
			unknown++
		}
	}
	if unknown < 20 {
		t.Errorf("all is known but in %d cases", unknown)
	}
}

// TestShift has records of other clocks.
func TestShift(t *testing.T) {
	for _, ahead := range []int64{234_567, -321_123, -100_000_000_000} {
		r := rand.New(rand.NewPCG(1, 35))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 8000, NoTruth: true})
		onThreads(&s)
		list, _ := interference(r, &s)
		for i := range list {
			list[i].at += ahead
		}
		m, err := follow(t, s.Decisions, s.End, write(list))
		if err != nil {
			t.Fatal(ahead, err)
		}
		if off := m.ShiftNs - ahead; max(off, -off) > m.ErrorNs || m.InsideShare < 0.99 {
			t.Errorf("shift %d ± %d, want %d; %v inside", m.ShiftNs, m.ErrorNs, ahead, m.InsideShare)
		}
	}
}

// TestLateRecords has records that begin after the events by which clocks are compared.
func TestLateRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 38))
	s := procstest.Generate(r.IntN, procstest.Options{Steps: 8000, NoTruth: true})
	onThreads(&s)
	list, _ := interference(r, &s)
	late := slices.DeleteFunc(slices.Clone(list), func(c change) bool { return c.at < s.End/2 })
	m, err := followFrom(t, s.Decisions, s.End/4, s.End, write(late))
	if err != nil {
		t.Fatal(err)
	}
	if m.ShiftNs != 0 || m.UnknownNs < m.RunningNs/4 || m.UnknownNs > m.RunningNs*3/4 {
		t.Errorf("%+v", m)
	}
}

// TestAnotherTime has records of the same threads that are of another time, whatever their
// clock says: they are refused.
func TestAnotherTime(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 39))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 8000, NoTruth: true})
		other := procstest.Generate(r.IntN, procstest.Options{Steps: 8000, NoTruth: true})
		onThreads(&s)
		onThreads(&other)
		for _, at := range []int64{-100_000_000_000, 100_000_000_000} {
			list, _ := interference(r, &other)
			for i := range list {
				list[i].at += at
			}
			if m, err := follow(t, s.Decisions, s.End, write(list)); !errors.Is(err, ErrOther) {
				t.Errorf("seed %d, records of another time, %d later: %v, %+v", seed, at, err, m)
			}
		}
	}
}

// TestThreads has more threads than are told apart.
func TestThreads(t *testing.T) {
	s := procstest.Generate(rand.New(rand.NewPCG(2, 36)).IntN, procstest.Options{Steps: 1000})
	onThreads(&s)
	list, _ := interference(rand.New(rand.NewPCG(3, 36)), &s)
	for i := range 2 * maxTasks {
		list = append(list, change{s.End, len(s.Known), i + 1000, i + 1001, "S"})
	}
	m, err := follow(t, s.Decisions, s.End, write(list))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.ByProcess) > maxProcesses+1 {
		t.Error(len(m.ByProcess), "processes")
	}
}

// TestNamespace has the threads under other numbers in the records: they are found, but
// not where they are those of another program.
func TestNamespace(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 37))
		s := procstest.Generate(r.IntN, procstest.Options{Steps: 2000})
		onThreads(&s)
		list, _ := interference(r, &s)
		plain, err := follow(t, s.Decisions, s.End, write(list))
		if err != nil {
			t.Fatal(err)
		}
		other := func(tid int) int {
			if tid < firstTID {
				return tid
			}
			return 3*tid + 1000
		}
		for i := range list {
			list[i].prev, list[i].next = other(list[i].prev), other(list[i].next)
		}
		text := regexp.MustCompile(`comm=t\d{4}`).ReplaceAllString(write(list), "comm=prog")
		m, err := follow(t, s.Decisions, s.End, text)
		if err != nil {
			t.Fatal("seed", seed, err)
		}
		if m.Mapped == 0 || m.OnOff != plain.OnOff {
			t.Errorf("seed %d: %d mapped, %+v, want %+v", seed, m.Mapped, m.OnOff, plain.OnOff)
		}

		foreign := procstest.Generate(r.IntN, procstest.Options{Steps: 2000})
		onThreads(&foreign)
		list, _ = interference(r, &foreign)
		for i := range list {
			list[i].prev, list[i].next = other(list[i].prev), other(list[i].next)
		}
		text = regexp.MustCompile(`comm=t\d{4}`).ReplaceAllString(write(list), "comm=prog")
		if m, err := follow(t, s.Decisions, s.End, text); !errors.Is(err, ErrOther) {
			t.Errorf("seed %d: no error, but %+v", seed, m)
		}
	}
}

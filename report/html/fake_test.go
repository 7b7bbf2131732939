package html

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
)

// hostileNames are what a trace may hold where a name is expected. See
// dependencies.md A.6.
var hostileNames = []string{
	`</script><script>window.pwned=1</script>`,
	`__f__window.pwned=2__f__`,
	`<!--<script>`,
	`main.(*T).__f__run`,
	`<img src=x onerror="window.pwned=3">`,
	`&lt;b&gt; "quoted" 'single' ` + "`tick` ${window.pwned=4}",
	"line\u2028separator\u2029and\x00nul",
	"bad \xff\xfe utf8",
	"bidi \u202egnp.exe\u202c \u2066iso\u2069 zero\u200bwidth",
	"ten thousand " + strings.Repeat("長い名前/", 2000) + " end",
	`javascript:window.pwned=5`,
	`{{.CSS}} {%raw%} @user`,
}

// fakeDoc is a rich document: ps Ps, bins bins, with everything that a report
// can show. Its numbers add up where those of a real one do.
func fakeDoc(ps, bins int) *report.Document {
	rnd := rand.New(rand.NewPCG(1, 2))
	const end = int64(4_200_000_000)
	r := &analyze.Result{
		Trace: analyze.Trace{
			Name: "testdata/traces/fake.trace", Format: "go 1.26", GoVersion: "1.26 or 1.27", Rules: analyze.RulesApplied{GoVersion: "1.26", ChosenBy: analyze.ByFormat}, Program: "example.com/shop/cmd/api",
			DurationNs: end, GOMAXPROCS: ps, Events: 1_843_201, Generations: 5, Goroutines: 2310, Threads: 19,
			Samples: 1204, Tasks: 3, Regions: 12, Bytes: 18_330_112, LostBytes: 20_112, Compression: "gzip", TracerNs: 31_000_000,
			Wall:     "2026-11-20T14:03:11.482Z",
			Warnings: []string{"The trace was cut off: the last 20 kB could not be read.", "GOMAXPROCS changed once."},
		},
		Reconstruction: analyze.Reconstruction{
			Starts: 402_118, Explained: 398_551, Ambiguous: 2_915, Unexplained: 652,
			BySource: map[string]int64{"runnext": 210_000, "local": 130_118, "global": 20_000, "global-tick": 2_000, "steal": 20_000, "netpoll": 18_000, "syscall-exit": 2_000},
			ByBasis:  map[string]int64{"inferred:queue": 390_000}, Corrections: 812,
		},
		Pressure: fairness.Pressure{Some: 0.71, Full: 0.004, UnclaimedIdle: 0.031,
			Windows: []fairness.PressureWindow{{LengthNs: 10_000_000, N: 420, Some: fairness.Worst{P50: 0.68, P99: 0.99, Max: 1, AtNs: 1_800_000_000}, Full: fairness.Worst{P99: 0.02, Max: 0.2, AtNs: 90_000_000}}},
			Age:     fairness.Age{MaxNs: 48_000_000, AtNs: 348_000_000, BinNs: 64_000_000, Bins: []int64{9e6, 3e6, 1e6, 2e6, 30e6, 48e6, 3e6, 8e6}}},
	}
	names := []string{
		"example.com/shop/internal/search.(*Index).rebuild.func2", "net/http.(*conn).serve", "example.com/shop/internal/queue.(*Worker).loop",
		"database/sql.(*DB).connectionOpener", "example.com/shop/cmd/api.main.func3", "runtime.gcBgMarkWorker", "main.(*pinger).run", "main.(*ponger).run",
	}
	names = append(names, hostileNames...)
	names = append(names, "")
	var uTotal int64
	for i, n := range names {
		total := 3_800_000_000 / int64(i*i+1)
		c := waits.Class{
			ID: int32(i + 1), Name: n, Creator: names[(i+3)%len(names)], System: strings.HasPrefix(n, "runtime."),
			Goroutines: int64(1 + rnd.IntN(400)), Starts: int64(100 + rnd.IntN(90_000)), RunningNs: int64(rnd.IntN(2_000_000_000)),
			Waits: fakeSummary(rnd, total, int64(100+rnd.IntN(90_000))),
		}
		c.Causes = c.Waits.Causes
		c.Worst = []waits.WaitDetail{{G: 7, FromNs: 900_000_000, ToNs: 931_000_000, WaitNs: 31_000_000}}
		for j := range 3 {
			c.Antagonists = append(c.Antagonists, waits.Antagonist{Class: int32(j + 1), Name: names[(i+j)%len(names)], Ns: total / int64(3+j)})
		}
		if !c.System {
			uTotal += total
		}
		c.Series = &waits.Series{BinNs: 100 * ms, Count: make([]int64, 42), Ns: make([]int64, 42)}
		for b := range c.Series.Ns {
			c.Series.Count[b], c.Series.Ns[b] = c.Waits.Count/42, c.Waits.TotalNs/42
		}
		r.Waits.Classes = append(r.Waits.Classes, c)
		fakeLife(r, &c)
		r.Fairness.Classes = append(r.Fairness.Classes, fairness.Class{ID: c.ID, Name: n, Creator: c.Creator, N: c.Goroutines, Jain: 1 - float64(i)/30, Gini: float64(i) / 30, MinMax: 0.4, MaxLagNs: 120_000_000 / int64(i+1)})
	}
	r.Waits.User = fakeSummary(rnd, uTotal, 380_118)
	r.Waits.Self = fakeSummary(rnd, 210_000_000, 12_000)
	r.Waits.System = fakeSummary(rnd, 93_000_000, 9_900)
	r.Waits.All = fakeSummary(rnd, uTotal+303_000_000, 402_018)
	r.Waits.All.OpenCount, r.Waits.All.OpenNs = 7, 21_000_000
	for i := range 20 {
		from := int64(300_000_000 + i*150_000_000)
		w := int64(48_000_000 - i*1_700_000)
		r.Waits.Worst = append(r.Waits.Worst, waits.WaitDetail{
			G: int64(1000 + i), Class: 1, Name: names[i%len(names)], Creator: names[1], FromNs: from, ToNs: from + w, WaitNs: w, P: int32(i % ps),
			Source: []string{"local", "steal", "global", "runnext"}[i%4], Basis: "inferred:queue",
			Causes: []waits.CauseTime{{Cause: waits.CauseQueueing, Ns: w / 2}, {Cause: waits.CauseOvertaken, Ns: w / 4}, {Cause: waits.CauseOverhead, Ns: w - w/2 - w/4}},
			Path:   []waits.Step{{AtNs: from, Queue: "runnext", P: 1, Why: "unblock"}, {AtNs: from + 2100, Queue: "local", P: 1, Why: "displaced"}, {AtNs: from + w - 40_000, Queue: "local", P: int32(i % ps), Why: "steal"}},
			Ahead:  []waits.RanAhead{{Class: 1, Name: names[0], Ns: w / 2, Runs: 3}, {Class: 2, Name: names[(i+8)%len(names)], Ns: w / 4, Runs: 140}, {Class: 3, Name: names[2], Ns: w / 9, Runs: 12}},
		})
	}
	longest := &r.Waits.Worst[10]
	longest.By, longest.Victim = &waits.By{G: 34, Name: names[8], Stack: []string{names[9]}}, -1
	longest.AheadFromNs = longest.FromNs + 3_000_000
	for i := range int64(8) {
		from := longest.AheadFromNs + i*3_000_000
		longest.Runs = append(longest.Runs, waits.Run{G: 40 + i, Name: names[8+i], FromNs: from, ToNs: from + 2_500_000, End: "block", Later: i%2 > 0})
	}
	r.Waits.OverTime = waits.OverTime{BinNs: 1 << 26}
	for _, c := range []waits.Cause{waits.CauseGC, waits.CauseIdlePAvailable, waits.CauseQueueing, waits.CauseOvertaken} {
		s := waits.CauseSeries{Cause: c}
		for at := int64(0); at < end; at += r.Waits.OverTime.BinNs {
			s.Ns = append(s.Ns, rnd.Int64N(1<<27))
		}
		r.Waits.OverTime.Causes = append(r.Waits.OverTime.Causes, s)
	}
	r.Stacks = fakeStacks(r.Waits.Classes, names)
	fakeProcs(rnd, r, ps, end)
	fakeTimeline(rnd, r, ps, bins, end)
	fakeWork(r, names)
	r.Fairness.Jain, r.Fairness.MaxLagNs, r.Fairness.LittleError = 0.871, 212_000_000, 0.0031
	r.Fairness.Slowdown = fairness.Slowdown{Mean: 8.3, P50: 1.21, P99: 96, Max: 12_300,
		ByService: []fairness.Decile{{FromNs: 128, ToNs: 2048, N: 40_000, Mean: 61, Max: 12_300}, {FromNs: 2048, ToNs: 1 << 24, N: 350_000, Mean: 1.2, Max: 9}}}
	r.Findings = []findings.Finding{
		{ID: "convoy", Severity: findings.Critical, Title: findings.Say("Runs of search.(*Index).rebuild.func2 lasting up to 41 ms held up 212 goroutines behind them"), CostNs: 2_300_000_000, CostOf: findings.OfWaiting, WholeNs: 5_000_000_000, FromNs: 1_800_000_000, ToNs: 1_842_000_000, Basis: "inferred",
			Actors:   []findings.Actor{{Role: "cause", Class: names[0], Creator: names[4], G: 34, P: findings.OnP(2), Stack: []string{"example.com/shop/internal/search.(*Index).rebuild.func2", "sort.Slice", hostileNames[0]}}, {Role: "victim", Class: names[1], Creator: "net/http.(*Server).Serve", G: 1010}},
			Evidence: []findings.Evidence{{What: findings.Say("longest run with others behind it"), Value: findings.Say("41.2 ms"), Limit: findings.Say("1 ms")}, {What: findings.Say("ratio to the median run of those behind"), Value: findings.Say("412×"), Limit: findings.Say("10×")}, {What: findings.Say("goroutines held up"), Value: findings.Say("212")}},
			Advice:   []findings.Text{findings.Say("Split the work of rebuild into pieces of about 100 µs, and yield between them."), findings.Say("Or bound how many of it run at once to fewer than GOMAXPROCS.")}},
		{ID: "starvation", Severity: findings.Warning, Title: findings.Say("118 waits were longer than 10 ms; the longest 48 ms"), CostNs: 1_100_000_000, CostOf: findings.OfWaiting, WholeNs: 5_000_000_000, FromNs: 300_000_000, ToNs: 348_000_000, Basis: "certain",
			Actors: []findings.Actor{{Role: "victim", Class: names[1]}, {Role: "cause", P: findings.OnP(3)}}, Evidence: []findings.Evidence{{What: findings.Say("waits longer than 10 ms"), Value: findings.Say("118"), Limit: findings.Say("0")}}, Advice: []findings.Text{findings.Say("Follow the convoy above first.")}},
		{ID: "trace-quality", Kind: findings.KindTrace, Severity: findings.Note, Title: findings.Say("%s", "The end of the trace is missing "+hostileNames[4]), Basis: "certain"},
		{ID: "work-conservation", Severity: findings.Note, Headline: findings.Say("api.(*quotaReconciliationCoordinator).reconcileAllTenantsConcurrently.func1.1 creates goroutines for next to no work"), Title: findings.Say("Goroutines were created for next to no work"), CostNs: 900_000, CostOf: findings.OfPTime, WholeNs: 5_000_000_000, Basis: "certain"},
	}
	r.Detectors = []analyze.Detector{{ID: "trace-quality", Kind: findings.KindTrace, Title: "trace quality", Found: 1}, {ID: "starvation", Title: "runnable starvation", Found: 1}, {ID: "convoy", Title: "convoy (head-of-line blocking)", Found: 1}, {ID: "work-conservation", Title: "work-conservation violation"}}
	split := &replay.Decomposition{EndNs: end, DurationNs: end, GOMAXPROCS: ps, Seeds: 3, Ideal: "gps", Notes: []string{hostileNames[0]},
		Total: replay.Parts{ObservedNs: 5_000_000_000, CapacityNs: 2_000_000_000, PolicyNs: 3_500_000_000, ExcessNs: -500_000_000}}
	for i, n := range names {
		p := replay.Parts{ObservedNs: 900_000_000, CapacityNs: 400_000_000 / int64(i+1), ExcessNs: -70_000_000}
		p.PolicyNs = p.ObservedNs - p.CapacityNs - p.ExcessNs
		split.Classes = append(split.Classes, replay.ClassSplit{Class: int32(i + 1), Name: n, Parts: p})
		split.Prospects = append(split.Prospects, replay.Gain{Finding: i, Class: n, Parts: p, Advice: &replay.Advice{
			Change: n + " yields every 100µs", Why: "so that others get in", Metric: replay.MetricWaited,
			ObservedNs: 3e6, SimulatedNs: 3e6, ChangedNs: 1e6, MinNs: 9e5, MaxNs: 2e6, Verdict: replay.Helps,
		}})
	}
	return &report.Document{
		Schema: report.Schema, Tool: "gmpscope devel", Result: r, Split: split,
		Verdict: report.Verdict{Status: "critical", Label: "Scheduling delays: critical", Headline: "Requests wait up to 48 ms for a processor because index rebuilding does not let go of it.",
			Lines: []string{"In 4.2 s goroutines lost 5.1 s to waiting, 62 % of it in line behind runs of search.(*Index).rebuild.func2.", "Suffering: net/http.(*conn).serve, 212 goroutines.", "Try first: split the rebuild into pieces of about 100 µs.", "Sure: waiting times are exact; causes rest on queues of which 99.1 % of starts are explained."}},
	}
}

func fakeSummary(rnd *rand.Rand, total, n int64) waits.Summary {
	s := waits.Summary{Count: n, TotalNs: total, P50: 2_300, P90: 41_000, P99: 1_900_000, P999: 14_000_000, MaxNs: 48_100_000,
		TimeWeighted: waits.Quantiles{P50: 4_800_000, P90: 23_000_000, P99: 44_000_000},
		TailMass:     map[string]float64{"1ms": 0.83, "10ms": 0.41}, BehindLongNs: total / 3}
	rest := total
	for i, c := range waits.Causes() {
		part := rest / int64(2+rnd.IntN(4))
		if i == len(waits.Causes())-1 {
			part = rest
		}
		s.Causes = append(s.Causes, waits.CauseTime{Cause: c, Ns: part})
		rest -= part
	}
	for i, at := 0, int64(64); at < 64_000_000; i, at = i+1, at*2 {
		c := n / int64(2+(i-6)*(i-6))
		s.Histogram = append(s.Histogram, waits.Bucket{FromNs: at, ToNs: at * 2, Count: c, SumNs: c * at * 3 / 2})
	}
	return s
}

func fakeProcs(rnd *rand.Rand, r *analyze.Result, ps int, end int64) {
	p := &r.Procs
	p.Steals.Matrix = make([][]int64, ps)
	for i := range ps {
		q := procs.Proc{P: int32(i), LifetimeNs: end, Starts: int64(rnd.IntN(60_000)), Parks: int64(rnd.IntN(9000)), QueueMean: rnd.Float64() * 9, QueueMax: int32(rnd.IntN(256))}
		rest := end
		for _, x := range []*int64{&q.RunningNs, &q.SystemNs, &q.GCNs, &q.TracerNs, &q.SyscallNs, &q.SchedNs, &q.StoppedNs} {
			*x = rest / int64(2+rnd.IntN(20))
			rest -= *x
		}
		q.IdleNs = rest
		p.Ps = append(p.Ps, q)
		p.Steals.Matrix[i] = make([]int64, ps)
		for j := range ps {
			if i != j && rnd.IntN(3) > 0 {
				n := int64(rnd.IntN(400))
				if j == 2 {
					n *= 6
				}
				p.Steals.Matrix[i][j] = n
				p.Steals.Count += n
				p.Steals.Moved += 2 * n
			}
		}
	}
	p.Handoffs = procs.Counts{Count: 812, ByCause: map[string]int64{"sysmon": 700, "locked": 112}}
	p.Retakes = procs.Counts{Count: 740, ByCause: map[string]int64{"sysmon": 702, "returning-syscall": 38}}
	p.Preemptions = procs.Counts{Count: 1620, ByCause: map[string]int64{"slice": 1400, "stw": 120, "gc": 90, "generation-switch": 10}}
	p.Overflows, p.GlobalTakes = 3, 22_118
	p.Queues = procs.Queues{GlobalMean: 1.3, GlobalMax: 131, LocalMean: 12.4, RunnableMean: 15.1, RunnableMax: 301}
	p.Procs = []procs.Procs{{AtNs: 0, N: int32(max(ps/2, 1))}, {AtNs: end / 10, N: int32(ps)}}
}

func fakeTimeline(rnd *rand.Rand, r *analyze.Result, ps, bins int, end int64) {
	t := &r.Timeline
	t.Bins, t.BinNs, t.EndNs = bins, (end+int64(bins)-1)/int64(bins), end
	series := func(scale float64) timeline.Series {
		s := timeline.Series{Mean: make([]float32, bins), Max: make([]int32, bins)}
		v := scale / 2
		for i := range bins {
			v += (rnd.Float64() - 0.5) * scale / 6
			v = min(max(v, 0), scale)
			s.Mean[i], s.Max[i] = float32(v), int32(v*1.8)+1
		}
		return s
	}
	t.Global, t.Runnable, t.IdleP = series(9), series(40), series(float64(ps)/2)
	t.Missed = series(1).Mean
	counts := func() []int32 {
		s := make([]int32, bins)
		for i := range s {
			s[i] = int32(rnd.IntN(9))
		}
		return s
	}
	t.Steals, t.Retakes, t.Handoffs, t.Preemptions = counts(), counts(), counts(), counts()
	for p := range ps {
		l := timeline.Lane{P: int32(p), Queue: series(12)}
		user := 120.0
		for b := range bins {
			user = min(max(user+(rnd.Float64()-0.5)*60, 0), 200)
			l.User = append(l.User, uint8(user))
			l.System = append(l.System, uint8(rnd.IntN(9)))
			gc := 0
			if b%200 < 24 && p%4 == 0 {
				gc = 30
			}
			l.GC = append(l.GC, uint8(gc))
			l.Syscall = append(l.Syscall, uint8(rnd.IntN(14)))
			l.Sched = append(l.Sched, uint8(rnd.IntN(10)))
			l.Stopped = append(l.Stopped, 0)
		}
		t.Lanes = append(t.Lanes, l)
	}
	for i := range 5 {
		at := int64(i)*end/5 + 100_000_000
		t.GC = append(t.GC, timeline.Span{From: at, To: at + 90_000_000, Name: "GC"})
		t.STW = append(t.STW, timeline.Span{From: at, To: at + 400_000, Name: "GC sweep termination"}, timeline.Span{From: at + 90_000_000, To: at + 91_500_000, Name: hostileNames[0]})
	}
	t.Heap = &timeline.Heap{BinNs: t.BinNs, Bins: bins}
	for i := range int64(bins) {
		t.Heap.Alloc, t.Heap.Goal = append(t.Heap.Alloc, 4<<20+i%50<<17), append(t.Heap.Goal, 12<<20)
		t.Heap.Sweep = append(t.Heap.Sweep, float32(i%50)/50)
	}
	for i, n := range hostileNames {
		t.Frames = append(t.Frames, stacks.Frame{Function: n, File: "/src/" + n + ".go", Line: int64(i)})
	}
	t.Annotations = append([]string{"(others)"}, hostileNames...)
	t.Stacks = [][]int32{{}, {0, 4, 1}, {3, 2}}
	for k, w := range [][2]int64{{1_800_000_000, 1_842_000_000}, {300_000_000, 348_000_000}} {
		win := timeline.Window{Title: fmt.Sprintf("finding %d %s", k+1, hostileNames[4]), FromNs: w[0], ToNs: w[1]}
		for p := range ps {
			at := w[0]
			for at < w[1] {
				n := int64(20_000 + rnd.IntN(2_000_000))
				to := min(at+n, w[1])
				st := timeline.State([]int{0, 1, 1, 1, 1, 2, 3, 5, 6, 7, 4}[rnd.IntN(11)])
				s := timeline.PInterval{P: int32(p), From: at, To: to, State: st, G: -1, Wait: -1}
				if st == timeline.User {
					s.G, s.Class, s.Wait, s.Src = int64(20+rnd.IntN(200)), int32(1+rnd.IntN(12)), int64(rnd.IntN(9_000_000)), uint8(1+rnd.IntN(6))
					s.M = 1000 + s.G%7
					s.Stop, s.BlockedOn, s.Stack = "block", "chan receive", int32(1+s.G%2)
					s.Cause, s.Woken, s.By, s.ByStack = waits.CauseQueueing, "unblock", s.G-1, 1
				}
				win.Intervals = append(win.Intervals, s)
				win.Depths = append(win.Depths, timeline.Depth{P: int32(p), At: at, Len: int32(rnd.IntN(14))})
				if rnd.IntN(9) == 0 {
					win.Arrows = append(win.Arrows, timeline.Arrow{Kind: []string{"steal", "handoff", "retake", "overflow", "global-batch"}[rnd.IntN(5)], At: at, From: int32(rnd.IntN(ps+1) - 1), To: int32(p), N: int32(1 + rnd.IntN(9))})
				}
				at = to
			}
		}
		for at := w[0]; at < w[1]; at += 700_000 {
			win.Depths = append(win.Depths, timeline.Depth{P: reference.NoP, At: at, Len: int32(rnd.IntN(30))})
		}
		for i, s := range win.Intervals { // a region around each run, and for some a task
			if s.G > 0 {
				win.Annotations = append(win.Annotations, timeline.Annotation{G: s.G, From: s.From, To: s.To, Name: int32(1 + i%len(hostileNames)), Task: i%5 == 0, Of: int32(i % 2), Depth: uint8(i % 3)})
			}
		}
		slices.SortStableFunc(win.Annotations, func(x, y timeline.Annotation) int { return cmp.Or(cmp.Compare(x.G, y.G), cmp.Compare(x.From, y.From)) })
		win.MoreAnnotations = 1234
		t.Windows = append(t.Windows, win)
	}
}

// fakeStacks gives each class three stacks, of up to seven functions with such names.
func fakeStacks(classes []waits.Class, names []string) stacks.Result {
	rnd := rand.New(rand.NewPCG(3, 4))
	var out stacks.Result
	for i, n := range append([]string{"runtime.chanrecv1", "sync.(*Mutex).Lock"}, names...) {
		out.Frames = append(out.Frames, stacks.Frame{Function: n, File: "/src/" + names[(i+5)%len(names)] + ".go", Line: int64(10 + i)})
	}
	for _, c := range classes {
		for k, place := range []stacks.Place{stacks.Stopped, stacks.Created, stacks.Others} {
			row := stacks.Row{Class: c.ID, Place: place, Waits: c.Waits.Count / 3, BlockedNs: rnd.Int64N(1e9)}
			for _, w := range c.Causes {
				row.Causes = append(row.Causes, waits.CauseTime{Cause: w.Cause, Ns: w.Ns / int64(2+k)})
				row.WaitNs += w.Ns / int64(2+k)
			}
			for range 2 + rnd.IntN(6) {
				if place != stacks.Others {
					row.Stack = append(row.Stack, rnd.Int32N(int32(len(out.Frames))))
				}
			}
			out.Rows = append(out.Rows, row)
		}
	}
	slices.SortStableFunc(out.Rows, func(x, y stacks.Row) int { return cmp.Compare(y.WaitNs, x.WaitNs) })
	return out
}

// fakeLife adds the life of a class.
func fakeLife(r *analyze.Result, c *waits.Class) {
	life := breakdown.Class{ID: c.ID, Name: c.Name, Creator: c.Creator, Runtime: c.System, Goroutines: c.Goroutines}
	life.RunningNs, life.RunnableNs, life.SyscallNs, life.UnknownNs = c.RunningNs, c.Waits.TotalNs, c.RunningNs/7, c.RunningNs/20
	for reason := range life.BlockedNs {
		life.BlockedNs[reason] = c.Waits.TotalNs / int64(reason+2)
	}
	r.Breakdown.Classes = append(r.Breakdown.Classes, life)
	if life.Runtime {
		r.Breakdown.Runtime.Add(&life.TimeByState)
	} else {
		r.Breakdown.Program.Add(&life.TimeByState)
	}
}

// fakeWork adds two kinds of units: requests, some of which wait for a lock, and one test.
func fakeWork(r *analyze.Result, names []string) {
	const ms = int64(1_000_000)
	lock := &work.Via{What: "lock", Site: names[0]}
	serve := work.UnitKind{Name: names[1], Class: names[1], How: "cycle", Basis: "inferred", Entry: true, Count: 100, PerS: 24, Concurrency: 0.1, TotalNs: 400 * ms,
		Home: &work.Home{Function: names[2], Line: 12}, Latency: work.Latency{P50Ns: 3 * ms, P95Ns: 8 * ms, P99Ns: 11 * ms, MaxNs: 12 * ms},
		Path:   []work.TimePart{{Via: lock, Leaf: work.Leaf{Who: names[8], What: "running", Where: names[9]}, Ns: 300 * ms, TypicalNs: ms, SlowNs: 9 * ms}, {Leaf: work.Leaf{Who: names[1], What: "running"}, Ns: 100 * ms, TypicalNs: ms, SlowNs: 2 * ms}},
		Bins:   []work.Bin{{FromNs: 2 * ms, ToNs: 4 * ms, Count: 90, Parts: []work.BinPart{{What: "running", Ns: 200 * ms}, {What: "lock", Ns: 80 * ms}}}, {FromNs: 8 * ms, ToNs: 16 * ms, Count: 10, Parts: []work.BinPart{{What: "lock", Ns: 100 * ms}, {What: "running", Ns: 20 * ms}}}},
		Series: work.Series{BinNs: 100 * ms, Cells: []work.SeriesCell{{Bin: 5, Ns: 3 * ms, Count: 40}, {Bin: 20, Ns: 3 * ms, Count: 50}, {Bin: 21, Ns: 12 * ms, Count: 10}}},
		Slowest: []work.Slow{{G: 7, BeginNs: 700 * ms, EndNs: 712 * ms, Segments: []work.Segment{
			{Leaf: work.Leaf{Who: names[1], What: "runnable", Cause: string(waits.CauseQueueing)}, Ns: ms}, {Via: lock, Leaf: work.Leaf{Who: names[8], What: "running", Where: names[9]}, Ns: 9 * ms}, {Leaf: work.Leaf{Who: names[1], What: "running"}, Ns: 2 * ms}}}}}
	test := work.UnitKind{Name: "main.TestAll", Class: "testing.tRunner", How: "test", Basis: "observed", Entry: true, Count: 1, TotalNs: 9 * ms, Path: []work.TimePart{{Leaf: work.Leaf{What: "running"}, Ns: 9 * ms, TypicalNs: 9 * ms, SlowNs: 9 * ms}}}
	r.Work.Kinds = []work.UnitKind{test, serve}
}

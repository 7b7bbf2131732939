package report

import (
	"reflect"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/replay"
)

// fill sets everything in v to something that is not zero, so that every key of
// a document appears.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.7)
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k)
		fill(e)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	default:
		panic("cannot fill " + v.Type().String())
	}
}

func filled() *Document {
	var d Document
	fill(reflect.ValueOf(&d.Verdict).Elem())
	d.Schema, d.Tool, d.Result = Schema, "gmpscope devel", new(analyze.Result)
	fill(reflect.ValueOf(d.Result).Elem())
	d.Result.Trace.Reduced = false
	d.Split = new(replay.Decomposition)
	fill(reflect.ValueOf(d.Split).Elem())
	return &d
}

// hostile would drive a terminal, or break a page.
const hostile = "\x1b[31mred\x1b[0m\r\n</script>\u202e"

const ms = int64(time.Millisecond)

func causes(ns ...int64) []waits.CauseTime {
	var out []waits.CauseTime
	for i, c := range waits.Causes() {
		var n int64
		if i < len(ns) {
			n = ns[i]
		}
		out = append(out, waits.CauseTime{Cause: c, Ns: n})
	}
	return out
}

// busy is a made-up result in which index rebuilding holds up requests.
func busy() *analyze.Result {
	r := &analyze.Result{
		Trace: analyze.Trace{
			Name: "shop.trace", Format: "go 1.26", GoVersion: "1.26 or 1.27", Rules: analyze.RulesApplied{GoVersion: "1.26", ChosenBy: analyze.ByFormat, OtherRules: []string{"1.28"}}, Program: "example.com/shop/cmd/api",
			DurationNs: 4200 * ms, GOMAXPROCS: 4, Events: 1_843_201, Generations: 5, Goroutines: 2310, Threads: 19, Samples: 1204,
			Bytes: 18_330_112, LostBytes: 20_112, Compression: "gzip", TracerNs: 31 * ms,
			Wall: "2026-11-20T14:03:11Z", Warnings: []string{"the last generation is cut off: 20112 bytes lost " + hostile},
		},
		Reconstruction: analyze.Reconstruction{
			Starts: 402_118, Explained: 398_551, Ambiguous: 2_915, Unexplained: 652,
			BySource: map[string]int64{"runnext": 210_000, "local": 130_118, "global": 22_000, "steal": 40_000},
			ByBasis:  map[string]int64{"inferred:queue": 390_000}, Corrections: 812,
		},
		Pressure: fairness.Pressure{Some: 0.71, Full: 0.004, UnclaimedIdle: 0.031,
			Windows: []fairness.PressureWindow{{LengthNs: 10 * ms, N: 420, Some: fairness.Worst{P50: 0.68, P99: 0.99, Max: 1, AtNs: 1800 * ms}, Full: fairness.Worst{Max: 0.2}}},
			Age:     fairness.Age{MaxNs: 48 * ms, AtNs: 348 * ms, BinNs: 100 * ms, Bins: []int64{9 * ms, 48 * ms, 3 * ms}}},
	}
	user := waits.Summary{
		Count: 390_000, TotalNs: 5000 * ms, P50: 2_300, P90: 41_000, P99: 1_900_000, P999: 14 * ms, MaxNs: 48 * ms,
		TimeWeighted: waits.Quantiles{P50: 4_800_000, P90: 23 * ms, P99: 44 * ms},
		TailMass:     map[string]float64{"1ms": 0.83, "10ms": 0.41},
		Causes:       causes(10*ms, 90*ms, 400*ms, 100*ms, 200*ms, 3100*ms, 900*ms, 50*ms, 150*ms),
		BehindLongNs: 1700 * ms,
	}
	r.Waits.User = user
	r.Waits.Self = waits.Summary{Count: 12_000, TotalNs: 800 * ms, P50: 900, MaxNs: 9 * ms, Causes: causes(0, 0, 0, 0, 0, 800*ms)}
	r.Waits.System = waits.Summary{Count: 118, TotalNs: 30 * ms, P50: 90_000, MaxNs: 2 * ms, Causes: causes(0, 0, 0, 0, 0, 0, 0, 0, 30*ms)}
	r.Waits.All = user
	r.Waits.All.Count, r.Waits.All.TotalNs = 402_118, 5830*ms
	r.Waits.All.Causes = causes(10*ms, 90*ms, 400*ms, 100*ms, 200*ms, 3900*ms, 900*ms, 50*ms, 180*ms)
	r.Waits.All.OpenCount, r.Waits.All.OpenNs = 7, 21*ms
	rebuild, serve := "example.com/shop/internal/search.(*Index).rebuild.func2", "net/http.(*conn).serve"
	r.Waits.Classes = []waits.Class{
		{ID: 1, Name: serve, Creator: "net/http.(*Server).Serve", Goroutines: 212, Starts: 300_000, RunningNs: 2100 * ms,
			Waits:       waits.Summary{Count: 300_000, TotalNs: 4300 * ms, P50: 2100, P99: 2 * ms, MaxNs: 48 * ms, Causes: causes(5*ms, 45*ms, 350*ms, 80*ms, 170*ms, 2700*ms, 800*ms, 40*ms, 110*ms)},
			Antagonists: []waits.Antagonist{{Class: 2, Name: rebuild, Ns: 2900 * ms}, {Class: 1, Name: serve, Ns: 600 * ms}}},
		{ID: 2, Name: rebuild, Creator: "example.com/shop/cmd/api.main.func3", Goroutines: 4, Starts: 900, RunningNs: 7900 * ms,
			Waits: waits.Summary{Count: 900, TotalNs: 700 * ms, P50: 700_000, P99: 9 * ms, MaxNs: 11 * ms, Causes: causes(0, 0, 50*ms, 0, 0, 400*ms, 250*ms)}},
		{ID: 3, Name: hostile, Waits: waits.Summary{Count: 1, TotalNs: 400, Causes: causes(0, 0, 0, 0, 0, 400)}},
		{ID: 4, Name: "", Goroutines: 1},
	}
	r.Waits.Worst = []waits.WaitDetail{{
		G: 1204, Class: 1, Name: serve, FromNs: 300 * ms, ToNs: 348 * ms, WaitNs: 48 * ms, P: 2, Source: "steal", Basis: "inferred:queue",
		Causes: causes(0, 0, 0, 0, 0, 40*ms, 8*ms),
		Path: []waits.Step{
			{AtNs: 300 * ms, Queue: "runnext", P: 1, Why: "network"}, {AtNs: 300*ms + 2100, Queue: "local", P: 1, Why: "displaced"},
			{AtNs: 347 * ms, Queue: "direct", P: 2, Why: "steal"},
		},
		Ahead: []waits.RanAhead{{Class: 2, Name: rebuild, Ns: 40 * ms, Runs: 2}, {Class: 1, Name: serve, Ns: 7 * ms, Runs: 140}, {Class: 3, Name: hostile, Ns: 1, Runs: 1}},
	}}
	for p := range int32(4) {
		r.Procs.Ps = append(r.Procs.Ps, procs.Proc{P: p, LifetimeNs: 4200 * ms, RunningNs: 2500 * ms, SystemNs: 100 * ms, GCNs: 600 * ms,
			TracerNs: 8 * ms, SyscallNs: 92 * ms, SchedNs: 300 * ms, IdleNs: 590 * ms, StoppedNs: 10 * ms, Starts: 100_530, Parks: 900, QueueMean: 3.9, QueueMax: 61})
	}
	r.Procs.Steals = procs.Steals{Count: 40_000, Moved: 81_000, Matrix: [][]int64{{0, 9000, 100, 0}, {100, 0, 0, 0}, {0, 30_000, 0, 100}, {0, 700, 0, 0}}}
	r.Procs.Handoffs = procs.Counts{Count: 812, ByCause: map[string]int64{"sysmon": 700, "locked": 112}}
	r.Procs.Retakes = procs.Counts{Count: 740, ByCause: map[string]int64{"sysmon": 702, "returning-syscall": 38}}
	r.Procs.Preemptions = procs.Counts{Count: 1620, ByCause: map[string]int64{"slice": 1400, "stw": 120, "gc": 90, "generation-switch": 10}}
	r.Procs.Overflows, r.Procs.GlobalTakes = 3, 22_118
	r.Procs.Queues = procs.Queues{GlobalMean: 0.0013, GlobalMax: 131, LocalMean: 12.4, RunnableMean: 15.1, RunnableMax: 301}
	r.Procs.Procs = []procs.Procs{{AtNs: 0, N: 2}, {AtNs: 420 * ms, N: 4}}
	r.Fairness = fairness.Result{Jain: 0.871, Judged: 216, MaxLagNs: 212 * ms, P99LagNs: 31 * ms, Bypass: fairness.Bypass{P50: 1, P99: 48, Max: 2117, Inversions: 0.21}, Slowdown: fairness.Slowdown{Mean: 8.3, P50: 1.21, P99: 96, Max: 12_300,
		ByService: []fairness.Decile{{FromNs: 128, ToNs: 2048, N: 40_000, Mean: 61, Max: 12_300}, {FromNs: 2048, ToNs: 1 << 24, N: 350_000, Mean: 1.2, Max: 9}}},
		Classes: []fairness.Class{{ID: 1, Name: serve, N: 212, Judged: 212, Jain: 0.934}}}
	r.Span = analyze.Span{WorkNs: 10_000 * ms, SpanNs: 3900 * ms, BusyNs: 4100 * ms, Parallelism: 2.56, BoundNs: 3900 * ms, ABPBoundNs: 6600 * ms, UsablePs: 3.8, Efficiency: 0.951, RecoverableNs: 200 * ms, Hops: 18_212,
		Path: []analyze.PathPart{{Name: rebuild, Creator: "main.main", Ns: 3100 * ms, Stack: []string{"sort.Slice"}}}, OtherNs: 800 * ms}
	r.Findings = []findings.Finding{
		{ID: "convoy", Severity: findings.Critical, Title: findings.Say("Runs of search.(*Index).rebuild.func2 lasting up to 41 ms held up 212 goroutines behind them"), CostNs: 2300 * ms, CostOf: findings.OfWaiting, WholeNs: 5_000_000_000,
			FromNs: 1800 * ms, ToNs: 1842 * ms, Basis: "inferred",
			Actors:   []findings.Actor{{Role: "cause", Class: rebuild, Creator: "main.main", G: 34, Stack: []string{"sort.Slice", hostile}}, {Role: "victim", Class: serve}, {Role: "cause", P: findings.OnP(3)}},
			Evidence: []findings.Evidence{{What: findings.Say("longest run with others behind it"), Value: findings.Say("41.2 ms"), Limit: findings.Say("1 ms")}, {What: findings.Say("goroutines held up"), Value: findings.Say("212")}},
			Advice:   []findings.Text{findings.Say("Split the work of rebuild into pieces of about 100 µs, and yield between them"), findings.Say("Or bound how many of it run at once to fewer than GOMAXPROCS, so that a P is left for requests.")}},
		{ID: "trace-quality", Kind: findings.KindTrace, Severity: findings.Note, Title: findings.Say("the end of the trace is missing"), Basis: "certain"},
	}
	r.Detectors = []analyze.Detector{
		{ID: "trace-quality", Kind: findings.KindTrace, Title: "trace quality", Found: 1}, {ID: "convoy", Title: "convoy (head-of-line blocking)", Found: 1},
		{ID: "starvation", Title: "runnable starvation"}, {ID: "work-conservation", Title: "work-conservation violation"},
	}
	return r
}

// calm is a made-up result in which nothing is wrong.
func calm() *analyze.Result {
	r := busy()
	r.Findings = nil
	for i := range r.Detectors {
		r.Detectors[i].Found = 0
	}
	r.Trace.LostBytes, r.Trace.Warnings, r.Waits.All.OpenCount = 0, nil, 0
	r.Waits.Self = waits.Summary{}
	r.Waits.User.TotalNs, r.Waits.User.MaxNs, r.Waits.User.Causes = 40*ms, 400_000, causes(0, 0, 0, 0, 0, 30*ms, 0, 0, 10*ms)
	r.Waits.Classes = r.Waits.Classes[:1]
	r.Waits.Classes[0].Waits.TotalNs, r.Waits.Classes[0].Waits.MaxNs = 40*ms, 400_000
	return r
}

package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// A scenario is a program below programs/ and what its traces must show.
type scenario struct {
	name  string
	procs []int    // GOMAXPROCS values to record with
	also  []string // Go versions besides mainVersion, for the first of procs
	facts func(rec *recording, gomaxprocs int) error
	shows string
}

// mainVersion is the Go version that each scenario is recorded with.
const mainVersion = "go1.26.8"

var (
	// allVersions has one version of each trace format and rule set.
	allVersions = []string{"go1.22.12", "go1.24.9", "go1.25.0", "go1.27.4"}
	// someVersions has the oldest, a middle and the newest one.
	someVersions = []string{"go1.22.12", "go1.24.9", "go1.27.4"}
)

var scenarios = []scenario{
	{"single", []int{1, 4}, nil, single,
		"One goroutine of class main.worker with exactly one start: from runnext of its creator's P, or (more Ps) stolen out of it."},
	{"thousand", []int{4, 1}, nil, thousand,
		"1,000 goroutines of class main.worker created by main; the local run queue overflows to the global queue; every P starts workers. With one P none starts before the last is created."},
	{"thousand-by-thousand", []int{4}, nil, thousandByThousand,
		"20 goroutines of class main.parent create 1,000 of class main.leaf each, faster than they run: local run queues overflow, and the global queue is emptied in batches."},
	{"uneven", []int{4, 2}, someVersions, uneven,
		"800 goroutines of class main.worker in four rounds of 200, all created by main.spawner, those of a round on one P, without overflow, block or yield; at least a quarter of them start on another P: those were stolen."},
	{"put-take", []int{4, 2, 1}, nil, putTake,
		"100 goroutines of class main.put block only on \"chan send\" and are woken only by one of their three takes; 300 of class main.take block only on \"chan receive\", at most once, and are woken only by their put."},
	{"blocking-syscalls", []int{4, 2}, []string{"go1.22.12"}, blockingSyscalls,
		"200 goroutines of class main.caller make 1,000 system calls of 10 ms; sysmon retakes Ps at least 200 times and they are handed off; over 100 threads; all done in under a quarter of 1000 × 10 ms / GOMAXPROCS."},
	{"forever", []int{4, 2, 1}, []string{"go1.22.12"}, forever,
		"Five goroutines of class main.forever that leave a P only by preemption, to the global queue; each runs between a half and twice its fair share, and none waits Runnable for more than 250 ms at once."},
	{"network", []int{4, 2}, []string{"go1.24.9"}, network,
		"Eight goroutines each of classes main.client and main.serve block on \"network\", at least 400 times in all, and are readied only by the netpoller (no goroutine in the event's context)."},
	{"timers", []int{4, 1}, []string{"go1.22.12"}, timers,
		"20 main.sleeper block on \"sleep\" 10 times each; 50 main.fired are created by no goroutine (AfterFunc, all due at once); main.ticked blocks on \"chan receive\", main.timeout on \"select\"; all readied by timers, with no goroutine in the event's context."},
	{"gc", []int{4, 2}, []string{"go1.22.12", "go1.25.0"}, garbage,
		"At least two GC cycles, each with two stop-the-world ranges; GC mark workers start on Ps while goroutines of class main.allocator wait Runnable; mark assists, some of which block if there are four Ps."},
	{"mutex", []int{4, 2}, allVersions, mutex,
		"Eight goroutines of class main.locker block on \"sync\" and are readied only by one of them; in starvation mode the one that unlocks hands off the lock and yields with runtime.goyield (local tail, no preemption) at least 10 times."},
	{"locked-threads", []int{2, 1}, someVersions, lockedThreads,
		"main.ping and main.pong each start at least 200 times, each always on its own thread; at least 200 of the starts on a P come right after that P passed from another thread."},
	{"gosched", []int{1, 2}, nil, gosched,
		"Eight goroutines of class main.yielder yield 200 times each (\"runtime.Gosched\"), to the tail of the global queue; with one P each of them starts at least once in any 24 starts while all eight are alive."},
	{"pingpong-starve", []int{1}, allVersions, pingpongStarve,
		"A main.waiter that yielded to the global queue waits Runnable while main.ping and main.pong start at least 300 times in a row from runnext, the trace's own goroutines aside."},
	{"overflow", []int{1}, allVersions, overflow,
		"300 goroutines of class main.worker, all created before one starts; numbers 1–128 and 257 (129) go to the global queue. Starts: 300 (runnext); 129–256, 258–299 (ring); 1–128, 257 (global); except that at each 61st tick the next global one comes out of turn: two or three times during the local ones."},
	{"steal-small", []int{2}, allVersions, stealSmall,
		"main.blocker, main.first, main.second, main.third, main.fourth are created on P A, in this order, and start on P B as blocker, second, first, third, fourth: B steals from A 1 (runnext), then 2, 1 and 1 (runnext) goroutines. main stays on A."},
	{"retake-small", []int{2}, allVersions, retakeSmall,
		"main.reader creates main.first, main.second, main.third on P A and blocks in read; sysmon retakes A (no P, no goroutine in the event's context); A starts on another thread and there third, first, second start, in this order, before reader leaves its system call. main.spinner keeps P B."},
	{"preempt-small", []int{1}, allVersions, preemptSmall,
		"main.first, main.second, main.third share one P: they start as third, first, second, and so on in turn until one of them ends; each is preempted at least three times, to the global queue, and never blocks."},
}

// Target is one trace to record.
type Target struct {
	runner.Take
	scenario *scenario
}

// Targets returns what to record: each scenario with its own Go versions, or with those given
// for each of its GOMAXPROCS values.
func Targets(goVersions []string) []*Target {
	var all []*Target
	for i := range scenarios {
		s := &scenarios[i]
		add := func(version string, procs int) {
			all = append(all, &Target{runner.Take{
				Name:    fmt.Sprintf("%s-%s-p%d", s.name, runner.ShortVersion(version), procs),
				Program: "testdata/traces/programs/" + s.name, Go: version, GOMAXPROCS: procs,
			}, s})
		}
		for _, version := range goVersions {
			for _, n := range s.procs {
				add("go"+strings.TrimPrefix(version, "go"), n)
			}
		}
		if len(goVersions) > 0 {
			continue
		}
		for _, n := range s.procs {
			add(mainVersion, n)
		}
		for _, version := range s.also {
			add(version, s.procs[0])
		}
	}
	return all
}

// Check holds a recording against the facts of its scenario.
func (t *Target) Check(_ context.Context, x *runner.Recording) (wrong, err error) {
	rec, err := readRecording(bytes.NewReader(x.Trace))
	if err != nil {
		return nil, err
	}
	return t.scenario.facts(rec, t.GOMAXPROCS), nil
}

package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// The functions of this file say for each scenario what must hold in any
// recording of it, on any machine and with any Go version from 1.22 on. They
// use the events alone: no model of the run queues, except where the scenario
// is small enough to know the queues by counting.

func single(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.worker": 1}); err != nil {
		return err
	}
	starts := rec.starts("main.worker")
	if len(starts) != 1 {
		return fmt.Errorf("main.worker starts %d times, not once", len(starts))
	}
	if created := rec.of("main.worker")[0]; gomaxprocs == 1 && starts[0].onP != created.onP {
		return fmt.Errorf("main.worker is created on P %d and starts on P %d", created.onP, starts[0].onP)
	}
	return nil
}

func thousand(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.worker": 1000}); err != nil {
		return err
	}
	if gomaxprocs == 1 {
		return startAfterLastCreated(rec, "main.worker")
	}
	used := make(map[trace.ProcID]int)
	for _, e := range rec.starts("main.worker") {
		used[e.onP]++
	}
	if len(used) != gomaxprocs {
		return fmt.Errorf("main.worker starts on Ps %v, not on all %d", used, gomaxprocs)
	}
	return nil
}

func thousandByThousand(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.parent": 20, "main.leaf": 20000}); err != nil {
		return err
	}
	leaves := make(map[trace.GoID]int)
	for _, c := range rec.of("main.leaf") {
		leaves[c.by]++
	}
	for g, n := range leaves {
		if n != 1000 || rec.class[g] != "main.parent" {
			return fmt.Errorf("goroutine %d (%s) creates %d main.leaf, not 1000", g, rec.class[g], n)
		}
	}
	return nil
}

func uneven(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.spawner": 1, "main.worker": 800}); err != nil {
		return err
	}
	workers := rec.of("main.worker")
	home := make(map[trace.GoID]trace.ProcID)
	for i, c := range workers {
		if rec.class[c.by] != "main.spawner" {
			return fmt.Errorf("a main.worker is created by %q", rec.class[c.by])
		}
		if first := workers[i/200*200]; c.onP != first.onP {
			return fmt.Errorf("main.worker %d is created on P %d, the first of its round on P %d", i+1, c.onP, first.onP)
		}
		home[c.g] = c.onP
	}
	if err := onlyTransitions(rec, "main.worker", "NotExist→Runnable", "Runnable→Running", "Running→NotExist"); err != nil {
		return err
	}
	away := 0
	for _, e := range rec.starts("main.worker") {
		if e.onP != home[e.g] {
			away++
		}
	}
	if away*4 < len(workers) {
		return fmt.Errorf("only %d of %d main.worker start on another P than the one they were created on", away, len(workers))
	}
	return nil
}

func putTake(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.put": 100, "main.take": 300}); err != nil {
		return err
	}
	// Each put is created before its three takes.
	group := make(map[trace.GoID]int)
	groups := 0
	for _, c := range rec.created {
		if c.class == "main.put" {
			groups++
		}
		if c.class == "main.put" || c.class == "main.take" {
			group[c.g] = groups
		}
	}
	reasons := map[string]string{"main.put": "chan send", "main.take": "chan receive"}
	most := map[string]int{"main.put": 3, "main.take": 1}
	blocks := make(map[trace.GoID]int)
	for _, e := range rec.events {
		class := rec.class[e.g]
		switch {
		case most[class] == 0:
		case e.is("Running", "Waiting"):
			if blocks[e.g]++; e.why != reasons[class] || blocks[e.g] > most[class] {
				return fmt.Errorf("a %s blocks on %q, for the %d. time", class, e.why, blocks[e.g])
			}
		case e.is("Waiting", "Runnable"):
			if waker := rec.class[e.byG]; most[waker] == 0 || waker == class || group[e.byG] != group[e.g] {
				return fmt.Errorf("a %s of group %d is woken by goroutine %d (%s) of group %d",
					class, group[e.g], e.byG, waker, group[e.byG])
			}
		}
	}
	if len(blocks) < 100 {
		return fmt.Errorf("only %d goroutines ever block on a channel", len(blocks))
	}
	return nil
}

func blockingSyscalls(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.caller": 200}); err != nil {
		return err
	}
	calls := rec.count(func(e event) bool {
		return e.is("Running", "Syscall") && rec.class[e.g] == "main.caller"
	})
	if calls < 1000 {
		return fmt.Errorf("main.caller enters %d system calls, fewer than 1000", calls)
	}
	if n := rec.count(event.isRetake); n < 200 {
		return fmt.Errorf("sysmon retakes a P only %d times", n)
	}
	if rec.threads <= 100 {
		return fmt.Errorf("only %d threads", rec.threads)
	}
	if bound := 10 * time.Second / time.Duration(4*gomaxprocs); rec.duration() > bound {
		return fmt.Errorf("takes %v, more than %v", rec.duration(), bound)
	}
	return nil
}

func forever(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.forever": 5}); err != nil {
		return err
	}
	if err := onlyTransitions(rec, "main.forever",
		"NotExist→Runnable", "Runnable→Running", "Running→Runnable preempted", "Running→NotExist"); err != nil {
		return err
	}
	ran := make(map[trace.GoID]time.Duration)
	since := make(map[trace.GoID]trace.Time)
	preempted := make(map[trace.GoID]int)
	var total time.Duration
	for _, e := range rec.events {
		if rec.class[e.g] != "main.forever" {
			continue
		}
		spent := e.at.Sub(since[e.g])
		switch {
		case e.from == "Running":
			ran[e.g] += spent
			total += spent
		case e.from == "Runnable" && spent > 250*time.Millisecond:
			return fmt.Errorf("a main.forever waits Runnable for %v", spent)
		}
		if e.why == "preempted" {
			preempted[e.g]++
		}
		since[e.g] = e.at
	}
	for _, c := range rec.of("main.forever") {
		if fair := total / 5; ran[c.g] < fair/2 || ran[c.g] > 2*fair {
			return fmt.Errorf("a main.forever runs for %v, its fair share is %v", ran[c.g], fair)
		}
		if preempted[c.g] < 2 {
			return fmt.Errorf("a main.forever is preempted only %d times", preempted[c.g])
		}
	}
	return nil
}

func network(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.client": 8, "main.serve": 8, "main.accept": 1}); err != nil {
		return err
	}
	blocks := 0
	blocked := make(map[trace.GoID]bool)
	for _, e := range rec.events {
		if class := rec.class[e.g]; class != "main.client" && class != "main.serve" {
			continue
		}
		switch {
		case e.is("Running", "Waiting"):
			if blocked[e.g] = e.why == "network"; blocked[e.g] {
				blocks++
			}
		case e.is("Waiting", "Runnable") && blocked[e.g]:
			if e.byG != trace.NoGoroutine {
				return fmt.Errorf("a goroutine blocked on the network is woken by goroutine %d (%s)", e.byG, rec.class[e.byG])
			}
		}
	}
	if blocks < 400 || len(blocked) != 16 {
		return fmt.Errorf("only %d goroutines block, %d times on the network", len(blocked), blocks)
	}
	return nil
}

func timers(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.sleeper": 20, "main.ticked": 5, "main.timeout": 1, "main.fired": 50}); err != nil {
		return err
	}
	for _, c := range rec.of("main.fired") {
		if c.by != trace.NoGoroutine {
			return fmt.Errorf("a main.fired is created by goroutine %d (%s)", c.by, rec.class[c.by])
		}
	}
	reasons := map[string]string{"main.sleeper": "sleep", "main.ticked": "chan receive", "main.timeout": "select"}
	blocks := make(map[string]int)
	for _, e := range rec.events {
		class := rec.class[e.g]
		switch {
		case reasons[class] == "":
		case e.is("Running", "Waiting"):
			if e.why != reasons[class] {
				return fmt.Errorf("a %s blocks on %q", class, e.why)
			}
			blocks[class]++
		case e.is("Waiting", "Runnable") && e.byG != trace.NoGoroutine:
			return fmt.Errorf("a %s is woken by goroutine %d (%s)", class, e.byG, rec.class[e.byG])
		}
	}
	if blocks["main.sleeper"] != 200 || blocks["main.ticked"] < 5 || blocks["main.timeout"] != 1 {
		return fmt.Errorf("blocks: %v", blocks)
	}
	return nil
}

func garbage(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.allocator": 4}); err != nil {
		return err
	}
	begun := make(map[string]int)
	runnable := make(map[trace.GoID]bool)
	displaced, parked := 0, 0
	for _, e := range rec.events {
		ours := rec.class[e.g] == "main.allocator"
		switch {
		case e.kind == trace.EventRangeBegin:
			begun[e.why]++
		case e.kind == trace.EventLabel && strings.HasPrefix(e.why, "GC (") && len(runnable) > 0:
			displaced++ // a mark worker started instead of one of ours
		case ours && e.to == "Runnable":
			runnable[e.g] = true
		case ours:
			delete(runnable, e.g)
			if e.is("Running", "Waiting") && e.why == "GC mark assist wait for work" {
				parked++
			}
		}
	}
	cycles := begun["GC concurrent mark phase"]
	if cycles < 2 || begun["stop-the-world (GC sweep termination)"] != cycles || begun["stop-the-world (GC mark termination)"] != cycles {
		return fmt.Errorf("ranges: %v", begun)
	}
	if displaced == 0 || begun["GC mark assist"] == 0 || parked == 0 && gomaxprocs >= 4 {
		return fmt.Errorf("%d starts of a mark worker while an allocator waits, %d assists, of which %d block",
			displaced, begun["GC mark assist"], parked)
	}
	return nil
}

func mutex(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.locker": 8}); err != nil {
		return err
	}
	blocks, yields := 0, 0
	for _, e := range rec.events {
		if rec.class[e.g] != "main.locker" {
			continue
		}
		switch {
		case e.is("Running", "Waiting"):
			if blocks++; e.why != "sync" {
				return fmt.Errorf("a main.locker blocks on %q", e.why)
			}
		case e.is("Waiting", "Runnable"):
			if waker := rec.class[e.byG]; waker != "main.locker" {
				return fmt.Errorf("a main.locker is woken by goroutine %d (%s)", e.byG, waker)
			}
		case e.isGoyield():
			yields++
		}
	}
	if blocks < 40 || yields < 10 {
		return fmt.Errorf("only %d blocks and %d handoffs with goyield", blocks, yields)
	}
	return nil
}

func lockedThreads(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.ping": 1, "main.pong": 1}); err != nil {
		return err
	}
	thread := make(map[string]trace.ThreadID)
	owner := make(map[trace.ProcID]trace.ThreadID) // who started a P last
	passed := make(map[trace.ProcID]bool)          // from another thread, and nothing started since
	handoffs := 0
	for _, e := range rec.events {
		if e.isProc("Idle", "Running") {
			passed[e.p] = owner[e.p] != e.onM
			owner[e.p] = e.onM
		}
		if !e.is("Runnable", "Running") {
			continue
		}
		class := rec.class[e.g]
		if class == "main.ping" || class == "main.pong" {
			// A goroutine locks itself to the thread of its first start.
			if m, ok := thread[class]; ok && m != e.onM {
				return fmt.Errorf("%s starts on threads %d and %d", class, m, e.onM)
			}
			thread[class] = e.onM
			if passed[e.onP] {
				handoffs++
			}
		}
		passed[e.onP] = false
	}
	if thread["main.ping"] == thread["main.pong"] {
		return fmt.Errorf("main.ping and main.pong share thread %d", thread["main.ping"])
	}
	// Besides, each unlocked goroutine that runs in between may pass a P on.
	if handoffs < 200 {
		return fmt.Errorf("only %d starts after a P was handed over", handoffs)
	}
	for _, class := range []string{"main.ping", "main.pong"} {
		if n := len(rec.starts(class)); n < 200 {
			return fmt.Errorf("%s starts only %d times", class, n)
		}
	}
	return nil
}

func gosched(rec *recording, gomaxprocs int) error {
	if err := classes(rec, map[string]int{"main.yielder": 8}); err != nil {
		return err
	}
	yields := rec.count(func(e event) bool {
		return rec.class[e.g] == "main.yielder" && e.is("Running", "Runnable") && e.why == "runtime.Gosched"
	})
	if yields != 1600 {
		return fmt.Errorf("%d yields, not 1600", yields)
	}
	if gomaxprocs > 1 {
		return nil
	}
	last := make(map[trace.GoID]int) // number of a goroutine's latest start
	end := firstEnd(rec, "main.yielder")
	for i, e := range rec.starts("main.yielder") {
		if e.at > end {
			break
		}
		last[e.g] = i
		for g, at := range last {
			if i-at >= 24 {
				return fmt.Errorf("goroutine %d skipped for %d starts", g, i-at)
			}
		}
	}
	return nil
}

func pingpongStarve(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.ping": 1, "main.pong": 1, "main.waiter": 2}); err != nil {
		return err
	}
	waiting := make(map[trace.GoID]bool) // yielded and not started since
	readied := make(map[trace.GoID]bool) // by its partner: into runnext
	hops, longest := 0, 0
	for _, e := range rec.events {
		class := rec.class[e.g]
		switch {
		case class == "main.waiter" && e.is("Running", "Runnable"):
			waiting[e.g] = true
		case e.to == "Runnable":
			readied[e.g] = e.from == "Waiting" && e.byG != trace.NoGoroutine
		case !e.is("Runnable", "Running"):
		case class == "main.ping" || class == "main.pong":
			if hops++; !readied[e.g] || len(waiting) == 0 {
				hops = 0
			}
			longest = max(longest, hops)
		case strings.HasPrefix(class, "runtime/trace."):
		default:
			delete(waiting, e.g)
			hops = 0
		}
	}
	if longest < 300 {
		return fmt.Errorf("at most %d hops in a row while a main.waiter waits", longest)
	}
	return nil
}

func overflow(rec *recording, _ int) error {
	if err := classes(rec, map[string]int{"main.worker": 300}); err != nil {
		return err
	}
	if err := startAfterLastCreated(rec, "main.worker"); err != nil {
		return err
	}
	if err := onlyTransitions(rec, "main.worker", "NotExist→Runnable", "Runnable→Running", "Running→NotExist"); err != nil {
		return err
	}
	number := make(map[trace.GoID]int)
	for i, c := range rec.of("main.worker") {
		number[c.g] = i + 1
	}
	var local, global []int
	local = append(local, 300)
	for n := 129; n <= 299; n++ {
		if n != 257 {
			local = append(local, n)
		}
	}
	for n := 1; n <= 128; n++ {
		global = append(global, n)
	}
	global = append(global, 257)
	var ticks []int // starts at which the global queue came first
	starts := rec.starts("main.worker")
	for i, e := range starts {
		n := number[e.g]
		switch {
		case len(local) > 0 && n == local[0]:
			local = local[1:]
		case len(global) > 0 && n == global[0]:
			global = global[1:]
			if len(local) > 0 {
				ticks = append(ticks, i)
			}
		default:
			return fmt.Errorf("start %d is of number %d; next in the local queue: %v, in the global queue: %v",
				i+1, n, firstOf(local), firstOf(global))
		}
	}
	for i, at := range ticks {
		if i > 0 && at-ticks[i-1] != 61 {
			return fmt.Errorf("picks from the global queue out of turn at starts %v: not 61 apart", ticks)
		}
	}
	if len(ticks) < 2 || len(ticks) > 3 {
		return fmt.Errorf("picks from the global queue out of turn at starts %v: not two or three", ticks)
	}
	return nil
}

func stealSmall(rec *recording, _ int) error {
	names := []string{"main.blocker", "main.first", "main.second", "main.third", "main.fourth"}
	order := []string{"main.blocker", "main.second", "main.first", "main.third", "main.fourth"}
	a, err := createdTogether(rec, names)
	if err != nil {
		return err
	}
	var started []string
	for _, e := range rec.starts("") {
		class := rec.class[e.g]
		if !slices.Contains(names, class) {
			continue
		}
		started = append(started, class)
		if e.onP == a {
			return fmt.Errorf("%s starts on the P that it was created on", class)
		}
	}
	if !slices.Equal(started, order) {
		return fmt.Errorf("started in the order %v", started)
	}
	// From the first creation to the last end, the creator keeps its P.
	by := rec.of("main.blocker")[0].by
	for _, e := range rec.events[rec.of("main.blocker")[0].index:] {
		if e.g == by && e.at < rec.starts("main.fourth")[0].at {
			return fmt.Errorf("main goes %s→%s before main.fourth starts", e.from, e.to)
		}
	}
	return nil
}

func retakeSmall(rec *recording, _ int) error {
	names := []string{"main.first", "main.second", "main.third"}
	a, err := createdTogether(rec, names)
	if err != nil {
		return err
	}
	by := rec.of("main.first")[0].by
	if rec.class[by] != "main.reader" {
		return fmt.Errorf("created by %q, not main.reader", rec.class[by])
	}
	var seen []string
	var blockedOn trace.ThreadID
	if i := slices.IndexFunc(rec.events, event.isRetake); i < 0 || rec.events[i].p != a {
		return fmt.Errorf("the first retake is not of P %d", a)
	}
	for _, e := range rec.events[rec.of("main.third")[0].index:] {
		class := rec.class[e.g]
		switch {
		case e.g == by && e.is("Running", "Syscall") && e.onP == a:
			seen = append(seen, "syscall")
			blockedOn = e.onM
		case e.g == by:
			seen = append(seen, "return")
		case e.p == a && e.isRetake():
			seen = append(seen, "retake")
		case e.p == a && e.isProc("Running", "Idle") && len(seen) == 3:
			// The thread that makes a new thread borrows the P for a moment.
			seen = seen[:2]
		case e.p == a && e.isProc("Idle", "Running") && e.onM != blockedOn && len(seen) == 2:
			seen = append(seen, "handoff")
		case e.is("Runnable", "Running") && slices.Contains(names, class) && e.onP == a:
			seen = append(seen, class)
		case e.is("Runnable", "Running") && slices.Contains(names, class):
			return fmt.Errorf("%s starts on P %d", class, e.onP)
		}
	}
	want := []string{"syscall", "retake", "handoff", "main.third", "main.first", "main.second", "return"}
	if len(seen) < len(want) || !slices.Equal(seen[:len(want)], want) {
		return fmt.Errorf("seen: %v", seen)
	}
	return nil
}

func preemptSmall(rec *recording, _ int) error {
	names := []string{"main.first", "main.second", "main.third"}
	turn := []string{"main.third", "main.first", "main.second"}
	if _, err := createdTogether(rec, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := onlyTransitions(rec, name,
			"NotExist→Runnable", "Runnable→Running", "Running→Runnable preempted", "Running→NotExist"); err != nil {
			return err
		}
		preemptions := rec.count(func(e event) bool { return rec.class[e.g] == name && e.is("Running", "Runnable") })
		if preemptions < 3 {
			return fmt.Errorf("%s is preempted only %d times", name, preemptions)
		}
	}
	next := 0
	for _, e := range rec.events {
		class := rec.class[e.g]
		switch {
		case !slices.Contains(names, class):
		case e.is("Running", "NotExist"):
			return nil // the first of them is done
		case e.is("Runnable", "Running"):
			if class != turn[next%3] {
				return fmt.Errorf("start %d is of %s, not of %s", next+1, class, turn[next%3])
			}
			next++
		}
	}
	return nil
}

// classes checks how many goroutines of each class are created.
func classes(rec *recording, want map[string]int) error {
	for class, n := range want {
		if got := len(rec.of(class)); got != n {
			return fmt.Errorf("%d goroutines of class %s are created, not %d", got, class, n)
		}
	}
	return nil
}

// createdTogether checks that each class has one goroutine, that they are
// created in this order, by one goroutine on one P, and returns that P.
func createdTogether(rec *recording, names []string) (trace.ProcID, error) {
	made := slices.DeleteFunc(slices.Clone(rec.created), func(c creation) bool { return !slices.Contains(names, c.class) })
	if len(made) != len(names) {
		return trace.NoProc, fmt.Errorf("%d goroutines of the classes %v", len(made), names)
	}
	for i, c := range made {
		if c.class != names[i] || c.by != made[0].by || c.onP != made[0].onP {
			return trace.NoProc, fmt.Errorf("%s is created as the %d. of them, by goroutine %d on P %d; the first by %d on %d",
				c.class, i+1, c.by, c.onP, made[0].by, made[0].onP)
		}
	}
	return made[0].onP, nil
}

// startAfterLastCreated checks that no goroutine of a class starts before the
// last of it is created.
func startAfterLastCreated(rec *recording, class string) error {
	created := rec.of(class)
	if first := rec.starts(class)[0]; first.at < rec.events[created[len(created)-1].index].at {
		return fmt.Errorf("a %s starts before the last one is created", class)
	}
	return nil
}

// onlyTransitions checks that the goroutines of a class make no other
// transitions than those given as "From→To" or "From→To reason".
func onlyTransitions(rec *recording, class string, allowed ...string) error {
	for _, e := range rec.events {
		if rec.class[e.g] != class || e.from == e.to { // a status, at a generation's end
			continue
		}
		made := strings.TrimSpace(e.from + "→" + e.to + " " + e.why)
		if !slices.Contains(allowed, made) {
			return fmt.Errorf("a %s goes %s", class, made)
		}
	}
	return nil
}

// firstEnd returns when the first goroutine of a class ends.
func firstEnd(rec *recording, class string) trace.Time {
	for _, e := range rec.events {
		if rec.class[e.g] == class && e.is("Running", "NotExist") {
			return e.at
		}
	}
	return rec.last
}

// firstOf returns the first element of s, or nothing.
func firstOf(s []int) []int { return s[:min(1, len(s))] }

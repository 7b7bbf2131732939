package analyze_test

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/reference"
)

// start reports what a start must be.
type start struct {
	name  string
	src   reference.Source
	batch int32
}

func (s *scenario) single() {
	starts := s.of(reference.KindStart, "worker")
	made := s.of(reference.KindReady, "worker")
	if len(starts) != 1 || len(made) != 1 {
		s.Fatalf("worker must become runnable once and start once, found %d and %d", len(made), len(starts))
	}
	d, home := starts[0], made[0]
	if home.To != reference.QueueRunnext || home.Why != reference.WhyCreate {
		s.Errorf("worker must be created into runnext, found %v because of %v", home.To, home.Why)
	}
	switch {
	case d.P == home.P && d.Src != reference.SrcRunnext:
		s.Errorf("worker, started on its creator's P%d, must come from its runnext, found %v", d.P, d.Src)
	case d.P != home.P && (d.Src != reference.SrcStealRunnext || d.Victim != home.P):
		s.Errorf("worker, started on P%d, must be stolen out of P%d's runnext, found %v from P%d", d.P, home.P, d.Src, d.Victim)
	}
}

func (s *scenario) stealSmall() {
	made := s.of(reference.KindReady, "blocker", "first", "second", "third", "fourth")
	if len(made) != 5 {
		s.Fatalf("five goroutines must become runnable once each, found %d", len(made))
	}
	a := made[0].P
	for i, name := range []string{"blocker", "first", "second", "third", "fourth"} {
		if d := made[i]; s.name(d.G) != name || d.To != reference.QueueRunnext || d.P != a {
			s.Errorf("creation %d must be of %s into runnext of P%d, found %s into %v of P%d", i+1, name, a, s.name(d.G), d.To, d.P)
		}
	}
	want := []start{
		{"blocker", reference.SrcStealRunnext, 1},
		{"second", reference.SrcSteal, 2},
		{"first", reference.SrcLocal, 0},
		{"third", reference.SrcSteal, 1},
		{"fourth", reference.SrcStealRunnext, 1},
	}
	starts := s.of(reference.KindStart, "blocker", "first", "second", "third", "fourth")
	s.want(len(starts), len(want), "starts")
	for i, d := range starts[:min(len(starts), len(want))] {
		w := want[i]
		if s.name(d.G) != w.name || d.Src != w.src || d.P == a || d.Batch != w.batch || w.batch > 0 && d.Victim != a {
			s.Errorf("start %d must be of %s from %v (batch %d) of P%d on the other P; found %s from %v (batch %d) of P%d on P%d",
				i+1, w.name, w.src, w.batch, a, s.name(d.G), d.Src, d.Batch, d.Victim, d.P)
		}
	}
	// The thief's own queue: after second it holds first; else nothing.
	for i, local := range []int32{0, 1, 0, 0, 0} {
		if starts[i].Local != local {
			s.Errorf("after start %d the thief's queue must hold %d, found %d", i+1, local, starts[i].Local)
		}
	}
	var steals []int32
	for _, d := range s.of(reference.KindSteal, "blocker", "second", "third", "fourth") {
		if d.Victim != a || d.P == a {
			s.Errorf("all steals must be from P%d, found one by P%d from P%d", a, d.P, d.Victim)
		}
		steals = append(steals, d.Batch)
	}
	if !slices.Equal(steals, []int32{1, 2, 1, 1}) {
		s.Errorf("steals must be of 1 (runnext), 2, 1 and 1 (runnext), found %v", steals)
	}
	moved := because(s.of(reference.KindMove, "first", "second", "third", "fourth"), reference.WhySteal)
	if len(moved) != 1 || s.name(moved[0].G) != "first" || moved[0].Victim != a || moved[0].To != reference.QueueLocal {
		s.Errorf("only first must move along with a stolen goroutine, into the thief's ring; found %v", moved)
	}
}

func (s *scenario) retakeSmall() {
	made := s.of(reference.KindReady, "first", "second", "third")
	if len(made) != 3 {
		s.Fatalf("three goroutines must become runnable once each, found %d", len(made))
	}
	a := made[0].P
	var seen []reference.Decision // on P a, from reader's system call to the third start
	starts := 0
	for _, d := range s.decisions {
		switch {
		case d.P != a || starts == 3:
		case d.Kind == reference.KindSyscall && s.name(d.G) == "reader", d.Kind == reference.KindRetake, d.Kind == reference.KindHandoff,
			d.Kind == reference.KindStart && slices.Contains([]string{"first", "second", "third"}, s.name(d.G)):
			seen = append(seen, d)
			if d.Kind == reference.KindStart {
				starts++
			}
		}
	}
	want := []struct {
		kind  reference.Kind
		name  string
		src   reference.Source
		local int32
	}{
		{reference.KindSyscall, "reader", 0, 3},
		{reference.KindRetake, "reader", 0, 3},
		{reference.KindHandoff, "", 0, 3},
		{reference.KindStart, "third", reference.SrcRunnext, 2},
		{reference.KindStart, "first", reference.SrcLocal, 1},
		{reference.KindStart, "second", reference.SrcLocal, 0},
	}
	if len(seen) != len(want) {
		s.Fatalf("on P%d must be: reader's system call, retake, handoff, three starts; found %v", a, seen)
	}
	for i, w := range want {
		if d := seen[i]; d.Kind != w.kind || s.name(d.G) != w.name || d.Src != w.src || d.Local != w.local {
			s.Errorf("step %d must be %v of %q from %v with %d then in P%d's queue; found %v of %q from %v with %d",
				i+1, w.kind, w.name, w.src, w.local, a, d.Kind, s.name(d.G), d.Src, d.Local)
		}
	}
	if all := s.of(reference.KindRetake); all[0].P != a || all[0].Why != reference.WhyRetakeSlow || all[0].Time != seen[1].Time {
		s.Errorf("the first retake must be that of P%d by sysmon, found P%d, %v", a, all[0].P, all[0].Why)
	}
	syscall, handoff := seen[0], seen[2]
	if handoff.Why != reference.WhyRetakeSlow || handoff.M == syscall.M {
		s.Errorf("P%d, taken by sysmon, must be handed to another thread than reader's %d; found thread %d, because of %v", a, syscall.M, handoff.M, handoff.Why)
	}
	for _, d := range seen[3:] {
		if d.M != handoff.M {
			s.Errorf("%s must start on thread %d, which got the P; found thread %d", s.name(d.G), handoff.M, d.M)
		}
	}
	for _, d := range s.of(reference.KindSyscallExit, "reader") {
		if d.Time < seen[5].Time {
			s.Errorf("reader must be in its system call until the three have started, found its return at %d ns", d.Time)
		}
	}
}

func (s *scenario) preemptSmall() {
	turn := []string{"third", "first", "second"}
	preempted := map[string]int{}
	for _, d := range s.of(reference.KindPreempt, turn...) {
		preempted[s.name(d.G)]++
		if d.Why != reference.WhySlice {
			s.Errorf("%s must be preempted at the end of its slice only, found %v at %d ns", s.name(d.G), d.Why, d.Time)
		}
	}
	for _, name := range turn {
		s.atLeast(preempted[name], 3, "preemptions of %s", name)
	}
	for _, d := range s.of(reference.KindReady, turn...) {
		switch d.Why {
		case reference.WhySlice:
			if d.To != reference.QueueGlobal {
				s.Errorf("%s, preempted, must go to the global queue, found %v at %d ns", s.name(d.G), d.To, d.Time)
			}
		case reference.WhyCreate:
			if d.To != reference.QueueRunnext {
				s.Errorf("%s, created, must go to runnext, found %v", s.name(d.G), d.To)
			}
		default:
			s.Errorf("%s must become runnable by creation and preemption only, found %v", s.name(d.G), d.Why)
		}
	}
	first := []reference.Source{reference.SrcRunnext, reference.SrcLocal, reference.SrcLocal}
	n := 0
	for _, d := range s.decisions {
		if !slices.Contains(turn, s.name(d.G)) {
			continue
		}
		if d.Kind == reference.KindStop && d.Why == reference.WhyExit {
			break // one fewer from here on
		}
		if d.Kind != reference.KindStart {
			continue
		}
		if want := turn[n%3]; s.name(d.G) != want {
			s.Errorf("start %d must be of %s, found %s", n+1, want, s.name(d.G))
		}
		if n < 3 && d.Src != first[n] {
			s.Errorf("start %d must be from %v, found %v", n+1, first[n], d.Src)
		}
		if n >= 3 && d.Src != reference.SrcLocal && d.Src != reference.SrcGlobal && d.Src != reference.SrcGlobalTick {
			s.Errorf("start %d must be from the global queue, or the ring by a batch from it; found %v", n+1, d.Src)
		}
		n++
	}
	s.atLeast(n, 12, "starts in turn")
}

func (s *scenario) overflow() {
	number := map[int64]int{}
	for i, d := range s.of(reference.KindReady, "worker") {
		number[d.G] = i + 1
		if d.To != reference.QueueRunnext || d.Why != reference.WhyCreate {
			s.Errorf("worker %d must be created into runnext, found %v because of %v", i+1, d.To, d.Why)
		}
		// The one that it displaces is put into the ring after it.
		want := max(i, 1)
		if i >= 258 {
			want -= 129
		}
		s.want(int(d.Local), want, "length of the local queue when worker %d is created", i+1)
	}
	s.want(len(number), 300, "workers")
	over := s.of(reference.KindOverflow)
	if len(over) != 1 || over[0].Batch != 129 || number[over[0].G] != 257 {
		s.Errorf("there must be one overflow, of 129 with worker 257 as the last, found %v", over)
	}
	var moved []int
	for _, d := range because(s.of(reference.KindMove, "worker"), reference.WhyOverflow) {
		moved = append(moved, number[d.G])
	}
	var local, global []int
	for n := 1; n <= 128; n++ {
		global = append(global, n)
	}
	global = append(global, 257)
	if !slices.Equal(moved, global) {
		s.Errorf("workers 1 to 128 and 257 must move to the global queue, in this order; found %v", moved)
	}
	local = append(local, 300)
	for n := 129; n <= 299; n++ {
		if n != 257 {
			local = append(local, n)
		}
	}
	// The starts: all local ones first, except for each 61st slice.
	sources := firstErrors{s: s, what: "source and order of the starts"}
	var ticks []int
	slicesBegun := 0 // since the first worker, of any goroutine
	batched := false
	began := false
	for _, d := range s.of(reference.KindStart) {
		n := number[d.G]
		if n > 0 && !began {
			began = true
			s.want(int(d.Local), 170, "length of the local queue after the first start")
		}
		if !began {
			continue
		}
		if d.Flags&reference.FlagInherits == 0 {
			slicesBegun++
		}
		if d.Src == reference.SrcGlobalTick && len(local) > 0 {
			ticks = append(ticks, slicesBegun)
		}
		if n == 0 {
			continue // the scavenger or main
		}
		if len(local) > 0 && n == local[0] {
			want := reference.SrcLocal
			if n == 300 {
				want = reference.SrcRunnext
			}
			if d.Src != want {
				sources.errorf("worker %d must start from %v, found %v", n, want, d.Src)
			}
			local = local[1:]
			continue
		}
		if len(global) == 0 || n != global[0] {
			sources.errorf("worker %d starts out of turn", n)
			continue
		}
		switch {
		case len(local) > 0:
			if d.Src != reference.SrcGlobalTick {
				sources.errorf("worker %d, before the ring is empty, must start at the 61st tick, found %v", n, d.Src)
			}
		case !batched:
			batched = true
			if d.Src != reference.SrcGlobal && d.Src != reference.SrcGlobalTick {
				sources.errorf("worker %d, the ring being empty, must start from the global queue, found %v", n, d.Src)
			}
			if d.Src == reference.SrcGlobal && int(d.Batch) < len(global) {
				sources.errorf("worker %d's batch must hold all %d that are left, found %d", n, len(global), d.Batch)
			}
			batched = d.Src == reference.SrcGlobal
		default:
			if d.Src != reference.SrcLocal && d.Src != reference.SrcGlobalTick {
				sources.errorf("worker %d must start from the ring, fetched by the batch; found %v", n, d.Src)
			}
		}
		global = global[1:]
	}
	sources.done()
	s.want(len(local)+len(global), 0, "workers that never start")
	if len(ticks) < 2 || len(ticks) > 3 {
		s.Errorf("two or three picks at the 61st tick must come before the ring is empty, found %d", len(ticks))
	}
	for i := 1; i < len(ticks); i++ {
		s.want(ticks[i]-ticks[i-1], 61, "slices between picks at the 61st tick")
	}
}

func (s *scenario) pingpongStarve() {
	waiting := map[int64]bool{} // yielded to the global queue and not started since
	hops, longest := 0, 0
	var ended []reference.Why         // what ended a row of 300 or more
	gone := map[int64]reference.Why{} // ping or pong, preempted or at its end
	for _, d := range s.decisions {
		name := s.name(d.G)
		switch {
		case d.Kind == reference.KindReady && name == "waiter" && d.Why == reference.WhyGosched:
			if d.To != reference.QueueGlobal {
				s.Errorf("waiter, which yields, must go to the global queue, found %v", d.To)
			}
			waiting[d.G] = true
		case d.Kind == reference.KindStop && (name == "ping" || name == "pong"):
			if d.Why == reference.WhySlice || d.Why == reference.WhyExit {
				gone[d.G] = d.Why
			}
		case d.Kind == reference.KindStart && (name == "ping" || name == "pong"):
			delete(gone, d.G)
			if d.Src == reference.SrcRunnext && d.Flags&reference.FlagInherits != 0 && len(waiting) > 0 {
				hops++
				longest = max(longest, hops)
				continue
			}
			hops = 0
		case d.Kind == reference.KindStart && d.Flags&reference.FlagTracer == 0:
			if hops >= 300 {
				// The one it had just woken still runs, and blocks.
				why := reference.WhyBlock
				for _, w := range gone {
					why = w
				}
				ended = append(ended, why)
			}
			hops = 0
			delete(waiting, d.G)
		}
	}
	s.atLeast(longest, 300, "starts in a row of ping and pong from runnext, in an inherited slice, while a waiter is in the global queue")
	if len(ended) == 0 {
		s.Error("the waiters must run in the end")
	}
	preempted := 0
	for _, why := range ended {
		switch why {
		case reference.WhySlice:
			preempted++
		case reference.WhyExit:
		default:
			s.Errorf("only a preemption at the end of the shared slice, or the end of the game, must let the waiters run; found %v", why)
		}
	}
	s.want(preempted, s.count(func(h *happening) bool {
		return h.isGo("Running", "Runnable") && h.why == "preempted" && (s.name(h.g) == "ping" || s.name(h.g) == "pong")
	}), "rows ended by a preemption, against the preemptions of ping and pong")
	hopped := because(s.of(reference.KindReady, "ping", "pong"), reference.WhyUnblock)
	for _, d := range hopped {
		if d.To != reference.QueueRunnext {
			s.Fatalf("a hop must ready the partner into runnext, found %v at %d ns", d.To, d.Time)
		}
	}
	s.want(len(hopped), s.count(func(h *happening) bool {
		return h.isGo("Waiting", "Runnable") && (s.name(h.g) == "ping" || s.name(h.g) == "pong")
	}), "hops")
}

func (s *scenario) uneven() {
	s.want(len(s.of(reference.KindOverflow)), 0, "overflows")
	at := map[int64]int32{}   // P whose queue holds a worker
	home := map[int64]int32{} // P it was created on
	stolen := map[int64]bool{}
	away, moved, batches := 0, 0, 0
	path := firstErrors{s: s, what: "a worker starts where it was created, or where thieves took it"}
	for _, d := range s.decisions {
		if s.name(d.G) != "worker" {
			continue
		}
		switch d.Kind {
		case reference.KindReady:
			if d.To != reference.QueueRunnext || s.name(d.By) != "spawner" {
				path.errorf("goroutine %d must be created by spawner into runnext, found %v by %s", d.G, d.To, s.name(d.By))
			}
			at[d.G], home[d.G] = d.P, d.P
		case reference.KindSteal:
			batches += int(d.Batch)
			if d.P == d.Victim || d.Batch < 1 || d.Batch > 128 {
				path.errorf("P%d steals %d from P%d at %d ns", d.P, d.Batch, d.Victim, d.Time)
			}
		case reference.KindMove:
			switch d.Why {
			case reference.WhyDisplaced:
			case reference.WhySteal:
				if d.Victim != at[d.G] {
					path.errorf("goroutine %d is stolen from P%d but was on P%d, at %d ns", d.G, d.Victim, at[d.G], d.Time)
				}
				at[d.G] = d.P
				stolen[d.G] = true
				moved++
			default:
				if d.To == reference.QueueDirect {
					break // taken from its own queue, started later
				}
				path.errorf("goroutine %d moves to %v because of %v, at %d ns", d.G, d.To, d.Why, d.Time)
			}
		case reference.KindStart:
			switch d.Src {
			case reference.SrcSteal, reference.SrcStealRunnext:
				if d.Flags&reference.FlagTaken == 0 {
					if d.Victim != at[d.G] {
						path.errorf("goroutine %d is stolen from P%d but was on P%d, at %d ns", d.G, d.Victim, at[d.G], d.Time)
					}
					at[d.G] = d.P
					stolen[d.G] = true
					moved++
				}
			case reference.SrcRunnext, reference.SrcLocal:
			default:
				path.errorf("goroutine %d starts from %v", d.G, d.Src)
			}
			if d.P != at[d.G] {
				path.errorf("goroutine %d starts on P%d from %v but was on P%d, at %d ns", d.G, d.P, d.Src, at[d.G], d.Time)
			}
			if d.P != home[d.G] {
				away++
				if !stolen[d.G] {
					path.errorf("goroutine %d starts away from home and was not stolen", d.G)
				}
			}
		}
	}
	path.done()
	s.want(len(home), 800, "workers")
	s.want(batches, moved, "goroutines in the batches of all steals, against those that moved")
	s.atLeast(away*4, 800, "four times the workers that start on another P")
}

func (s *scenario) forever() {
	ran := map[int64]int64{}
	since := map[int64]int64{}
	preempted := map[int64]int{}
	var total int64
	for _, d := range s.decisions {
		if s.name(d.G) != "forever" {
			continue
		}
		switch d.Kind {
		case reference.KindStart:
			since[d.G] = d.Time
		case reference.KindPreempt:
			preempted[d.G]++
			if d.Why != reference.WhySlice {
				s.Errorf("a forever must be preempted by sysmon only, found %v at %d ns", d.Why, d.Time)
			}
		case reference.KindStop:
			ran[d.G] += d.Time - since[d.G]
			total += d.Time - since[d.G]
			if d.Why != reference.WhySlice && d.Why != reference.WhyExit {
				s.Errorf("a forever must stop by preemption or for good, found %v at %d ns", d.Why, d.Time)
			}
		case reference.KindReady:
			if want := map[reference.Why]reference.Queue{reference.WhyCreate: reference.QueueRunnext, reference.WhySlice: reference.QueueGlobal}[d.Why]; d.To != want {
				s.Errorf("a forever, runnable because of %v, must go to %v, found %v at %d ns", d.Why, want, d.To, d.Time)
			}
		}
	}
	s.want(len(ran), 5, "goroutines that run")
	for g, ns := range ran {
		if fair := total / 5; ns < fair/2 || ns > fair*2 {
			s.Errorf("goroutine %d must run between half and twice its share of %d ns, found %d", g, fair, ns)
		}
		s.atLeast(preempted[g], 2, "preemptions of goroutine %d", g)
	}
	s.want(len(s.of(reference.KindPreempt, "forever")), s.count(func(h *happening) bool {
		return h.isGo("Running", "Runnable") && h.why == "preempted" && s.name(h.g) == "forever"
	}), "preemptions")
}

func (s *scenario) gosched() {
	yields := because(s.of(reference.KindReady, "yielder"), reference.WhyGosched)
	s.want(len(yields), 1600, "yields")
	wrong := firstErrors{s: s, what: "a yield goes to the tail of the global queue"}
	for _, d := range yields {
		if d.To != reference.QueueGlobal || d.P != reference.NoP || d.Global < 1 {
			wrong.errorf("at %d ns to %v of P%d, which then holds %d", d.Time, d.To, d.P, d.Global)
		}
	}
	wrong.done()
	s.want(len(s.of(reference.KindPreempt, "yielder")), 0, "preemptions")
	// Nothing ever readies a yielder into runnext but its creation.
	runnext, batched := 0, 0
	for _, d := range s.of(reference.KindStart, "yielder") {
		switch d.Src {
		case reference.SrcRunnext, reference.SrcStealRunnext:
			runnext++
		case reference.SrcGlobal, reference.SrcGlobalTick:
			batched += int(d.Batch)
		}
	}
	if runnext > 8 {
		s.Errorf("at most the eight creations can be started from runnext, found %d", runnext)
	}
	if batched > 1600+s.procs*2 || batched < 1590 {
		s.Errorf("each of the 1600 yields must be taken from the global queue once, found %d", batched)
	}
}

func (s *scenario) lockedThreads() {
	for _, name := range []string{"ping", "pong"} {
		starts := s.of(reference.KindStart, name)
		s.atLeast(len(starts), 201, "starts of %s", name)
		thread := starts[0].M
		unlocked := firstErrors{s: s, what: "each start of " + name + " but the first, in which it locks itself to the thread, needs a hand-over of the P, and begins a slice"}
		for i, d := range starts {
			if d.M != thread {
				unlocked.errorf("start %d is on thread %d, not %d", i+1, d.M, thread)
			}
			if locked := d.Flags&reference.FlagLocked != 0; locked != (i > 0) {
				unlocked.errorf("start %d at %d ns: locked %v", i+1, d.Time, locked)
			} else if locked && d.Flags&reference.FlagInherits != 0 {
				unlocked.errorf("start %d at %d ns inherits the slice", i+1, d.Time)
			}
		}
		unlocked.done()
	}
	for _, d := range s.of(reference.KindStart) {
		if d.Flags&reference.FlagLocked != 0 && s.name(d.G) != "ping" && s.name(d.G) != "pong" {
			s.Errorf("only ping and pong are locked, found goroutine %d (%s) at %d ns", d.G, s.class[d.G], d.Time)
		}
	}
	s.atLeast(len(because(s.of(reference.KindHandoff), reference.WhyLocked)), 200, "hand-overs of a P for a locked thread")
}

func (s *scenario) mutex() {
	yields := because(s.of(reference.KindReady, "locker"), reference.WhyGoyield)
	s.atLeast(len(yields), 10, "yields to the waiter that got the lock")
	s.want(len(because(s.of(reference.KindPreempt, "locker"), reference.WhyGoyield)), len(yields), "goyields told as such")
	wrong := firstErrors{s: s, what: "the mutex in starvation mode"}
	handed := map[int64]reference.Decision{} // by releaser: the waiter last readied
	due := map[int64]reference.Decision{}    // waiter that has the lock and whose releaser yielded
	for _, d := range s.decisions {
		if s.name(d.G) != "locker" {
			continue
		}
		switch {
		case d.Kind == reference.KindReady && d.Why == reference.WhyUnblock:
			if d.To != reference.QueueRunnext || s.name(d.By) != "locker" {
				wrong.errorf("goroutine %d must be woken by a locker into runnext, found %v by %s at %d ns", d.G, d.To, s.name(d.By), d.Time)
			}
			handed[d.By] = d
		case d.Kind == reference.KindReady && d.Why == reference.WhyGoyield:
			w, ok := handed[d.G]
			if !ok || d.To != reference.QueueLocal || d.P != w.P {
				wrong.errorf("goroutine %d must yield to the tail of the ring of P%d, found %v of P%d at %d ns", d.G, w.P, d.To, d.P, d.Time)
			}
			if ok {
				due[w.G] = w
			}
		case d.Kind == reference.KindStart:
			w, ok := due[d.G]
			delete(due, d.G)
			own := d.Src == reference.SrcRunnext && d.P == w.P
			stolen := d.Src == reference.SrcStealRunnext && d.Victim == w.P
			if ok && !own && !stolen {
				wrong.errorf("goroutine %d, handed the lock on P%d, must start from its runnext; found %v on P%d at %d ns", d.G, w.P, d.Src, d.P, d.Time)
			}
		}
	}
	wrong.done()
	// What else stops a locker by preemption is sysmon.
	events := s.count(func(h *happening) bool {
		return h.isGo("Running", "Runnable") && h.why == "preempted" && s.name(h.g) == "locker"
	})
	s.want(len(because(s.of(reference.KindPreempt, "locker"), reference.WhySlice)), events-len(yields), "preemptions at the end of a slice")
}

func (s *scenario) blockingSyscalls() {
	retakes := because(s.of(reference.KindRetake), reference.WhyRetakeSlow)
	s.want(len(retakes), s.count((*happening).isRetake), "retakes by sysmon")
	s.atLeast(len(retakes), 200, "retakes by sysmon")
	for _, d := range retakes {
		if s.name(d.G) != "caller" && s.name(d.G) != "main" {
			s.Errorf("a P must be retaken from a caller in its system call, found goroutine %d (%s) at %d ns", d.G, s.class[d.G], d.Time)
		}
	}
	// A P with work of its own, or with work in the global queue, is handed off.
	owed := map[int32]reference.Decision{}
	wrong := firstErrors{s: s, what: "a P retaken with work queued is handed off"}
	handoffs := 0
	for _, d := range s.decisions {
		switch {
		case d.Kind == reference.KindRetake && d.Why == reference.WhyRetakeSlow:
			owed[d.P] = d
		case d.Kind == reference.KindHandoff && d.Why == reference.WhyRetakeSlow:
			r, ok := owed[d.P]
			if !ok {
				wrong.errorf("P%d is handed off at %d ns but was not retaken", d.P, d.Time)
			} else if d.M == r.M {
				wrong.errorf("P%d is handed to thread %d, in the system call, at %d ns", d.P, d.M, d.Time)
			}
			delete(owed, d.P)
			handoffs++
		case d.Kind == reference.KindPStart:
			if r, ok := owed[d.P]; ok && r.Local > 0 {
				wrong.errorf("P%d, retaken at %d ns with %d queued, gets thread %d at %d ns", d.P, r.Time, r.Local, d.M, d.Time)
			}
			delete(owed, d.P)
		}
	}
	wrong.done()
	s.atLeast(handoffs, 200, "handoffs after a retake")
	s.want(len(s.of(reference.KindSyscall, "caller")), s.count(func(h *happening) bool {
		return h.isGo("Running", "Syscall") && s.name(h.g) == "caller"
	}), "system calls")
}

func (s *scenario) putTake() {
	wrong := firstErrors{s: s, what: "a channel wakes its counterpart into runnext"}
	for _, d := range because(s.of(reference.KindReady, "put", "take"), reference.WhyUnblock) {
		if d.To != reference.QueueRunnext || s.name(d.By) == s.name(d.G) || s.name(d.By) != "put" && s.name(d.By) != "take" {
			wrong.errorf("goroutine %d (%s) to %v by %s at %d ns", d.G, s.name(d.G), d.To, s.name(d.By), d.Time)
		}
	}
	wrong.done()
	s.want(len(because(s.of(reference.KindReady, "put"), reference.WhyCreate)), 100, "puts")
	s.want(len(because(s.of(reference.KindReady, "take"), reference.WhyCreate)), 300, "takes")
	over := s.of(reference.KindOverflow)
	switch {
	case s.procs == 1:
		// The 258th and the 387th creation find the ring full.
		s.want(len(over), 2, "overflows of the 400 created in a row")
	case len(over) > 2:
		s.Errorf("at most two overflows are possible, found %d", len(over))
	}
}

func (s *scenario) thousand() {
	over := s.of(reference.KindOverflow)
	moved := because(s.of(reference.KindMove, "worker"), reference.WhyOverflow)
	s.want(len(moved), 129*len(over), "workers moved by %d overflows", len(over))
	if s.procs == 1 {
		// Creation 258, and from there each 129th.
		s.want(len(over), (1000-258)/129+1, "overflows")
		s.want(int(s.of(reference.KindStart, "worker")[0].Global), 129*len(over)+s.scavenged(), "length of the global queue at the first start")
	} else {
		s.atLeast(len(over), 2, "overflows")
		s.atLeast(len(s.of(reference.KindGlobalBatch, "worker")), 2, "batches from the global queue")
	}
	used := map[int32]int{}
	for _, d := range s.of(reference.KindStart, "worker") {
		used[d.P]++
	}
	s.want(len(used), s.procs, "Ps that start workers")
}

// scavenged counts goroutines of the runtime that sysmon had put into the
// global queue when the first worker started and that had not run yet.
func (s *scenario) scavenged() int {
	waiting := map[int64]bool{}
	for i := range s.events {
		h := &s.events[i]
		switch {
		case h.isGo("Waiting", "Runnable") && h.byP == reference.NoP:
			waiting[h.g] = true
		case h.isGo("Runnable", "Running"):
			if s.name(h.g) == "worker" {
				return len(waiting)
			}
			delete(waiting, h.g)
		}
	}
	return 0
}

func (s *scenario) thousandByThousand() {
	over := s.of(reference.KindOverflow)
	moved := because(s.of(reference.KindMove, "leaf", "parent"), reference.WhyOverflow)
	s.atLeast(len(over), 50, "overflows")
	for _, d := range because(s.of(reference.KindReady, "leaf", "parent"), reference.WhyCreate) {
		if d.To != reference.QueueRunnext {
			s.Fatalf("goroutine %d must be created into runnext, found %v", d.G, d.To)
		}
	}
	s.want(len(moved), 129*len(over), "goroutines moved by %d overflows", len(over))
	s.atLeast(len(s.of(reference.KindGlobalBatch)), 50, "batches from the global queue")
	shared := 0 // starts for which a lock or another P's queue was touched
	starts := s.of(reference.KindStart, "leaf")
	for _, d := range starts {
		if d.Src != reference.SrcLocal && d.Src != reference.SrcRunnext {
			shared++
		}
	}
	s.want(len(starts), 20000, "starts of leaves")
	if shared*10 > len(starts) {
		s.Errorf("one start in ten at most must need more than the P's own queue, found %d of %d", shared, len(starts))
	}
}

func (s *scenario) timers() {
	wakes := firstErrors{s: s, what: "timers ready into runnext of the P that runs them"}
	want := map[int64][]int32{} // Ps of the wake-ups of a goroutine, by the events
	for i := range s.events {
		h := &s.events[i]
		if h.byG == reference.NoG && s.ours(h.g) && (h.isGo("Waiting", "Runnable") || h.isGo("NotExist", "Runnable")) {
			want[h.g] = append(want[h.g], h.byP)
		}
	}
	n := 0
	for _, d := range s.of(reference.KindReady, "sleeper", "ticked", "timeout", "fired") {
		if d.Why == reference.WhyCreate && s.name(d.G) != "fired" {
			continue
		}
		n++
		why := reference.WhyTimer
		if s.name(d.G) == "fired" {
			why = reference.WhyCreate
		}
		ps := want[d.G]
		if len(ps) == 0 || d.To != reference.QueueRunnext || d.P != ps[0] || d.Why != why || d.By != reference.NoG {
			wakes.errorf("goroutine %d (%s) at %d ns to %v of P%d because of %v, by %d; events: %v", d.G, s.name(d.G), d.Time, d.To, d.P, d.Why, d.By, ps)
		}
		if len(ps) > 0 {
			want[d.G] = ps[1:]
		}
	}
	wakes.done()
	s.atLeast(n, 200+5+1+50, "goroutines that timers make runnable")
	s.want(len(because(s.of(reference.KindReady, "sleeper"), reference.WhyTimer)), 200, "ends of a sleep")
	s.want(len(s.of(reference.KindStart, "fired")), 50, "starts of fired")
}

func (s *scenario) network() {
	// What the events alone tell: blocked on the network, readied by nobody;
	// direct if the same thread starts it next.
	type wake struct {
		to reference.Queue
		p  int32
	}
	want := map[int64][]wake{}
	blocked := map[int64]bool{}
	directs := 0
	for i := range s.events {
		h := &s.events[i]
		switch {
		case h.isG && h.from == "Running":
			blocked[h.g] = h.to == "Waiting" && h.why == "network"
		case h.isGo("Waiting", "Runnable") && h.byG == reference.NoG && blocked[h.g] && s.ours(h.g):
			w := wake{to: reference.QueueUnknown, p: h.byP}
			if h.byP == reference.NoP {
				w.to = reference.QueueGlobal
			}
			for _, next := range s.events[i+1:] {
				if next.byM == h.byM && (next.isG || next.isP) {
					if next.isGo("Runnable", "Running") && next.g == h.g {
						w.to = reference.QueueDirect
						directs++
					}
					break
				}
			}
			want[h.g] = append(want[h.g], w)
		}
	}
	wrong := firstErrors{s: s, what: "the poller's first goroutine runs directly, the others are queued"}
	for _, d := range because(s.of(reference.KindReady, "client", "serve", "accept"), reference.WhyNetwork) {
		ws := want[d.G]
		if len(ws) == 0 {
			wrong.errorf("goroutine %d is not woken by the poller at %d ns", d.G, d.Time)
			continue
		}
		w := ws[0]
		want[d.G] = ws[1:]
		if w.to != reference.QueueUnknown && d.To != w.to || w.to == reference.QueueUnknown && d.To != reference.QueueLocal && d.To != reference.QueueGlobal {
			wrong.errorf("goroutine %d (%s) goes to %v at %d ns, must be %v (unknown: local or global)", d.G, s.name(d.G), d.To, d.Time, w.to)
		}
	}
	for g, ws := range want {
		if len(ws) > 0 {
			wrong.errorf("%d wake-ups of goroutine %d (%s) by the poller are missing", len(ws), g, s.name(g))
		}
	}
	netpoll := 0
	for _, d := range s.of(reference.KindStart, "client", "serve", "accept") {
		if d.Src == reference.SrcNetpoll {
			netpoll++
		}
	}
	wrong.done()
	s.want(netpoll, directs, "starts out of the poller's hand")
	s.atLeast(netpoll, 50, "starts out of the poller's hand")
}

func (s *scenario) gc() {
	// A mark worker's start is followed by its label on the same thread.
	workers, assists := 0, 0
	reason := map[int64]string{}
	for i := range s.events {
		h := &s.events[i]
		switch {
		case h.isLabel && strings.HasPrefix(h.why, "GC ("):
			workers++
		case h.isGo("Running", "Waiting"):
			reason[h.g] = h.why
		case h.isGo("Waiting", "Runnable") && reason[h.g] == "GC mark assist wait for work":
			assists++
		}
	}
	found := 0
	for _, d := range s.of(reference.KindStart) {
		if d.Src != reference.SrcGCWorker {
			continue
		}
		found++
		if d.Flags&reference.FlagGC == 0 {
			s.Errorf("goroutine %d, started as a mark worker at %d ns, must be told as one", d.G, d.Time)
		}
	}
	s.want(found, workers, "starts of mark workers")
	s.atLeast(found, 2, "starts of mark workers")
	tail := 0
	for _, d := range because(s.of(reference.KindReady, "allocator"), reference.WhySystem) {
		if d.To != reference.QueueLocal {
			s.Errorf("an assist that got its credit must go to the ring's tail, found %v at %d ns", d.To, d.Time)
		}
		tail++
	}
	s.want(tail, assists, "wake-ups of blocked assists")
	sites := 0
	for _, d := range s.of(reference.KindAssistBegin, "allocator") {
		if d.Stack != 0 {
			sites++
		}
	}
	s.atLeast(sites, 1, "assists that say where the goroutine allocated")
	cycles := s.count(func(h *happening) bool { return h.rangeBegin == "GC concurrent mark phase" })
	s.want(len(s.of(reference.KindGCBegin)), cycles, "mark phases")
	s.want(len(s.of(reference.KindGCEnd)), cycles, "ends of mark phases")
	s.want(len(s.of(reference.KindSTWBegin)), s.count(func(h *happening) bool { return strings.HasPrefix(h.rangeBegin, "stop-the-world") }), "stop-the-worlds")
	// Go 1.26 keeps who is preempted for a stop-the-world in runnext.
	to := reference.QueueGlobal
	if s.minor >= 26 {
		to = reference.QueueRunnext
	}
	stw := because(s.of(reference.KindReady), reference.WhySTW)
	s.atLeast(len(stw), 1, "goroutines preempted for a stop-the-world")
	for _, d := range stw {
		if d.To != to {
			s.Errorf("who is preempted for a stop-the-world must go to %v, found %v at %d ns", to, d.To, d.Time)
		}
	}
	for _, d := range because(s.of(reference.KindReady), reference.WhyGC) {
		if d.To != reference.QueueGlobal {
			s.Errorf("who is preempted for the collector must go to the global queue, found %v at %d ns", d.To, d.Time)
		}
	}
}

package truth

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// ready and start are lines of a truth at time t.
func ready(t, g, p int64, to string) Line {
	l := newLine("ready")
	l.T, l.G, l.P, l.To = t, g, p, to
	return l
}

func start(t, g, p int64, src string) Line {
	l := newLine("start")
	l.T, l.G, l.P, l.Src = t, g, p, src
	return l
}

// replayed returns where the goroutines of a truth waited, by "goroutine from".
func replayed(lines []Line) map[string]string {
	out := make(map[string]string)
	r := newReplay()
	for i := range lines {
		r.movesKnown = r.movesKnown || lines[i].K == "move"
	}
	for i := range lines {
		l := &lines[i]
		if l.K != "start" {
			r.line(l, l.T, l.P)
			continue
		}
		h := r.start(l, l.P, l.T, l.T)
		if h.open != math.MaxInt64 {
			out[fmt.Sprint(l.G)] = "open"
			continue
		}
		out[fmt.Sprint(l.G)] = pathString(h.stays, 0)
	}
	return out
}

func TestReplay(t *testing.T) {
	with := func(l Line, change func(*Line)) Line { change(&l); return l }
	full := func() (lines []Line) { // a ring of 256, of goroutines 1000 to 1255
		for i := range int64(256) {
			lines = append(lines, ready(i, 1000+i, 0, toLocal))
		}
		return lines
	}
	for _, c := range []struct {
		name  string
		lines []Line
		want  map[string]string
	}{
		{"a newcomer displaces runnext", []Line{
			ready(1, 1, 0, toRunnext), ready(5, 2, 0, toRunnext), start(7, 2, 0, srcRunnext), start(9, 1, 0, srcLocal),
		}, map[string]string{"2": "+5 runnext P0", "1": "+1 runnext P0, +5 local P0"}},
		{"a steal takes half of the ring when it says so, and starts the last of it later", []Line{
			ready(1, 1, 0, toLocal), ready(2, 2, 0, toLocal), ready(3, 3, 0, toLocal), ready(4, 4, 0, toLocal),
			with(start(10, 2, 1, srcSteal), func(l *Line) { l.K, l.Victim, l.Batch = "steal", 0, 2 }),
			with(start(30, 2, 1, srcSteal), func(l *Line) { l.Victim, l.Batch = 0, 2 }),
			start(35, 1, 1, srcLocal), start(36, 3, 0, srcLocal), start(37, 4, 0, srcLocal),
		}, map[string]string{
			"2": "+2 local P0, +10 direct P1", "1": "+1 local P0, +10 local P1", "3": "+3 local P0", "4": "+4 local P0",
		}},
		{"without the line of the steal, it moves at the start", []Line{
			ready(1, 1, 0, toLocal), ready(2, 2, 0, toLocal), ready(3, 3, 0, toLocal), ready(4, 4, 0, toLocal),
			with(start(30, 2, 1, srcSteal), func(l *Line) { l.Victim, l.Batch = 0, 2 }), start(35, 1, 1, srcLocal),
		}, map[string]string{"2": "+2 local P0", "1": "+1 local P0, +30 local P1"}},
		{"a batch from the global queue", []Line{
			ready(1, 1, 0, toGlobal), ready(2, 2, 0, toGlobal), ready(3, 3, 0, toGlobal),
			with(start(30, 1, 1, srcGlobal), func(l *Line) { l.Batch = 2 }), start(35, 2, 1, srcLocal), start(36, 3, 0, srcTick),
		}, map[string]string{"1": "+1 global", "2": "+2 global, +30 local P1", "3": "+3 global"}},
		{"the 128 in front and the one displaced overflow", append(full(),
			ready(300, 1, 0, toRunnext), ready(301, 2, 0, toRunnext),
			with(newLine("overflow"), func(l *Line) { l.T, l.P, l.Batch = 302, 0, 129 }),
			start(400, 1, 1, srcGlobal), start(401, 1127, 1, srcGlobal), start(402, 1128, 0, srcLocal), start(403, 2, 0, srcRunnext),
		), map[string]string{
			"1": "+300 runnext P0, +301 local P0, +302 global", "1127": "+127 local P0, +302 global",
			"1128": "+128 local P0", "2": "+301 runnext P0",
		}},
		{"a mark worker drains its P", []Line{
			ready(1, 1, 0, toRunnext), with(newLine("drain"), func(l *Line) { l.T, l.P = 5, 0 }), start(9, 1, 1, srcGlobal),
		}, map[string]string{"1": "+1 runnext P0, +5 global"}},
		{"one that was in no batch after all stays where it was", []Line{
			ready(1, 1, 0, toLocal), ready(2, 2, 0, toLocal), ready(3, 3, 0, toLocal), ready(4, 4, 0, toLocal),
			with(start(30, 4, 1, srcSteal), func(l *Line) { l.Victim, l.Batch = 0, 2 }),
			start(40, 1, 0, srcLocal), start(41, 2, 1, srcLocal),
		}, map[string]string{"4": "+4 local P0", "1": "+1 local P0", "2": "+2 local P0, +30 local P1"}},
		{"lines of moves are all that counts", []Line{
			ready(1, 1, 0, toRunnext), ready(2, 2, 0, toRunnext),
			with(newLine("move"), func(l *Line) { l.T, l.G, l.P, l.To = 3, 1, 0, toLocal }),
			with(newLine("move"), func(l *Line) { l.T, l.G, l.To = 4, 1, toDirect }),
			with(newLine("move"), func(l *Line) { l.T, l.G, l.P, l.To = 5, 1, 1, toLocal }),
			with(newLine("move"), func(l *Line) { l.T, l.G, l.To = 6, 1, toGlobal }),
			with(newLine("move"), func(l *Line) { l.T, l.G, l.P, l.To = 7, 1, 2, toDirect }),
			with(start(9, 1, 2, srcGlobal), func(l *Line) { l.Batch = 2 }), start(10, 2, 0, srcRunnext),
		}, map[string]string{
			"1": "+1 runnext P0, +3 local P0, +4 direct P1, +5 local P1, +6 global, +7 direct P2", "2": "+2 runnext P0",
		}},
		{"a start without its becoming runnable", []Line{start(9, 1, 0, srcGlobal)}, map[string]string{"1": "+9 global"}},
		{"run at once", []Line{ready(1, 1, 0, toDirect), start(2, 1, 0, srcNetpoll)}, map[string]string{"1": "+1 direct"}},
		{"a put by nobody knows which P", []Line{ready(1, 1, none, toLocal), start(9, 1, 0, srcLocal)}, map[string]string{"1": "open"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, replayed(c.lines)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestCompareWaiting has one P, one goroutine that waits in its queue, and a
// reconstruction that takes it to the global queue in the middle.
func TestCompareWaiting(t *testing.T) {
	d := func(k reference.Kind, t, g int64, p int32, to reference.Queue) reference.Decision {
		return reference.Decision{Kind: k, Time: t, G: g, Class: int32(g), P: p, To: to, Victim: reference.NoP}
	}
	stream := func(moved bool) []reference.Decision {
		ds := []reference.Decision{
			{Kind: reference.KindProcs, Batch: 2, P: reference.NoP},
			d(reference.KindPStart, 0, reference.NoG, 0, 0), d(reference.KindPStart, 0, reference.NoG, 1, 0),
			d(reference.KindReady, 0, 2, 0, reference.QueueLocal), d(reference.KindStart, 0, 2, 0, 0),
			d(reference.KindReady, 10, 1, 0, reference.QueueRunnext),
		}
		if moved {
			ds = append(ds, d(reference.KindMove, 50, 1, reference.NoP, reference.QueueGlobal))
		}
		return append(ds, d(reference.KindStop, 110, 2, 0, 0), d(reference.KindStart, 110, 1, 0, 0))
	}
	truth := []Line{ready(0, 2, 0, toLocal), start(0, 2, 0, srcLocal), ready(10, 1, 0, toRunnext), start(110, 1, 0, srcLocal)}
	right := CompareWaiting(truth, stream(false))
	// The last line of the truth has it in the ring, with nothing that put it there.
	if want := (Rate{100, 100}); right.Queue != want || right.Place != want || right.Cause != want || right.OpenNs != 0 {
		t.Errorf("right: %+v", right)
	}
	wrong := CompareWaiting(truth, stream(true))
	// P1 is in the scheduler: half of the time in the global queue is scheduler overhead.
	if wrong.Queue != (Rate{40, 100}) || wrong.Cause != (Rate{70, 100}) {
		t.Errorf("wrong: queue %+v, cause %+v", wrong.Queue, wrong.Cause)
	}
	if n := wrong.Causes[Pair{"queueing", "scheduler-overhead"}]; n != 30 {
		t.Errorf("%d ns of queueing are scheduler overhead, want 30: %v", n, wrong.Causes)
	}
	if len(wrong.Lost) != 1 || wrong.Lost[0].G != 1 || wrong.Lost[0].Ns != 30 {
		t.Errorf("lost %+v", wrong.Lost)
	}
	sum := NewWaiting()
	sum.Add(right)
	sum.Add(wrong)
	if sum.Queue != (Rate{140, 200}) || len(sum.Lost) != 1 {
		t.Errorf("sum %+v", sum)
	}
}

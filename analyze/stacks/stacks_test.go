package stacks

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// itself resolves handles for themselves.
var itself = Resolver{
	Frames: func(stack int32) []Frame { return []Frame{{Line: int64(stack)}} },
	Class:  func(handle int32) int32 { return handle },
}

// feed hands decisions to an Accumulator, with their waits, all for the first cause.
func feed(a *Accumulator, ds ...reference.Decision) []ledger.Live {
	woken := int32(0)
	f := ledger.NewFeed(func(b *ledger.Block) {
		var ended []waits.EndedWait
		for i := range b.Decisions {
			if b.Decisions[i].Kind == reference.KindReady {
				woken = b.Decisions[i].Stack
			}
			if n := &b.Notes[i]; b.Decisions[i].Kind == reference.KindStart && n.Was == ledger.Runnable {
				w := waits.EndedWait{From: n.Since, To: b.Decisions[i].Time, At: int32(i), Woken: woken, Begins: true}
				w.Causes[0] = b.Decisions[i].Time - n.Since
				ended = append(ended, w)
			}
		}
		a.Add(b, ended)
	})
	f.AddAll(ds)
	return f.Live()
}

// cycle has a goroutine of a class stop at a stack for 10 ns and wait for ns.
func cycle(at int64, class, stack int32, ns int64) []reference.Decision {
	return []reference.Decision{
		{Time: at, Kind: reference.KindStop, G: 1, By: -1, Class: class, Stack: stack, Why: reference.WhyBlock},
		{Time: at + 10, Kind: reference.KindReady, G: 1, By: 2, Class: class, Stack: stack + 1000, Why: reference.WhyUnblock},
		{Time: at + 10 + ns, Kind: reference.KindStart, G: 1, Class: class, Victim: -1},
	}
}

// What does not fit goes to the others of its class, then to those of all; nothing is
// lost.
func TestBoundedPairs(t *testing.T) {
	a := New(Options{Pairs: 4})
	var ds []reference.Decision
	const classes, perClass = 7, 9
	at := int64(0)
	for class := int32(1); class <= classes; class++ {
		for stack := int32(1); stack <= perClass; stack++ {
			ds = append(ds, cycle(at, class, stack, 5)...)
			at += 20
		}
	}
	open := feed(a, ds...)
	if n := len(a.waiting.accounts); n > 2*4+1 {
		t.Errorf("%d accounts", n)
	}
	r := a.Finish(at, open, itself)
	byClass, all, blocked := map[int32]int64{}, int64(0), int64(0)
	for _, row := range r.Rows {
		byClass[row.Class] += row.Waits
		all += row.WaitNs
		blocked += row.BlockedNs
	}
	if all != classes*perClass*5 || blocked != classes*perClass*10 {
		t.Errorf("%d ns of waiting, %d blocked", all, blocked)
	}
	if byClass[1] != perClass || byClass[2] != perClass || byClass[waits.ClassOthers] == 0 {
		t.Errorf("waits by class: %v", byClass)
	}
}

// A result has the stacks that cover nearly all of the time, one at least of each class,
// and the rest in others.
func TestCoverage(t *testing.T) {
	a := New(Options{})
	var ds []reference.Decision
	at, want := int64(0), map[int32]int64{}
	add := func(class, stack int32, ns int64) {
		ds = append(ds, cycle(at, class, stack, ns)...)
		at += 10 + ns
		want[class] += ns
	}
	add(1, 1, 1_000_000)
	for stack := int32(2); stack < 600; stack++ {
		add(1, stack, 1)
	}
	add(2, 1, 3)
	add(2, 2, 2)
	open := feed(a, ds...)
	r := a.Finish(at, open, itself)
	got, shown := map[int32]int64{}, map[int32]int{}
	for _, row := range r.Rows {
		got[row.Class] += row.WaitNs
		if row.Place == Stopped {
			shown[row.Class]++
		}
	}
	if got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
	if len(r.Rows) > mostRows+2 || shown[1] < 2 || shown[2] < 1 {
		t.Errorf("%d rows, %v by class", len(r.Rows), shown)
	}
	if first := r.Rows[0]; first.WaitNs != 1_000_000 || len(first.Stack) != 1 || r.Frames[first.Stack[0]].Line != 1 {
		t.Errorf("first: %+v", first)
	}
	n := 0
	for _, w := range r.Woken {
		if w.Class == 1 {
			n++
		}
	}
	if first := r.Woken[0]; n != wokenPerClass || first.WaitNs != 1_000_000 || r.Frames[first.Stack[0]].Line != 1001 {
		t.Errorf("%d for class 1, first: %+v", n, first)
	}
}

// A result has so many frames and no more, whatever the stacks are.
func TestBoundedFrames(t *testing.T) {
	deep := itself
	deep.Frames = func(stack int32) (out []Frame) {
		for i := range int64(128) {
			out = append(out, Frame{Line: int64(stack)*128 + i})
		}
		return out
	}
	a := New(Options{})
	var ds []reference.Decision
	for i := range int32(200) {
		ds = append(ds, cycle(int64(i)*20, 1, i+1, 10)...)
	}
	open := feed(a, ds...)
	r := a.Finish(4000, open, deep)
	if len(r.Frames) != mostFrames || len(r.Rows) < 190 {
		t.Errorf("%d frames, %d rows", len(r.Frames), len(r.Rows))
	}
}

// Blocked time is clipped to the window; a wait that began before it is not counted in it.
func TestWindow(t *testing.T) {
	ds := cycle(100, 1, 5, 50) // blocked to 110, waits to 160
	for _, c := range []struct{ from, to, blocked int64 }{
		{0, 0, 10}, {0, 105, 5}, {105, 0, 5}, {103, 108, 5}, {0, 100, 0}, {110, 120, 0},
	} {
		a := New(Options{Part: ledger.Part{From: c.from, To: c.to}})
		open := feed(a, ds...)
		sum := int64(0)
		for _, row := range a.Finish(160, open, itself).Rows {
			sum += row.BlockedNs
		}
		if sum != c.blocked {
			t.Errorf("window %d to %d: blocked %d ns, want %d", c.from, c.to, sum, c.blocked)
		}
	}
	a := New(Options{})
	f := ledger.NewFeed(func(b *ledger.Block) {
		a.Add(b, []waits.EndedWait{{From: 130, To: 160, At: 2, Causes: [waits.NumCauses]int64{30}}})
	})
	f.AddAll(ds)
	if r := a.Finish(160, f.Live(), itself).Rows[0]; r.Waits != 0 || r.WaitNs != 30 {
		t.Errorf("%d waits of %d ns", r.Waits, r.WaitNs)
	}
}

// A wait costs no memory once its stack is known.
func TestAllocates(t *testing.T) {
	a := New(Options{})
	ds := cycle(0, 1, 5, 50)
	b := &ledger.Block{Decisions: ds}
	l := ledger.New()
	l.Annotate(b)
	ended := []waits.EndedWait{{At: 2}}
	a.Add(b, ended)
	if n := testing.AllocsPerRun(100, func() { a.Add(b, ended) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNumCauses(t *testing.T) {
	if n := len(waits.Causes()); n != waits.NumCauses {
		t.Errorf("there are %d causes", n)
	}
}

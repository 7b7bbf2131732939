package work

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// random plays a program that does anything that the grammar of decisions allows, mostly in
// loops.
type random struct {
	*play
	*rand.Rand
	running []int64
	blocked []int64
	next    int64
	starts  []string
	waits   map[string][]wait          // by start function
	does    map[int64]string           // start function, by goroutine
	turns   map[int64]int              // how often it has blocked
	at      map[int64]reference.Reason // of its last wait
	regions map[int64][]int32          // open, by goroutine
	tasks   int64
	swept   []Stretch
	off     []ledger.OffCPUSpan
}

// wait is a place where goroutines block.
type wait struct {
	stack  int32
	reason reference.Reason
}

func newRandom(t *testing.T, seed uint64, steps int) *random {
	r := &random{play: newPlay(t), Rand: rand.New(rand.NewPCG(seed, 0)), next: 1, starts: []string{"main.a", "main.b", "net/http.(*conn).serve"}, waits: map[string][]wait{}, does: map[int64]string{}, turns: map[int64]int{}, at: map[int64]reference.Reason{}, regions: map[int64][]int32{}}
	for _, s := range r.starts {
		r.waits[s] = []wait{
			{r.stack(s, "net.(*conn).Read", pollIn), reference.ReasonNetwork},
			{r.stack(s+":2", "net.(*conn).Write", pollOut), reference.ReasonNetwork},
			{r.stack(s+":3", "runtime.chanrecv1"), reference.ReasonChanReceive},
			{r.stack(s+":4", "main.report", "time.Sleep"), reference.ReasonSleep},
			{r.stack(s+":5", "main.do", "sync.(*Mutex).Lock"), reference.ReasonSync},
		}
	}
	for range steps {
		r.step()
	}
	return r
}

func (r *random) number(n int) int { return r.IntN(n) }

// some removes a goroutine from a list; 0 if it is empty.
func (r *random) some(list *[]int64) int64 {
	if len(*list) == 0 {
		return 0
	}
	i := r.number(len(*list))
	g := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return g
}

func (r *random) place(g int64) wait {
	places := r.waits[r.does[g]]
	return places[r.number(len(places))]
}

// turn returns where a goroutine blocks next: mostly at home, and at a lock or for an answer, in
// turn.
func (r *random) turn(g int64) wait {
	if r.number(10) == 0 {
		return r.place(g)
	}
	places := map[string][2]int{"main.a": {2, 4}, "main.b": {3, 2}, "net/http.(*conn).serve": {0, 2}}[r.does[g]]
	r.turns[g]++
	return r.waits[r.does[g]][places[r.turns[g]%2]]
}

// waiting removes a goroutine that g is to wake from those that are blocked: the first one that waits
// for what g had waited for, or mostly the last one, so that others wait while it is busy.
func (r *random) waiting(g int64) int64 {
	i := len(r.blocked) - 1
	if k := slices.IndexFunc(r.blocked, func(x int64) bool { return r.at[x] == r.at[g] }); k >= 0 && r.number(2) == 0 {
		i = k
	} else if r.number(8) == 0 {
		i = r.number(len(r.blocked))
	}
	x := r.blocked[i]
	r.blocked = slices.Delete(r.blocked, i, i+1)
	return x
}

// step does one thing.
func (r *random) step() {
	r.after(int64(r.number(100)))
	switch g, what := r.some(&r.running), r.number(24); {
	case g == 0 || what == 0 && len(r.does) < 8:
		if g != 0 {
			r.running = append(r.running, g)
		}
		if g = r.some(&r.blocked); g != 0 && what > 0 {
			r.wakeSome(g)
		} else {
			r.born()
		}
	case what == 1 && r.number(3) == 0:
		r.exit(g)
		delete(r.does, g)
	case what < 5:
		r.call(g, r.place(g).stack, int64(r.number(50)))
		r.running = append(r.running, g)
	case what < 10:
		r.instead(g, what)
	case what == 10:
		r.running = append(r.running, g)
		r.mark(g)
	default:
		if len(r.blocked) > r.number(6) { // some stay for long
			r.running = append(r.running, g)
			r.wakeSome(r.waiting(g))
			r.running = slices.DeleteFunc(r.running, func(x int64) bool { return x == g })
		}
		p := r.turn(g)
		r.at[g] = p.reason
		r.stop(g, p.reason, p.stack)
		r.blocked = append(r.blocked, g)
	}
}

// instead has a goroutine do something else than running.
func (r *random) instead(g int64, what int) {
	from, ns := r.now, int64(r.number(60))
	d := reference.Decision{G: g, P: int32(g), Stack: r.place(g).stack}
	both := func(begin, end reference.Kind) {
		d.Kind = begin
		r.add(d)
		d.Kind = end
		r.after(ns).add(d)
	}
	switch what {
	case 5:
		both(reference.KindAssistBegin, reference.KindAssistEnd)
	case 6:
		both(reference.KindSTWBegin, reference.KindSTWEnd)
	case 7:
		r.after(ns)
		r.swept = append(r.swept, Stretch{from, from + int64(r.number(60)), int32(g)})
		slices.SortStableFunc(r.swept, func(x, y Stretch) int { return cmp.Compare(x.To, y.To) })
	case 8:
		r.after(ns)
		r.off = append(r.off, ledger.OffCPUSpan{From: from, To: from + int64(r.number(60)), P: int32(g)})
	default:
		d.Kind, d.Why = reference.KindStop, []reference.Why{reference.WhyGosched, reference.WhySuspend, reference.WhyCoroutine}[r.number(3)]
		r.add(d)
		r.after(ns)
		r.wakeSome(g)
		return
	}
	r.running = append(r.running, g)
}

// mark has a goroutine begin or end a region or any task, or loses a part of the trace.
func (r *random) mark(g int64) {
	switch open := r.regions[g]; r.number(4) {
	case 0:
		label := int32(r.number(3))
		r.regions[g] = append(open, label)
		r.annotate(reference.KindRegionBegin, g, 0, label)
	case 1:
		if n := len(open); n > 0 {
			r.annotate(reference.KindRegionEnd, g, 0, open[n-1])
			r.regions[g] = open[:n-1]
		}
	case 2:
		if r.number(20) == 0 {
			r.add(reference.Decision{Kind: reference.KindLost, G: reference.NoG, Wait: int64(r.number(100))})
			r.running, r.blocked = nil, nil // what they do is not known
			return
		}
		r.tasks++
		r.annotate(reference.KindTaskBegin, g, r.tasks, int32(r.number(3)))
	default:
		r.annotate(reference.KindTaskEnd, g, 1+int64(r.number(int(r.tasks)+1)), 0)
	}
}

func (r *random) wakeSome(g int64) {
	by := int64(0)
	if len(r.running) > 0 && r.number(4) > 0 {
		by = r.running[r.number(len(r.running))]
		r.waking = r.place(by).stack
	}
	r.wake(by, g)
	r.running = append(r.running, g)
}

func (r *random) born() {
	g := r.next
	r.next++
	start := r.starts[r.number(len(r.starts))]
	if r.does[g] = start; len(r.running) == 0 {
		r.begin(g)
	} else {
		by := r.running[r.number(len(r.running))]
		r.create(by, g, start, r.place(by).stack)
	}
	r.running = append(r.running, g)
}

// Random programs do what the rules are about.
func TestRandomReaches(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		r := newRandom(t, seed, 50*int(seed))
		a := New(r.options())
		a.enough = 20
		feed(a, r.ds)
		for _, k := range a.Finish(r.now, r.now, itself).Kinds {
			seen[k.How] = true
			for _, p := range k.Path {
				seen[p.Cause], seen["hops"], seen["via"] = true, seen["hops"] || p.Hops > 0, seen["via"] || p.Via != nil && p.What == "running"
			}
		}
	}
	for _, what := range []string{"cycle", "lifetime", "run", "region", "task", "queue", "hops", "via"} {
		if !seen[what] {
			t.Errorf("no %s", what)
		}
	}
}

// Whatever a program does: paths add up to the units, and their parts to the totals; units of
// a kind on one goroutine do not overlap; a sweep over begins and ends gives the concurrency.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// What rapid draws itself is small too often for loops.
		r := newRandom(t, rapid.Uint64().Draw(rt, "seed"), rapid.SampledFrom([]int{100, 500, 1500}).Draw(rt, "steps"))
		var units []Unit
		o := r.options()
		o.OnUnit = func(u Unit) { units = append(units, u) }
		o.Limits = rapid.SampledFrom([]Limits{{}, {Slowest: 1, Octaves: true, Intervals: 64}}).Draw(rt, "limits")
		a := New(o)
		a.enough = rapid.SampledFrom([]int{20, enoughBlocks}).Draw(rt, "enough")
		a.Swept(r.swept)
		ledger.NewFeed(func(b *ledger.Block) {
			b.CPUs.Off, r.off = r.off, nil
			a.Add(b, nil)
		}).AddAll(r.ds)
		result := a.Finish(r.now, r.now, itself)
		for i := range result.Kinds {
			if check(rt, &result.Kinds[i], units, r.now); o.Slowest > 0 && len(result.Kinds[i].Slowest) > o.Slowest {
				rt.Fatalf("%d units kept with their paths", len(result.Kinds[i].Slowest))
			}
		}
		apart(rt, units)
	})
}

// check holds a kind against its units.
func check(t *rapid.T, k *UnitKind, units []Unit, recorded int64) {
	var count, total, parts int64
	for _, u := range units {
		if u.Kind == k.Name && u.Class == k.Class && u.How.String() == k.How {
			count++
			total += u.To - u.From
		}
	}
	for i := range k.Path {
		parts += k.Path[i].Ns
	}
	if count != k.Count || total != k.TotalNs || parts != total {
		t.Fatalf("%s: %d units of %d ns, parts of %d ns; the kind has %d of %d ns", k.Name, count, total, parts, k.Count, k.TotalNs)
	}
	var inBins, nsInBins, last int64
	for _, b := range k.Bins {
		inBins += b.Count
		ns := int64(0)
		for _, p := range b.Parts {
			ns += p.Ns
		}
		if nsInBins += ns; b.FromNs < last || ns < b.FromNs*b.Count || ns > (b.ToNs-1)*b.Count {
			t.Fatalf("%s: bin [%d, %d) after %d has %d units of %d ns", k.Name, b.FromNs, b.ToNs, last, b.Count, ns)
		}
		last = b.ToNs
	}
	if inBins != count || nsInBins != total {
		t.Fatalf("%s: %d units of %d ns in bins, of %d units of %d ns", k.Name, inBins, nsInBins, count, total)
	}
	if k.Open == 0 && recorded > 0 && math.Abs(k.Concurrency-float64(total)/float64(recorded)) > 1e-9 {
		t.Fatalf("%s: concurrency %v, throughput × latency %v", k.Name, k.Concurrency, float64(total)/float64(recorded))
	}
	for _, s := range k.Slowest {
		sum := int64(0)
		for _, x := range s.Segments {
			sum += x.Ns
		}
		if sum != s.EndNs-s.BeginNs {
			t.Fatalf("%s: segments of %d ns in %+v", k.Name, sum, s)
		}
	}
}

func apart(t *rapid.T, units []Unit) {
	slices.SortStableFunc(units, func(x, y Unit) int {
		return cmp.Or(cmp.Compare(x.G, y.G), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.From, y.From))
	})
	for i := 1; i < len(units); i++ {
		if x, y := units[i-1], units[i]; x.G == y.G && x.Kind == y.Kind && x.How == y.How && x.How != Task && x.To > y.From {
			t.Fatalf("%+v and %+v overlap", x, y)
		}
	}
}

package analyze_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// accumulators are those of step 5 and the detectors' step, each by itself, and all together.
var accumulators = map[string]func() func(d *reference.Decision){
	"waits":     func() func(*reference.Decision) { return ledger.NewFeed(waits.New(waits.Options{}).Add).Add },
	"procs":     func() func(*reference.Decision) { return ledger.NewFeed(procs.New().Add).Add },
	"fairness":  func() func(*reference.Decision) { return ledger.NewFeed(fairness.New().Add).Add },
	"breakdown": func() func(*reference.Decision) { return ledger.NewFeed(breakdown.New(ledger.Part{}).Add).Add },
	"timeline":  func() func(*reference.Decision) { return ledger.NewFeed(picture()).Add },
	"findings":  func() func(*reference.Decision) { return ledger.NewFeed(findings.NewSet(nil).Add).Add },
	"all": func() func(*reference.Decision) {
		found := findings.NewSet(nil)
		return ledger.NewFeed(waits.New(waits.Options{}).Add, procs.New().Add, fairness.New().Add, breakdown.New(ledger.Part{}).Add, picture(), found.Add).Add
	},
}

func picture() func(*ledger.Block) {
	tl := timeline.New(timeline.Options{})
	return func(b *ledger.Block) { tl.Add(b, nil, 0) }
}

// program is a made-up one in its steady state: on each P in turn a goroutine
// wakes another, enters a system call, comes back and blocks; every so often one
// ends and another begins, the P is retaken, or goroutines are stolen.
type program struct {
	add  func(*reference.Decision)
	d    reference.Decision // here, so that it is not allocated
	now  int64
	next int64 // goroutine
	live []int64
	step int
}

const (
	programPs = 4
	programGs = 200
)

func newProgram(add func(*reference.Decision)) *program {
	p := &program{add: add}
	p.do(reference.Decision{Kind: reference.KindProcs, Batch: programPs})
	for id := range int32(programPs) {
		p.do(reference.Decision{Kind: reference.KindPStart, P: id})
	}
	for range programGs {
		p.live = append(p.live, p.next)
		p.next++
	}
	return p
}

func (p *program) do(d reference.Decision) {
	d.Time, d.M, d.By, d.Class = p.now, reference.NoM, reference.NoG, 1+int32(d.G&3)
	if d.Kind != reference.KindSteal && d.Kind != reference.KindMove {
		d.Victim = reference.NoP
	}
	p.d = d
	p.add(&p.d)
	p.now += 100
}

// turn is a goroutine's, from being ready to blocking.
func (p *program) turn() {
	i := p.step
	p.step++
	id, at := int32(i%programPs), i%len(p.live)
	g, other := p.live[at], p.live[(at+7)%len(p.live)]
	to := reference.QueueLocal
	if i%5 == 0 {
		to = reference.QueueGlobal
	}
	p.do(reference.Decision{Kind: reference.KindReady, G: g, P: id, To: to, Local: 1, Why: reference.WhyUnblock})
	from := id
	if i%11 == 0 { // stolen
		id = (id + 1) % programPs
		p.do(reference.Decision{Kind: reference.KindSteal, G: reference.NoG, P: id, Victim: from, Batch: 1})
		p.do(reference.Decision{Kind: reference.KindMove, G: g, P: id, Victim: from, To: reference.QueueLocal, Local: 1, Why: reference.WhySteal})
	}
	p.do(reference.Decision{Kind: reference.KindStart, G: g, P: id, Src: reference.SrcLocal, Wait: 100})
	p.do(reference.Decision{Kind: reference.KindReady, G: other, P: id, To: reference.QueueRunnext, Local: 1, Why: reference.WhyUnblock})
	p.do(reference.Decision{Kind: reference.KindSyscall, G: g, P: id})
	if i%13 == 0 {
		p.do(reference.Decision{Kind: reference.KindRetake, G: reference.NoG, P: id})
		p.do(reference.Decision{Kind: reference.KindPStart, G: reference.NoG, P: id})
	}
	p.do(reference.Decision{Kind: reference.KindSyscallExit, G: g, P: id})
	if i%3 == 0 {
		p.do(reference.Decision{Kind: reference.KindPreempt, G: g, P: id, Why: reference.WhySlice})
	}
	why := reference.WhyBlock
	if i%17 == 0 {
		why = reference.WhyExit
		p.live[at] = p.next
		p.next++
	}
	p.do(reference.Decision{Kind: reference.KindStop, G: g, P: id, Why: why})
	p.do(reference.Decision{Kind: reference.KindStart, G: other, P: id, Src: reference.SrcRunnext, Wait: 100})
	p.do(reference.Decision{Kind: reference.KindStop, G: other, P: id, Why: reference.WhyBlock})
	if i%7 == 0 {
		p.do(reference.Decision{Kind: reference.KindPStop, G: reference.NoG, P: id, Why: reference.WhyIdle})
		p.do(reference.Decision{Kind: reference.KindPStart, G: reference.NoG, P: id})
	}
}

// In the steady state of a program no accumulator allocates. A few allocations
// are let pass, for what grows with the logarithm of time.
func TestAccumulatorsAllocateNothing(t *testing.T) {
	for name, add := range accumulators {
		p := newProgram(add())
		turns := func(n int) {
			for range n {
				p.turn()
			}
		}
		turns(20_000) // what is kept of the past is full
		const n = 2000
		if got := testing.AllocsPerRun(4, func() { turns(n) }); got > n/100 {
			t.Errorf("%s: %v allocations in %d turns of a goroutine", name, got, n)
		}
	}
}

// BenchmarkAccumulators is the cost of a decision of a real trace.
func BenchmarkAccumulators(b *testing.B) {
	for _, trace := range []string{"thousand-by-thousand-go1.26-p4", "blocking-syscalls-go1.26-p4", "real/manygens-io-go1.25-p4"} {
		decisions := decisionsOf(b, filepath.Join("../testdata/traces", trace+".trace.gz"))
		for name, add := range accumulators {
			b.Run(filepath.Base(trace)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					add := add()
					for i := range decisions {
						add(&decisions[i])
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(decisions)), "ns/decision")
			})
		}
	}
}

// decisionsOf reconstructs a trace.
func decisionsOf(tb testing.TB, path string) (out []reference.Decision) {
	tb.Helper()
	src, err := input.Open(tb.Context(), path, input.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	stream := events.New(tb.Context(), src, events.Options{})
	defer stream.Close()
	rec := reconstruct.New(stream.Tables, reconstruct.Options{
		Rules: reference.RulesFor(src.Header().Minor),
		Emit: func(ds []reference.Decision) []reference.Decision {
			out = append(out, ds...)
			return ds[:0]
		},
	})
	for {
		evs, err := stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		rec.Add(evs)
	}
	rec.Finish()
	return out
}

package analyze_test

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// A trace that names a million Ps gives an account of those that are told apart.
func TestMillionPs(t *testing.T) {
	if !tracetest.Long() {
		t.Skip("takes seconds")
	}
	const (
		perBatch = 9_000 // a batch has at most 64 KiB
		idle     = 2
	)
	tr := damage.Parse(tracetest.Recorded(t, "steal-small-go1.26-p2"))
	at := slices.IndexFunc(tr.Blocks, func(b damage.Block) bool { return len(b.Events) > 0 && b.Events[0].Kind >= wire.ProcStatus })
	if at < 0 {
		t.Fatal("no batch of events")
	}
	var more []damage.Block
	for p := uint64(100); p < 1_000_000; {
		b := damage.Block{Kind: tr.Blocks[at].Kind, Gen: tr.Blocks[at].Gen, M: 1<<20 + p, Time: tr.Blocks[at].Time}
		for range perBatch {
			b.Events = append(b.Events, damage.Event{Kind: wire.ProcStatus, Args: []uint64{0, p, idle}})
			p++
		}
		more = append(more, b)
	}
	tr.Blocks = slices.Insert(tr.Blocks, at, more...)
	b := tr.Bytes()
	if len(b) < 4_000_000 {
		t.Fatalf("only %d bytes", len(b))
	}
	res := runDamaged(t, b)
	if res == nil {
		t.Fatal("no result")
	}
	if len(res.Procs.Ps) > ledger.MaxPs || res.Trace.Events < 900_000 {
		t.Errorf("%d Ps, %d events", len(res.Procs.Ps), res.Trace.Events)
	}
}

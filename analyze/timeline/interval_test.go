package timeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// TestIntervalsHaveCauses checks what a run interval says of how it came about and how it ended.
func TestIntervalsHaveCauses(t *testing.T) {
	ds := []reference.Decision{
		{Kind: reference.KindProcs, Batch: 1},
		{Kind: reference.KindPStart},
		{Time: 10, Kind: reference.KindStart, G: 7, M: 4, Class: 1, Wait: 5, Src: reference.SrcLocal},
		{Time: 20, Kind: reference.KindSyscall, G: 7, M: 4, Class: 1, Stack: 30},
		{Time: 30, Kind: reference.KindSyscallExit, G: 7, M: 4, Class: 1},
		{Time: 40, Kind: reference.KindStop, G: 7, Class: 1, Why: reference.WhyBlock, Reason: reference.ReasonChanReceive, Stack: 31},
		{Time: 50, Kind: reference.KindStart, G: 8, M: reference.NoM, Class: 1, Wait: 9, Src: reference.SrcRunnext},
		{Time: 60, Kind: reference.KindStop, G: 8, Class: 1, Why: reference.WhySlice, Stack: 30},
		{Time: 60, Kind: reference.KindStart, G: 8, M: reference.NoM, Class: 1, Wait: 0, Src: reference.SrcGlobal},
		{Time: 70, Kind: reference.KindStop, G: 8, Class: 1, Why: reference.WhyExit},
	}
	behind := slices.Index(waits.Causes(), waits.CauseQueueing)
	ended := []waits.EndedWait{
		{At: 2, By: 3, Woken: 32, Why: reference.WhyUnblock},
		{At: 6, By: reference.NoG, Why: reference.WhyTimer},
		{At: 8, By: reference.NoG, Why: reference.WhySlice},
	}
	ended[0].Causes[behind], ended[0].Causes[(behind+1)%waits.NumCauses] = 3, 2
	ended[1].Causes[behind] = 9
	want := []PInterval{
		{From: 10, To: 20, State: User, G: 7, M: 4, Class: 1, Wait: 5, Src: uint8(reference.SrcLocal), Stop: "syscall", Stack: 1, Cause: waits.CauseQueueing, Woken: "unblock", By: 3, ByStack: 2},
		{From: 20, To: 30, State: Syscall, G: 7, M: 4, Class: 1, Wait: -1},
		{From: 30, To: 40, State: User, G: 7, M: 4, Class: 1, Wait: -1, Stop: "block", BlockedOn: "chan receive", Stack: 3},
		{From: 50, To: 60, State: User, G: 8, Class: 1, Wait: 9, Src: uint8(reference.SrcRunnext), Stop: "slice", Stack: 1, Cause: waits.CauseQueueing, Woken: "timer"},
		{From: 60, To: 70, State: User, G: 8, Class: 1, Src: uint8(reference.SrcGlobal), Stop: "exit", Woken: "slice"},
	}
	frames := func(handle int32) []stacks.Frame { return []stacks.Frame{{Function: fmt.Sprint("f", handle)}} }
	for name, shift := range map[string]int{"whole": 0, "window": 3} {
		t.Run(name, func(t *testing.T) {
			a := New(Options{})
			ledger.NewFeed(func(b *ledger.Block) {
				es := make([]waits.EndedWait, len(ended))
				for i := range ended {
					es[i] = ended[i]
					es[i].At -= int32(shift)
				}
				a.Add(b, es, shift)
			}).AddAll(ds)
			r := a.Finish(80, Names{Frames: frames})
			var got []PInterval
			for _, s := range r.Windows[0].Intervals {
				if s.G >= 0 {
					got = append(got, s)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("run intervals (-want +got):\n%s", d)
			}
			if d := cmp.Diff([][]int32{{}, {0}, {1}, {2}}, r.Stacks); d != "" || len(r.Frames) != 3 || r.Frames[1].Function != "f32" {
				t.Errorf("stacks (-want +got):\n%s\nframes %v", d, r.Frames)
			}
		})
	}
}

package waits

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Who was blocked, ran, and comes back from a system call without a P was not blocked before
// the wait that follows.
func TestBlockedBeforeASystemCall(t *testing.T) {
	a := drive(New(Options{}))
	for _, d := range parse(t, `
		0 gomaxprocs 1
		0 p-start p0
		0 ready g1 local p0
		10 start g1 p0
		20 stop g1 p0 block
		50 ready g1 local p0 unblock
		60 start g1 p0
		70 syscall g1 p0
		80 retake p0 sysmon
		90 syscall-exit g1
		90 ready g1 global syscall-exit
		120 start g1 p0
	`) {
		a.Add(&d)
	}
	r := a.Finish(130, nil)
	if d := cmp.Diff([]BlockedBefore{{Reason: "", Count: 2, WaitNs: 40}, {Reason: "other", Count: 1, WaitNs: 10}}, r.Classes[0].BlockedBefore); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if w := r.Worst[0]; w.WaitNs != 30 || w.BlockedOn != "" || w.BlockedNs != 0 {
		t.Errorf("%+v, want the wait after the call, which follows no block", w)
	}
}

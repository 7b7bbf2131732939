package analyze

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Goroutines count that were in no event of any generation, by where they are.
func TestParked(t *testing.T) {
	sync := events.Event{Kind: events.Sync}
	status := func(g int64, from events.State, stack events.Handle) events.Event {
		return events.Event{Kind: events.Go, Res: g, From: from, To: events.Waiting, TStack: stack}
	}
	blocks := status(4, events.Running, 1)
	var p parked
	p.follow([]events.Event{sync, sync, status(1, events.Undetermined, 1), status(2, events.Undetermined, 1), status(3, events.Undetermined, 2), status(5, events.Undetermined, 3), blocks})
	p.follow([]events.Event{sync, sync, status(1, events.Waiting, 1), status(2, events.Waiting, 1), status(4, events.Waiting, 1), status(5, events.Waiting, 3)})
	f := &findings.Facts{Stack: func(stack int32) []string {
		return [][]string{nil,
			{"runtime.chanrecv1 (runtime/chan.go:1)", "limit.Wait (/go/pkg/mod/limit@v1.0.0/limit.go:1)", "shop.pay (/shop/pay.go:1)", "shop.main (/shop/main.go:1)"},
			{"runtime.chanrecv1 (runtime/chan.go:1)", "shop.pay (/shop/pay.go:2)"},
			{"runtime.gopark (runtime/proc.go:1)", "runtime.bgsweep (runtime/mgcsweep.go:1)"},
		}[stack]
	}}
	if got, want := p.finish(f), []Parked{{In: "limit.Wait", From: "shop.pay", N: 2}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

package html

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

func TestCausesOverTimeAreMeanNumbersOfGoroutines(t *testing.T) {
	r := &analyze.Result{}
	r.Trace.DurationNs = 2500
	r.Waits.OverTime = waits.OverTime{BinNs: 1000, Causes: []waits.CauseSeries{{Cause: waits.CauseQueueing, Ns: []int64{3000, 0, 1000}}}}
	ls := causeLines(r)
	if len(ls) != 1 || ls[0].Values[0] != 3 || ls[0].Values[1] != 0 || ls[0].Values[2] != 2 {
		t.Errorf("%+v", ls) // the last bin is half as long
	}
}

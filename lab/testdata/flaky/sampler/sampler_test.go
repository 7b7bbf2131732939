package sampler

import (
	"testing"
	"time"
)

func TestSamplesAtInterval(t *testing.T) {
	s := &Sampler{Interval: 5 * time.Millisecond, Gauge: HeapMB}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(203 * time.Millisecond)
	sum := s.Stop()
	if sum.Samples < 32 || sum.Samples > 41 {
		t.Fatalf("%d samples in 200ms at 5ms, want about 40", sum.Samples)
	}
	if sum.Min <= 0 || sum.Mean > sum.Max {
		t.Fatalf("implausible summary %+v", sum)
	}
}

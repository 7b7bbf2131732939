package plausible_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/lab/plausible"
)

// All of these were in reports.
func TestTextRejects(t *testing.T) {
	for _, s := range []string{
		"lock-convoy  costs 3.18 s (13932 % of the program's waiting)",
		"101 % of all P-time",
		"and ran for 20.5 µs instead of 20.5 µs (medians)",
		"what comes after 1236130432 ns was left out",
		"what comes after 1,236,130,432 ns was left out",
		"0.00075 waiting at any time, on average",
		"mean wait  92.1 µs  ± 8 %  17.9 ms  ± 2 %  -46.4 %  -46.2 to -31  0.002",
		"mean wait  92.1 µs  ± ∞  17.9 ms  ± ∞  ~  -",
		"Better: 78 waits of 1 ms or more, up to 12 before the line was empty.",
		"main.client waits 24.9 s, not 24.9 s (24.7 s to 24.9 s in 3 runs)",
		"(24.9 s to 24.9 s in 3 runs)", "went from 12 % to 12 %.", "from 3 to 3",
		"off by +0.0 % in makespan", "-0.0 %", "+0 ns", "± 0 %", "it changed by -0",
		"-130 %", "+465 %", ">100 %", "NaN %", "+Inf", "1e+03/s", "1.2e-05 %", "a share of 0.0003",
		"it could keep 1 Ps busy", "became ready 1 times", "12345678 events",
		"×3.2  ×3.4 to ×5",
	} {
		if got := plausible.Text(s); len(got) == 0 {
			t.Errorf("%q passes", s)
		}
		if got := plausible.HTML("<p>" + s + "</p>"); len(got) == 0 {
			t.Errorf("%q passes in a page", s)
		}
	}
}

func TestTextAccepts(t *testing.T) {
	for _, s := range []string{
		"62 % in line behind goroutines, 100 % of it, <0.1 % and >99.9 % of 1,234 starts",
		"-46.4 %  -52.3 % to -31 %  0.002", "×3.99  ×2.18 to ×4.59", "÷22", "none", "± 8 %", "-100 %", "+99.1 %",
		"Goroutine 22740, strconv.ParseInf, waited 27.6 ms. At 266.50 ms", "main.f (main.go:12345)", "golang/go#13527",
		"becoming 1 time", "11 waits", "v1.26.1 runs", "1.07 times as long", "from 1 ms to 2 ms to 2.5 ms", "0.01 of them", "p 0.002, p <0.001",
		"Scheduling is better: waits went from 78 to 12.", "P0 to P0", "7,123 bytes lost at byte 85082: the trace ends inside a batch", "go1.26 to go1.26.8", "2026-11-21T02:04:52Z", "Tinf", "0 ns", "120 s",
		"for 99 of 100 no more than 2.29 ms", "a-0 b", "  - 0 steals",
	} {
		if got := plausible.Text(s); len(got) > 0 {
			t.Errorf("%q: %q", s, got)
		}
	}
	if got := plausible.HTML("<script>NaN</script><style>x{width:130%}</style><td style='width:130%'>1</td><td>waits</td>"); len(got) > 0 {
		t.Error(got)
	}
}

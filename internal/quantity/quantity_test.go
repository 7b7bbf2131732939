package quantity

import (
	"math"
	"testing"
)

func TestFormats(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ got, want string }{
		{Duration(0), "0 ns"}, {Duration(999), "999 ns"}, {Duration(1_300_000), "1.3 ms"}, {Duration(-1500), "-1.5 µs"},
		{Duration(999_499), "999 µs"}, {Duration(999_500), "1 ms"}, {Duration(119_000_000_000), "119 s"},
		{Duration(120_000_000_000), "2 min"}, {Duration(7_200_000_000_000), "2 h"}, {Duration(-7_200_000_000_000), "-2 h"},
		{FineDuration(0), "0 ns"}, {FineDuration(2_004_000), "2.004 ms"}, {FineDuration(-1500), "-1.5 µs"}, {FineDuration(240e9), "240 s"},
		{Instant(0), "0"}, {Instant(1_234), "1.23 µs"}, {Instant(1_234_567), "1.2346 ms"}, {Instant(12_345_678), "12.35 ms"}, {Instant(1_234_567_890), "1.2346 s"},
		{Percent(0), "0 %"}, {Percent(0.0001), "<0.1 %"}, {Percent(0.0312), "3.1 %"}, {Percent(0.42), "42 %"}, {Percent(0.995), "99.5 %"},
		{Percent(0.9999), ">99.9 %"}, {Percent(1), "100 %"}, {Percent(nan), "-"}, {Percent(inf), "-"},
		{Part(1, 0), "-"}, {Part(1, 4), "25 %"}, {FinePercent(0.00123), "0.123 %"}, {FinePercent(0.00002), "0.002 %"},
		{Times(2), "2×"}, {Factor(2), "×2"}, {Factor(0.01), "÷100"},
		{Change(1.5), "+50 %"}, {Change(0.5), "-50 %"}, {Change(1.0001), "none"}, {Change(2), "×2"}, {Change(0.0001), "÷10,000"}, {Change(nan), "-"}, {Change(-1), "-"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(1234567), "1,234,567"}, {Count(-1234), "-1,234"}, {Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Plural(1, "wait", "waits"), "1 wait"}, {Plural(1000, "wait", "waits"), "1,000 waits"},
		{Amount(1, "goroutine", "goroutines"), "1 goroutine"}, {Amount(1.5, "goroutine", "goroutines"), "1.5 goroutines"},
		{Size(1), "1 byte"}, {Size(1000), "1 kB"}, {Size(18_330_112), "18.3 MB"}, {Size(2_500_000_000), "2.5 GB"},
		{Number(0), "0"}, {Number(0.001), "<0.01"}, {Number(-0.001), "0"}, {Number(1.2345), "1.23"}, {Number(99.949), "99.9"}, {Number(99.95), "100"},
		{Number(12345.6), "12,346"}, {Number(1e12), "over 1,000,000,000,000"}, {Number(nan), "-"},
		{Fine(0.1234), "0.123"}, {Fine(1.234), "1.23"}, {Fine(12.34), "12.3"}, {Fine(123.4), "123"}, {Fine(0.0001), "<0.001"}, {Fine(nan), "-"},
		{Index(0.99), "0.990"}, {Index(nan), "-"},
		{PValue(0.0001), "<0.001"}, {PValue(0.05), "0.050"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if got := Ratio(1, 0); got != 0 {
		t.Errorf("Ratio(1, 0) = %v, want 0", got)
	}
	if got := Ratio(1, 4); got != 0.25 {
		t.Errorf("Ratio(1, 4) = %v, want 0.25", got)
	}
}

func TestNoBreak(t *testing.T) {
	for _, c := range []struct{ s, want string }{
		{"", ""},
		{"51 %", "51\u00a0%"},
		{"+51 %.", "+51\u00a0%."},
		{"a (<0.1 %), and 3.5 ms of 2 s; 1 µs", "a (<0.1\u00a0%), and 3.5\u00a0ms of 2\u00a0s; 1\u00a0µs"},
		{"512 MiB, 18.3 MB", "512\u00a0MiB, 18.3\u00a0MB"},
		{"10 seconds, 3 hosts, 5 msx, 3 s_1, 3 h2", "10 seconds, 3 hosts, 5 msx, 3 s_1, 3 h2"},
		{"of ms, P2 of 4 Ps", "of ms, P2 of 4 Ps"},
		{" % 5 ", " % 5 "},
	} {
		if got := NoBreak(c.s); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.s, got, c.want)
		}
	}
}

func TestBounds(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 999: "999 ns", 1000: "1 µs", 1250: "1.25 µs", 99_900: "99.9 µs", 41_234_567: "41.2 ms", 999_600: "1 ms",
		2_300_000_000: "2.3 s", 120_000_000_000: "2 min", 7_200_000_000_000: "2 h", -5000: "-5 µs", math.MinInt64: "-2,562,048 h",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for f, want := range map[float64]string{0: "0 %", 0.5: "50 %", 0.05: "5 %", 0.0123: "1.2 %", 0.00001: "<0.1 %", 0.994: "99.4 %", 0.99951: ">99.9 %", 0.99999: ">99.9 %", 1: "100 %", math.Inf(1): "-"} {
		if got := Percent(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	for f, want := range map[float64]string{0: "0", 0.00075: "<0.01", 0.0075: "0.01", 0.1: "0.1", 1.07: "1.07", 12.34: "12.3", 1234.5: "1,235", -1234.5: "-1,235", -0.00001: "0", 1e300: "over 1,000,000,000,000", math.NaN(): "-"} {
		if got := Number(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	for f, want := range map[float64]string{0: "-100 %", 0.04: "-96 %", 0.0004: "÷2,500", 0.536: "-46.4 %", 1: "none", 0.99999: "none", 1.00001: "none", 1.5: "+50 %", 2: "×2", 139.32: "×139", math.Inf(1): "-"} {
		if got := Change(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	if one, more := Amount(1.001, "P", "Ps"), Amount(1.2, "P", "Ps"); one != "1 P" || more != "1.2 Ps" {
		t.Errorf("%q, %q", one, more)
	}
}

// TestWindow has times that are the same as far as Instant writes them.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		from, to int64
		a, b     string
	}{
		{1_125_700_000, 2_000_000_000, "1.1257 s", "2.0000 s"},
		{1_125_700_001, 1_125_712_000, "1.125700001 s", "1.125712000 s"},
		{12_345_678, 12_346_000, "12.345678 ms", "12.346000 ms"},
		{1_234, 1_232, "1.234 µs", "1.232 µs"},
		{5, 6, "5 ns", "6 ns"},
	} {
		if a, b := Window(c.from, c.to); a != c.a || b != c.b {
			t.Errorf("%d and %d: %s and %s, want %s and %s", c.from, c.to, a, b, c.a, c.b)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := Median(c.in); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.in, got, c.want)
		}
	}
}

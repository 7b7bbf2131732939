package analyze

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
)

// A gap that is short beside the time before it is not told as one between equal
// times.
func TestDuring(t *testing.T) {
	for want, g := range map[string]events.Gap{
		"for 8.38 µs at 34.2 ms":                {From: 34_200_000, To: 34_208_380},
		"between 39.9 ms and 58.5 ms (18.6 ms)": {From: 39_900_000, To: 58_500_000},
	} {
		if got := during(g); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

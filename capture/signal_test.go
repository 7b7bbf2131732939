package capture

import (
	"runtime"
	"strings"
	"testing"
)

func TestSignals(t *testing.T) {
	asked := 0
	raised := func(reason string, ok bool) Signal {
		return func() (string, bool) { asked++; return reason, ok }
	}
	for _, tt := range []struct {
		name   string
		signal Signal
		asked  int
		reason string
		ok     bool
	}{
		{"any of none", Any(), 0, "", false},
		{"any", Any(raised("a", false), raised("b", true), raised("c", true)), 3, "b", true},
		{"any, but none is", Any(raised("a", false)), 1, "", false},
		{"all of none", All(), 0, "", false},
		{"all", All(raised("a", true), raised("b", true)), 2, "a; b", true},
		{"all, but one is not", All(raised("a", false), raised("b", true)), 2, "", false},
		{"all within any", Any(All(raised("a", true), raised("b", false)), raised("c", true)), 3, "c", true},
	} {
		asked = 0
		reason, ok := tt.signal()
		if ok != tt.ok || ok && reason != tt.reason || asked != tt.asked {
			t.Errorf("%s: %q, %v, asked %d", tt.name, reason, ok, asked)
		}
	}
}

// Goroutines that wait for the only P are runnable.
func TestRunnable(t *testing.T) {
	signal, err := Runnable(20)
	if err != nil {
		t.Skip(err) // Go 1.25
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	done := make(chan struct{})
	for range 50 {
		go func() { <-done }()
	}
	reason, ok := signal()
	if close(done); !ok || !strings.Contains(reason, "goroutines are runnable; the limit is 20") {
		t.Errorf("%q, %v", reason, ok)
	}
	none, _ := Runnable(1 << 40)
	if reason, ok := none(); ok {
		t.Error(reason)
	}
}

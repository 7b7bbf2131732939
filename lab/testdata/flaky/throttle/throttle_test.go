package throttle

import (
	"errors"
	"testing"
	"time"
)

func TestFourthAttemptWithinWindowIsLocked(t *testing.T) {
	g := NewGate(3, 150*time.Millisecond)
	g.SetPassword("root", "correct horse")
	for i, pass := range []string{"123456", "password", "letmein"} {
		if err := g.Login("root", pass); !errors.Is(err, ErrPassword) {
			t.Fatalf("attempt %d: %v, want %v", i+1, err, ErrPassword)
		}
		time.Sleep(20 * time.Millisecond)
	}
	// 60 ms after the first attempt, well within 150 ms.
	if err := g.Login("root", "correct horse"); !errors.Is(err, ErrLocked) {
		t.Fatalf("attempt 4: %v, want %v", err, ErrLocked)
	}
}

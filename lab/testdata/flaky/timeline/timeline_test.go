package timeline

import (
	"testing"
	"time"
)

func TestEventsHappenInOrder(t *testing.T) {
	p := NewPlayer(2)
	var j Journal
	p.Observe(j.See)
	p.Play([]Event{
		{20 * time.Millisecond, "open"},
		{60 * time.Millisecond, "edit"},
		{100 * time.Millisecond, "save"},
		{140 * time.Millisecond, "print"},
		{180 * time.Millisecond, "close"},
	})
	if got, want := j.String(), "[open edit save print close]"; got != want {
		t.Fatalf("journal is %s, want %s", got, want)
	}
}

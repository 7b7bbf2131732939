package mailbox

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestActorAnswersInTime(t *testing.T) {
	a := Spawn(strings.ToUpper)
	defer a.Stop()
	for i := range 10000 {
		m := Message{Body: fmt.Sprintf("message %d", i), Reply: make(chan string, 1)}
		a.Post(m)
		select {
		case got := <-m.Reply:
			if want := strings.ToUpper(m.Body); got != want {
				t.Fatalf("reply %q, want %q", got, want)
			}
		case <-time.After(time.Second):
			t.Fatalf("timeout: no reply to message %d after 1s", i)
		}
	}
}

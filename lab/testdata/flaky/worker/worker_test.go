package worker

import "testing"

type memory struct{ to []string }

func (m *memory) Deliver(to, text string) error {
	m.to = append(m.to, to)
	return nil
}

func TestStopDeliversTheOutbox(t *testing.T) {
	var m memory
	s := NewSender(&m, 8)
	s.Start()
	for _, to := range []string{"ann@example.com", "bob@example.com", "cyd@example.com"} {
		if err := s.Enqueue(Mail{To: to, Subject: "Hello", Body: "How are you?"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(m.to) != 3 {
		t.Fatalf("delivered to %v, want all three", m.to)
	}
}

package supervisor

import (
	"crypto/sha256"
	"os"
	"testing"
	"time"
)

// The test binary is the service when it is started with SERVICE=1.
func TestMain(m *testing.M) {
	if os.Getenv("SERVICE") == "1" {
		err := Serve(os.Stdin, os.Stdout, func() error {
			sum := make([]byte, 32)
			for range 20000 { // its tables
				s := sha256.Sum256(sum)
				copy(sum, s[:])
			}
			return nil
		})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestServiceGetsReady(t *testing.T) {
	s := Service{Path: os.Args[0], Env: []string{"SERVICE=1"}, ReadyTimeout: 150 * time.Millisecond}
	h, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", h.Took)
	if err := h.Stop(); err != nil {
		t.Fatalf("Stop: %v", err)
	}
}

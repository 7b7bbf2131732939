package hostile

import (
	"bytes"
	"runtime"
	"runtime/trace"
	"sync"
)

// Captured returns what a flight recorder has of this process after some work, as
// package capture writes it, and the same damaged. Unlike the inputs it is another
// each time.
func Captured() (sound, damaged []byte, err error) {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := recorder.Start(); err != nil {
		return nil, nil, err
	}
	defer recorder.Stop()
	var out bytes.Buffer
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			for range 100 {
				runtime.Gosched()
			}
		})
	}
	wait.Wait()
	if _, err := recorder.WriteTo(&out); err != nil {
		return nil, nil, err
	}
	damaged = bytes.Clone(out.Bytes())
	for i := len(damaged) / 8; i < len(damaged); i += 1 + len(damaged)/64 {
		damaged[i] ^= 0x55
	}
	return out.Bytes(), damaged[:len(damaged)*7/8], nil
}

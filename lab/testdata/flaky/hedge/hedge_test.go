package hedge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// slow answers after up to max, like a disk does.
type slow struct{ max time.Duration }

func (s slow) Read(key string) (string, error) {
	time.Sleep(rand.N(s.max))
	return "value of " + key, nil
}

func TestReadsFinishInTime(t *testing.T) {
	disk := slow{max: 20 * time.Millisecond}
	r := NewReader(15*time.Millisecond, 6, disk, disk)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for i := range 20 { // some 10 ms each
		key := fmt.Sprintf("k%d", i)
		v, err := r.Read(ctx, key)
		if err != nil {
			t.Fatalf("Read(%s): %v", key, err)
		}
		if v != "value of "+key {
			t.Fatalf("Read(%s) = %q", key, v)
		}
	}
}

package reconstruct

import (
	"reflect"
	"testing"
)

// TestSizes sees to it that what is looked up for each event fills lines of the cache,
// of 64 bytes on most machines.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		of    any
		bytes uintptr
	}{{record{}, 64}, {goroutine{}, 128}, {thread{}, 32}} {
		if typ := reflect.TypeOf(c.of); typ.Size() != c.bytes {
			t.Errorf("a %s has %d bytes, not %d", typ.Name(), typ.Size(), c.bytes)
		}
	}
}

// TestWindow holds the window against the numbers of what was pushed.
func TestWindow(t *testing.T) {
	var w window
	for i := range int64(3 * windowLen) {
		w.push().Time = i
		if i&(i+1) != 0 && i%999 != 0 {
			continue
		}
		oldest := max(0, i+1-windowLen)
		for _, j := range []int64{oldest, (oldest + i) / 2, i} {
			if rec := w.at(j); rec == nil || rec.Time != j {
				t.Fatalf("event %d of %d is not there", j, i)
			}
		}
		if w.at(oldest-1) != nil || w.at(i+1) != nil {
			t.Fatalf("after %d events there are others than the newest %d", i, windowLen)
		}
	}
}

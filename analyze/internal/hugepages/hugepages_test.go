package hugepages

import (
	"testing"
	"unsafe"
)

func TestWhole(t *testing.T) {
	for _, tt := range []struct{ address, n, from, to uintptr }{
		{0, 0, 0, 0},
		{4 * size, size - 1, 0, 0},
		{4 * size, size, 0, size},
		{4 * size, 3*size + 1, 0, 3 * size},
		{4*size + 1, size, size - 1, size - 1},
		{4*size + 1, 2*size - 2, size - 1, size - 1},
		{4*size + 1, 2*size - 1, size - 1, 2*size - 1},
		{4*size - 8192, 2 * size, 8192, size + 8192},
		{4*size + 1, 5, 0, 0},
	} {
		if from, to := whole(tt.address, tt.n); from != tt.from || to != tt.to {
			t.Errorf("%d bytes at %#x: huge pages from %d to %d, want from %d to %d", tt.n, tt.address, from, to, tt.from, tt.to)
		}
	}
}

// What is given can be used from end to end, whatever the kernel says.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, size/24 + 1, 3 * size / 24} {
		s := Make[[3]int64](n)
		if len(s) != n || cap(s) != n {
			t.Fatalf("%d values and room for %d, want %d", len(s), cap(s), n)
		}
		if n > size/24 {
			if into := uintptr(unsafe.Pointer(&s[0])) % size; into >= 24 {
				t.Errorf("%d values begin %d bytes into a huge page", n, into)
			}
		}
		for i := range s {
			if s[i] != [3]int64{} {
				t.Fatalf("value %d of %d is %v", i, n, s[i])
			}
			s[i][2] = int64(i)
		}
		for i := range s {
			if s[i] != [3]int64{0, 0, int64(i)} {
				t.Fatalf("value %d of %d became %v", i, n, s[i])
			}
		}
	}
}

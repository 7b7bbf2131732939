// Package hugepages answers: how does a large table get by with few page faults?
//
// A table of many megabytes that is filled from its beginning on faults for each page, of which
// each takes 3 µs on a virtual machine: once a sixth of the CPU time of analysing a short trace. The Go
// runtime leaves it to the kernel who gets huge pages, and most kernels give them to those who ask.
//
// It serves this module and is not stable: see package gmpscope.
package hugepages

import "unsafe"

// size is that of a huge page on amd64 and arm64. Elsewhere less of a table may be in such.
const size = 2 << 20

// Make returns a slice of n zero values, in huge pages as far as the kernel gives any. What
// is never reached takes no memory but for the rest of a page.
func Make[T any](n int) []T {
	one := unsafe.Sizeof(*new(T))
	if uintptr(n)*one < size {
		return make([]T, n)
	}
	all := make([]T, n+int(size/one)+1) // so that it can begin with a huge page
	advise(all)
	from, _ := whole(uintptr(unsafe.Pointer(unsafe.SliceData(all))), uintptr(len(all))*one)
	first := int((from + one - 1) / one)
	return all[first : first+n : first+n]
}

// whole returns where the huge pages begin and end that lie in n bytes at an address, as
// offsets from it.
func whole(address, n uintptr) (from, to uintptr) {
	from = -address % size
	if from > n {
		return 0, 0
	}
	return from, from + (n-from)/size*size
}

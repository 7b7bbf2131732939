package hugepages

import (
	"syscall"
	"unsafe"
)

// advise asks for huge pages for s.
func advise[T any](s []T) {
	at := unsafe.SliceData(s)
	n := uintptr(len(s)) * unsafe.Sizeof(*at)
	if from, to := whole(uintptr(unsafe.Pointer(at)), n); from < to {
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(at)), n)[from:to], syscall.MADV_HUGEPAGE) // without them all works as well
	}
}

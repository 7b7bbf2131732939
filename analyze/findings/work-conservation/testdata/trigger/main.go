// Trigger runs all of its threads on one CPU, though it has two Ps, as in a
// container that was given less than it thinks. One goroutine works without
// pause and hands out small tasks now and then.
//
// Each time the runtime wakes the second P for a task that waits. Its thread,
// however, gets the CPU only when the kernel takes it from the first, and until
// then the P is idle beside work that it could do. The trace cannot tell whose
// fault that is; so the finding may be a mild one.
//
//gmpscope:case procs=2 go=go1.26.8 want=work-conservation may=process-stopped,starvation,os-preemption,convoy,late-preemption,handoff-latency
package main

import (
	"log"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	oneCPU()
	rec.Start()
	var wg sync.WaitGroup
	for over := time.Now().Add(500 * time.Millisecond); time.Now().Before(over); {
		for i := 0; i < 4; i++ {
			wg.Add(1)
			go task(&wg)
		}
		rec.Work(5000)
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	rec.Stop()
}

func task(wg *sync.WaitGroup) {
	rec.Work(300)
	wg.Done()
}

// oneCPU binds all threads of the process to the first CPU that they may use.
// Threads that come later inherit that from their creator.
func oneCPU() {
	var mask [16]uint64
	affinity := func(call uintptr, thread int) {
		if _, _, errno := syscall.RawSyscall(call, uintptr(thread), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); errno != 0 {
			log.Fatal(errno)
		}
	}
	affinity(syscall.SYS_SCHED_GETAFFINITY, 0)
	first := true
	for i, word := range mask {
		mask[i] = 0
		if first && word != 0 {
			mask[i] = word & -word
			first = false
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		log.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			log.Fatal(err)
		}
		affinity(syscall.SYS_SCHED_SETAFFINITY, id)
	}
}

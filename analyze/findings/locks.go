package findings

import "strings"

// lockWaits are the functions in which a goroutine waits for a lock: Go 1.22 to
// 1.27 show them in the stack of such a block (ReasonSync); they tell it from
// waits for a WaitGroup and the like.
var lockWaits = [...]string{
	"sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock", "internal/poll.(*fdMutex).rwlock",
}

// IsLock reports whether a frame, as [Facts.Frames] writes it, is of a function that
// waits for a lock.
func IsLock(frame string) bool {
	name, _, _ := strings.Cut(frame, " ")
	for _, f := range lockWaits {
		if name == f {
			return true
		}
	}
	return false
}

// IsOnce reports whether a frame is of a sync.Once, where all callers wait for the first.
func IsOnce(frame string) bool { return strings.HasPrefix(frame, "sync.(*Once)") }

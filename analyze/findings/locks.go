package findings

import (
	"slices"
	"strings"
)

// lockWaits are the functions in which a goroutine waits for a lock: Go 1.22 to
// 1.27 show them in the stack of such a block (ReasonSync); they tell it from
// waits for a WaitGroup and the like.
var lockWaits = []string{
	"sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock", "internal/poll.(*fdMutex).rwlock",
}

// IsLock reports whether a goroutine that blocks at a stack, given as lines like those of
// [Facts.Frames], waits for a sync.Mutex, a sync.RWMutex or the lock of a file.
func IsLock(frames []string) bool { return Through(frames, lockWaits...) }

// IsOnce reports whether a stack, given as lines like those of [Facts.Frames], goes through
// sync.Once, where all callers wait for the first.
func IsOnce(frames []string) bool {
	return slices.ContainsFunc(frames, func(s string) bool { return strings.HasPrefix(s, "sync.(*Once)") })
}

package capture

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
)

// quota keeps what a CPU quota has done so far, at several times of the window: the trace
// of the window begins near the first of them.
type quota struct {
	mu      sync.Mutex
	process *sidecar.Process
	counted []sidecar.Counted // oldest first
}

// samples is how often the quota is looked at in a window.
const samples = 8

// count looks at the quota, if it was not just now, and forgets what was before the window.
func (q *quota) count(now time.Time, window time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.counted); n > 0 && now.UnixNano()-q.counted[n-1].AtNs < int64(window)/samples {
		return
	}
	for len(q.counted) > 1 && now.UnixNano()-q.counted[0].AtNs > int64(window) {
		q.counted = q.counted[1:]
	}
	if c, ok := q.process.Count(); ok {
		q.counted = append(q.counted, c)
	}
}

// meta describes the process for a trace of the window that ends now, and the request that it is about.
func (r *Recorder) meta(now time.Time, about *sidecar.SlowRequest) *sidecar.Meta {
	r.quota.count(now, r.o.Window)
	r.quota.mu.Lock()
	defer r.quota.mu.Unlock()
	var before sidecar.Counted
	if len(r.quota.counted) > 0 {
		before = r.quota.counted[0]
	}
	m := r.quota.process.Meta(before)
	m.GOOS, m.GOARCH, m.GOMAXPROCS, m.Labels = runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), r.o.Labels
	m.Request = about
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		m.MemoryLimit = limit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.Built(info)
	}
	return m
}

// writeMeta writes the file beside a trace; the trace is worth more, so it may fail.
func writeMeta(trace string, m *sidecar.Meta) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = os.WriteFile(trace+sidecar.Suffix, append(text, '\n'), 0o600)
	}
	if err != nil {
		os.Remove(trace + sidecar.Suffix)
	}
}

package kernel

import (
	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/reference"
)

// Ways on which a woken thread came to run a goroutine.
const (
	pathAll = iota
	pathSteal
	pathHandoff
	numPaths
)

var pathNames = [numPaths]string{"start", "steal", "handoff"}

// longestPartNs is the longest part of a path that is told apart.
const longestPartNs = 1_000_000_000

type path struct {
	count int64
	parts [3]*histogram.Histogram // decided, woken, ran
}

// add returns the end of each part and the beginning of the first, ns of the trace.
func (p *path) add(from, asked, onCPU, ran int64) {
	if p.count == 0 {
		for i := range p.parts {
			p.parts[i] = histogram.New(longestPartNs)
		}
	}
	p.count++
	p.parts[0].Add(max(0, asked-from))
	p.parts[1].Add(onCPU - asked)
	p.parts[2].Add(max(0, ran-onCPU))
}

// firstStart books the parts of a wake-up, when its thread k starts its first goroutine.
// What had become runnable after the thread was woken did not have it woken.
func (m *Accumulator) firstStart(k *task, d *reference.Decision) {
	if !k.fresh || k.wokenAt == never || m.counted(m.now, m.now+1) == 0 {
		return
	}
	latest := k.wokenAt + m.r.ResolutionNs()
	if from := m.now - d.Wait; d.Wait >= 0 && from <= latest {
		m.paths[pathAll].add(from, k.wokenAt, k.onCPU, m.now)
		if d.Src == reference.SrcSteal {
			m.paths[pathSteal].add(from, k.wokenAt, k.onCPU, m.now)
		}
	}
	if k.handed != never && k.handed <= latest {
		m.paths[pathHandoff].add(k.handed, k.wokenAt, k.onCPU, m.now)
	}
}

func (m *Accumulator) wakePaths() []WakePath {
	out := []WakePath{}
	for i := range m.paths {
		p := &m.paths[i]
		if p.count == 0 {
			continue
		}
		var parts [3]WakePart
		for j, h := range p.parts {
			q := h.HDR()
			parts[j] = WakePart{P50Ns: q.ValueAtQuantile(50), P99Ns: q.ValueAtQuantile(99)}
		}
		out = append(out, WakePath{Kind: pathNames[i], Count: p.count, Decided: parts[0], Woken: parts[1], Ran: parts[2]})
	}
	return out
}

package html

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// maxProcessName bounds the name of a process, in characters.
const maxProcessName = 60

// packedCPUs is who had the CPUs. Processes are as in [timeline.CPUs].
type packedCPUs struct {
	BinNs     int64    `json:"bin"`
	CPUs      []int32  `json:"ids"`
	Off       []int32  `json:"off"` // Ps that have a row of the time off the CPUs
	Processes []string `json:"names"`
	Lacks     []string `json:"lacks"` // why a thread was on no CPU, by number
}

// packCPUs adds the shares of the CPUs; nil if there are no records of the kernel's.
func packCPUs(b *block, c *timeline.CPUs, cells int) *packedCPUs {
	if c == nil {
		return nil
	}
	f := max(1, ((3*len(c.Lanes)+len(c.Off))*c.Bins+cells-1)/cells) // bins to merge into one
	p := &packedCPUs{BinNs: c.BinNs * int64(f), CPUs: []int32{}, Off: []int32{}}
	for i, l := range c.Lanes {
		p.CPUs = append(p.CPUs, l.CPU)
		b.u8(fmt.Sprintf("cpu%d.program", i), meanBytes(l.Program, f))
		b.u8(fmt.Sprintf("cpu%d.others", i), meanBytes(l.Others, f))
		b.u8(fmt.Sprintf("cpu%d.gap", i), meanBytes(l.Unknown, f))
	}
	for i, x := range c.Off {
		p.Off = append(p.Off, x.P)
		b.u8(fmt.Sprintf("off%d", i), meanBytes(x.Off, f))
	}
	for _, l := range lacks {
		p.Lacks = append(p.Lacks, l.words)
	}
	for _, s := range c.Processes {
		p.Processes = append(p.Processes, words.Cut(words.Visible(s), maxProcessName))
	}
	return p
}

// packOccupants adds who was on the CPUs in a window, by CPU and time, and who was off them, by
// P and time. Times are relative to the window's start.
func packOccupants(b *block, pre string, w timeline.Window) {
	if len(w.OnCPU)+len(w.OffCPU) == 0 {
		return
	}
	b.ints(pre+"on.cpu", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return int64(x.CPU) }))
	b.ints(pre+"on.from", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return x.From - w.FromNs }))
	b.ints(pre+"on.len", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return x.To - x.From }))
	b.ints(pre+"on.m", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return x.M }))
	b.ints(pre+"on.process", column(w.OnCPU, func(x *timeline.OnCPU) int64 { return int64(x.Process) }))
	b.ints(pre+"off.p", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return int64(x.P) }))
	b.ints(pre+"off.from", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return x.From - w.FromNs }))
	b.ints(pre+"off.len", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return x.To - x.From }))
	b.ints(pre+"off.cpu", column(w.OffCPU, func(x *timeline.OffCPU) int64 { return int64(x.CPU) }))
	b.ints(pre+"off.why", column(w.OffCPU, func(x *timeline.OffCPU) int64 {
		return int64(max(0, slices.IndexFunc(lacks, func(l lack) bool { return l.why == x.Why })))
	}))
}

// lacks say why a thread was on no CPU, by [timeline.OffCPU].
var lacks = []lack{
	{"", "it is not known why"},
	{"turn", "its CPU ran another thread"},
	{"idle", "its CPU was idle, which a quota does"},
	{"stopped", "it was stopped by a signal or a debugger"},
	{"blocked", "it slept in the kernel"},
}

type lack struct{ why, words string }

// column is a value of each row.
func column[T, V any](rows []T, value func(*T) V) []V {
	out := make([]V, len(rows))
	for i := range rows {
		out[i] = value(&rows[i])
	}
	return out
}

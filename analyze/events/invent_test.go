package events

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// inventor makes up a generation in which anything can happen that the format
// knows, also what few programs do: coroutines, goroutines of C threads,
// processors taken in every state. Most of it is possible; clocks of threads
// disagree, and now and then something is wrong. What it does next stands in
// choices.
type inventor struct {
	choices []byte
	kinds   map[byte]int

	ticks   uint64
	threads [5]inventedThread // the last is that of events without one
	procs   [4]inventedProc
	gs      []inventedG
	gcSeq   uint64
	gcOn    bool
	tasks   [8]bool
}

type inventedThread struct {
	id      uint64
	g, p    int // index; -1 is none
	last    uint64
	data    []byte
	batches [][]byte
	times   []uint64
}

type inventedProc struct {
	status byte // of the format; 0 is not known
	seq    uint64
	sweeps bool
}

type inventedG struct {
	status  byte // of the format; 0 has ended
	seq     uint64
	regions []uint64
	stw     bool
	assists bool
}

// pick returns a number below n.
func (v *inventor) pick(n int) int {
	if len(v.choices) == 0 {
		return 0
	}
	x := int(v.choices[0])
	v.choices = v.choices[1:]
	return x % n
}

func (v *inventor) write(t *inventedThread, kind byte, args ...uint64) {
	v.kinds[kind]++
	v.ticks += uint64(v.pick(40))
	at := max(t.last, v.ticks+uint64(t.id%7)*3) // its clock goes wrong by a little
	if len(t.data) > 100+v.pick(200) || t.data == nil {
		v.flush(t)
		t.times = append(t.times, at)
		t.last = at
		t.data = []byte{}
	}
	t.data = append(t.data, kind)
	t.data = binary.AppendUvarint(t.data, at-t.last)
	t.last = at
	for _, a := range args {
		t.data = binary.AppendUvarint(t.data, a)
	}
}

func (v *inventor) flush(t *inventedThread) {
	if t.data != nil {
		t.batches = append(t.batches, t.data)
		t.data = nil
	}
}

func goID(i int) uint64 { return uint64(i)*3 + 1 }

// withStatus returns the index of a goroutine with a status; -1 if there is none.
func (v *inventor) withStatus(status byte) int {
	from := v.pick(16)
	for i := range v.gs {
		if k := (i + from) % len(v.gs); v.gs[k].status == status {
			return k
		}
	}
	return -1
}

func (v *inventor) someProc(status byte) int {
	return slices.IndexFunc(v.procs[:], func(p inventedProc) bool { return p.status == status })
}

func (v *inventor) newG(status byte) int {
	v.gs = append(v.gs, inventedG{status: status})
	return len(v.gs) - 1
}

func (v *inventor) text() uint64  { return uint64(v.pick(5)) }
func (v *inventor) stack() uint64 { return uint64(v.pick(4)) }

const (
	gRunnable = 1
	gRunning  = 2
	gSyscall  = 3
	gWaiting  = 4
)

// step lets something happen on a thread.
func (v *inventor) step(t *inventedThread) {
	what := v.pick(256)
	if what == 255 { // something wrong
		kind := byte(9 + v.pick(43))
		var args []uint64
		for range max(1, int(wire.TimedArgs[kind])) - 1 {
			args = append(args, uint64(v.pick(9)))
		}
		v.write(t, kind, args...)
		return
	}
	var g *inventedG
	if t.g >= 0 {
		g = &v.gs[t.g]
	}
	switch nobody := t.id == 1<<64-1; {
	case what < 12:
		v.status(t, nobody)
		return
	case nobody || what < 30:
		if i := v.withStatus(gWaiting); i >= 0 {
			v.gs[i].seq++
			v.gs[i].status = gRunnable
			v.write(t, wire.GoUnblock, goID(i), v.gs[i].seq, v.stack())
		}
		return
	case what < 50:
		v.steal(t)
		return
	case t.p < 0 && g == nil && what < 90:
		t.g = v.newG(gSyscall)
		v.write(t, wire.GoCreateSyscall, goID(t.g))
		return
	case t.p < 0 && g != nil && what < 90:
		if what < 70 {
			g.status = gRunnable
			v.write(t, wire.GoSyscallEndBlocked)
		} else {
			*g = inventedG{}
			v.write(t, wire.GoDestroySyscall)
		}
		t.g = -1
		return
	case t.p < 0:
		if i := v.someProc(procIdle); i >= 0 {
			t.p = i
			v.procs[i].status = procRunning
			v.procs[i].seq++
			v.write(t, wire.ProcStart, uint64(i), v.procs[i].seq)
		}
		return
	}
	p := &v.procs[t.p]
	switch {
	case what < 60:
		v.write(t, wire.HeapAlloc+byte(what%2), uint64(v.pick(100)))
	case what < 75:
		if p.sweeps = !p.sweeps; p.sweeps {
			v.write(t, wire.GCSweepBegin, v.stack())
		} else {
			v.write(t, wire.GCSweepEnd, 10, 20)
		}
	case what < 80:
		kind := byte(wire.Span + v.pick(9))
		v.write(t, kind, []uint64{1, 2, 3}[:wire.TimedArgs[kind]-1]...)
	case g == nil && what < 110:
		p.status, t.p = procIdle, -1
		v.write(t, wire.ProcStop)
	case g == nil:
		if i := v.withStatus(gRunnable); i >= 0 {
			t.g = i
			v.gs[i].status = gRunning
			v.gs[i].seq++
			v.write(t, wire.GoStart, goID(i), v.gs[i].seq)
		}
	case g.status == gSyscall && p.status == procRunning: // it has a new one
		g.status, t.g = gRunnable, -1
		v.write(t, wire.GoSyscallEndBlocked)
	case g.status == gSyscall && what < 150:
		g.status, p.status = gRunning, procRunning
		v.write(t, wire.GoSyscallEnd)
	case g.status == gSyscall && what < 200:
		p.status, t.p = procIdle, -1
		v.write(t, wire.ProcStop)
	case g.status == gSyscall:
		p.status = procAbandoned
		*g = inventedG{}
		t.g, t.p = -1, -1
		v.write(t, wire.GoDestroySyscall)
	default:
		v.user(t, g, p, what)
	}
}

// user lets a goroutine do something.
func (v *inventor) user(t *inventedThread, g *inventedG, p *inventedProc, what int) {
	switch {
	case what < 95:
		g.status, t.g = gWaiting, -1
		v.write(t, wire.GoBlock, v.text(), v.stack())
	case what < 105:
		g.status, t.g = gRunnable, -1
		v.write(t, wire.GoStop, v.text(), v.stack())
	case what < 110:
		*g, t.g = inventedG{}, -1
		v.write(t, wire.GoDestroy)
	case what < 125:
		i := v.newG(gRunnable)
		v.write(t, wire.GoCreate, goID(i), v.stack(), v.stack())
	case what < 135:
		i := v.newG(gWaiting)
		v.write(t, wire.GoCreateBlocked, goID(i), v.stack(), v.stack())
	case what < 150:
		g.status, p.status = gSyscall, procSyscall
		p.seq++
		v.write(t, wire.GoSyscallBegin, p.seq, v.stack())
	case what < 170:
		i := v.withStatus(gWaiting)
		if i < 0 {
			return
		}
		kind := byte(wire.GoSwitch)
		if g.status = gWaiting; what < 155 {
			kind = wire.GoSwitchDestroy
			*g = inventedG{}
		}
		v.gs[i].status = gRunning
		v.gs[i].seq++
		t.g = i
		v.write(t, kind, goID(i), v.gs[i].seq)
	case what < 180:
		if g.stw = !g.stw; g.stw {
			v.write(t, wire.STWBegin, v.text(), v.stack())
		} else {
			v.write(t, wire.STWEnd)
		}
	case what < 190:
		if g.assists = !g.assists; g.assists {
			v.write(t, wire.GCMarkAssistBegin, v.stack())
		} else {
			v.write(t, wire.GCMarkAssistEnd)
		}
	case what < 200:
		v.gcSeq++
		if v.gcOn = !v.gcOn; !v.gcOn {
			v.write(t, wire.GCEnd, v.gcSeq)
		} else if v.gcSeq == 1 && what < 195 {
			v.write(t, wire.GCActive, v.gcSeq)
		} else {
			v.write(t, wire.GCBegin, v.gcSeq, v.stack())
		}
	case what < 205:
		v.write(t, wire.GoLabel, v.text())
	case what < 210:
		v.write(t, wire.ProcsChange, uint64(v.pick(8)), v.stack())
	case what < 215:
		if id := v.pick(8); !v.tasks[id] {
			v.tasks[id] = true
			v.write(t, wire.UserTaskBegin, uint64(id), 0, v.text(), v.stack())
		}
	case what < 220:
		id := v.pick(8)
		v.tasks[id] = false
		v.write(t, wire.UserTaskEnd, uint64(id), v.stack())
	case what < 230:
		name := v.text()
		g.regions = append(g.regions, name)
		v.write(t, wire.UserRegionBegin, 1, name, v.stack())
	case what < 240:
		name := v.text()
		if n := len(g.regions); n > 0 {
			name = g.regions[n-1]
			g.regions = g.regions[:n-1]
			if name >= 3 {
				name = 7 - name // 3 and 4 are the same text
			}
		}
		v.write(t, wire.UserRegionEnd, 1, name, v.stack())
	default:
		v.write(t, wire.UserLog, 1, v.text(), v.text(), v.stack())
	}
}

// status lets the trace say what something is doing.
func (v *inventor) status(t *inventedThread, nobody bool) {
	switch i := v.someProc(0); v.pick(8) {
	case 0, 1, 2:
		if i < 0 {
			return
		}
		status := byte(1 + v.pick(4))
		if status == procRunning || status == procSyscall {
			if nobody || t.p >= 0 || t.g >= 0 {
				status = procIdle
			} else {
				t.p = i
			}
		}
		v.procs[i].status = status
		v.write(t, wire.ProcStatus, uint64(i), uint64(status))
		if status == procSyscall {
			t.g = v.newG(gSyscall)
			v.write(t, wire.GoStatus, goID(t.g), t.id, gSyscall)
		}
	case 3:
		v.write(t, wire.GoStatus, goID(v.newG(gRunnable)), 1<<64-1, gRunnable)
	case 4:
		v.write(t, wire.GoStatusStack, goID(v.newG(gWaiting)), 1<<64-1, gWaiting, v.stack())
	case 5:
		if t.g < 0 && t.p >= 0 {
			t.g = v.newG(gRunning)
			v.write(t, wire.GoStatus, goID(t.g), t.id, gRunning)
		}
	case 6: // once more, or of another thread
		if i := v.pick(len(v.procs)); v.procs[i].status == procSyscall && v.pick(2) == 0 {
			v.procs[i].seq = 0
			v.write(t, wire.ProcStatus, uint64(i), procAbandoned)
		} else if k := v.withStatus(gSyscall); k >= 0 {
			for o := range v.threads {
				if v.threads[o].g == k {
					v.gs[k].seq = 0
					v.write(t, wire.GoStatusStack, goID(k), v.threads[o].id, gSyscall, v.stack())
				}
			}
		} else {
			v.write(t, wire.GoStatus, goID(v.newG(gSyscall)), uint64(20+v.pick(30)), gSyscall)
		}
	case 7:
		if k := v.pick(len(v.gs) + 1); k < len(v.gs) && v.gs[k].status == gWaiting && !v.gs[k].assists {
			v.gs[k].assists = true
			v.write(t, wire.GCMarkAssistActive, goID(k))
		} else if i := v.someProc(procIdle); i >= 0 && !v.procs[i].sweeps {
			v.procs[i].sweeps = true
			v.write(t, wire.GCSweepActive, uint64(i))
		}
	}
}

// steal removes a processor from a system call.
func (v *inventor) steal(t *inventedThread) {
	i := v.someProc(procSyscall)
	if i < 0 {
		if i = v.someProc(procAbandoned); i < 0 {
			return
		}
	}
	v.procs[i].status = procIdle
	v.procs[i].seq++
	from := uint64(0)
	for o := range v.threads {
		if v.threads[o].p == i {
			v.threads[o].p = -1
			from = v.threads[o].id
		}
	}
	v.write(t, wire.ProcSteal, uint64(i), v.procs[i].seq, from)
}

// invent makes a trace of one generation, and says how often each event is in it.
func invent(choices []byte) ([]byte, map[byte]int) {
	v := &inventor{choices: choices, kinds: map[byte]int{}, ticks: 1000}
	minor := []int{22, 23, 25, 26}[v.pick(4)]
	for i := range v.threads {
		v.threads[i] = inventedThread{id: uint64(i)*5 + 2, g: -1, p: -1}
	}
	v.threads[len(v.threads)-1].id = 1<<64 - 1
	for i := range v.threads[:3] { // to begin with, two threads that run
		t := &v.threads[i]
		if t.p = i; i == 2 {
			t.p = -1
			v.procs[i].status = procIdle
			v.write(t, wire.ProcStatus, uint64(i), procIdle)
			break
		}
		t.g = v.newG(gRunning)
		v.procs[i].status = procRunning
		v.write(t, wire.ProcStatus, uint64(i), procRunning)
		v.write(t, wire.GoStatus, goID(t.g), t.id, gRunning)
	}
	for len(v.choices) > 0 {
		v.step(&v.threads[v.pick(len(v.threads))])
	}

	out := fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", minor)
	batch := func(m, ticks uint64, data []byte) {
		out = append(out, wire.EventBatch, 1)
		out = binary.AppendUvarint(out, m)
		out = binary.AppendUvarint(out, ticks)
		out = binary.AppendUvarint(out, uint64(len(data)))
		out = append(out, data...)
	}
	for i := range v.threads {
		t := &v.threads[i]
		v.flush(t)
		for k := range t.batches {
			batch(t.id, t.times[k], t.batches[k])
		}
	}
	sync := binary.AppendUvarint([]byte{wire.Frequency}, 15_625_000)
	if minor >= 25 {
		sync = append([]byte{wire.Sync}, append(sync, wire.ClockSnapshot, 5, 7, 200, 1, 9)...)
	}
	batch(1<<64-1, 990, sync)
	batch(1<<64-1, 2000, []byte{
		wire.CPUSamples,
		wire.CPUSample, 0xe9, 7, 2, 0, 4, 1,
		wire.CPUSample, 0xf0, 8, 7, 1, 0, 0,
		wire.CPUSample, 0xe8, 7, 2, 0, 4, 2,
	})
	batch(1<<64-1, 2000, []byte{
		wire.Stacks,
		wire.Stack, 1, 2, 50, 1, 2, 10, 60, 3, 2, 20,
		wire.Stack, 3, 1, 60, 1, 2, 99, // known already as something else
		wire.Stack, 2, 0,
	})
	texts := []byte{wire.Strings}
	for i, s := range []string{"sync", "f.go", "new", "new"} {
		texts = append(texts, wire.String, byte(i+1), byte(len(s)))
		texts = append(texts, s...)
	}
	batch(1<<64-1, 2000, texts)
	if minor >= 26 {
		out = append(out, wire.EndOfGeneration)
	}
	return out, v.kinds
}

// decodeInvented holds the own decoder against the public reader. It returns why
// the first declines, and the error of the second; "" if they do not.
func decodeInvented(t testing.TB, data []byte) (declines, fails string) {
	t.Helper()
	gen := &input.Generation{Number: 1, Data: data}
	declines = why(gen)
	if declines == mistake {
		t.Error("the own decoder panics")
	}
	own, public := collect(gen, nil, false), collect(gen, nil, true)
	if d := differ(&own, &public); d != "" {
		t.Errorf("%s (own %s)", d, declines)
	}
	return declines, public.err
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestInvented decodes made-up generations in both ways. Most are possible, and
// they have everything in them.
func TestInvented(t *testing.T) {
	kinds := map[byte]int{}
	n := 0
	r := rand.New(rand.NewPCG(1, 2))
	all := 2000
	if !tracetest.Long() {
		all = 300
	}
	for i := range all {
		choices := random(r, 20+r.IntN(2000))
		possible := i%2 == 0
		if possible {
			for k := range choices {
				choices[k] = min(choices[k], 254)
			}
		}
		data, has := invent(choices)
		declines, fails := decodeInvented(t, data)
		if possible && declines != "" && fails == "" {
			t.Errorf("%s, and the public reader finds nothing wrong", declines)
		}
		if t.Failed() {
			t.Fatalf("number %d", i)
		}
		if declines != "" {
			continue
		}
		n++
		for k, m := range has {
			kinds[k] += m
		}
	}
	t.Logf("%d of %d were not declined, with events %v", n, all, kinds)
	for k := range wire.TimedArgs {
		if wire.TimedArgs[k] > 0 && kinds[byte(k)] == 0 {
			t.Errorf("no event %d was decoded", k)
		}
	}
	if n < all*6/10 {
		t.Errorf("only %d of %d were not declined", n, all)
	}
}

// TestDeclineInTheMiddle: the public reader goes on where the own decoder gives
// up, also when blocks were handed on already.
func TestDeclineInTheMiddle(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	middle := 0
	for range 60 {
		choices := random(r, 100000)
		for k := range choices {
			choices[k] = min(choices[k], 254)
		}
		data, _ := invent(choices)
		data[len(data)/3+r.IntN(len(data)*2/3)] ^= 1 << r.IntN(8)
		d := newDecoder(anyWork(), false, nil)
		err := d.decodeOwn(data, func(*block) bool { return true })
		if err != nil && d.emitted.n > 0 {
			middle++
		}
		decodeInvented(t, data)
	}
	t.Logf("%d of 60", middle)
	if middle < 20 {
		t.Errorf("only %d of 60 generations are declined in the middle", middle)
	}
}

// FuzzInvented decodes made-up generations in both ways.
func FuzzInvented(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		f.Add(random(r, 20+r.IntN(500)))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 3000 {
			return
		}
		data, _ := invent(bytes.Clone(choices))
		decodeInvented(t, data)
	})
}

package kernel

import "github.com/gmpscope/gmpscope/analyze/ledger"

// addOn records who had a CPU, as far as that is in the window.
func (m *Accumulator) addOn(x ledger.OnCPU) { m.stretches.On = m.appendOn(m.stretches.On, x) }

func (m *Accumulator) appendOn(to []ledger.OnCPU, x ledger.OnCPU) []ledger.OnCPU {
	x.From, x.To = max(x.From, m.opt.From), min(x.To, m.opt.To)
	if x.To > x.From {
		to = append(to, x)
	}
	return to
}

// occupant reports who has a CPU that is not idle, from its last change to t.
func (m *Accumulator) occupant(c *cpu, t int64) ledger.OnCPU {
	x := ledger.OnCPU{From: c.since, To: t, CPU: c.CPU, Who: ledger.OnOther}
	if k := m.task(c.tid); k.ours {
		x.Who, x.Thread = ledger.OnProgram, k.thread
	} else {
		x.Name = int32(k.comm)
	}
	return x
}

// addOff records that a thread with a goroutine was off the CPUs, as far as that is in the
// window.
func (m *Accumulator) addOff(k *task, from, to int64, why ledger.OffCPUReason) {
	from, to = max(from, m.opt.From), min(to, m.opt.To)
	if to <= from || k.onP < 0 {
		return
	}
	if n := len(m.stretches.Off); n > 0 {
		last := &m.stretches.Off[n-1]
		if last.P == k.onP && last.To == from && last.Why == why && last.CPU == k.cpu {
			last.To = to
			return
		}
	}
	m.stretches.Off = append(m.stretches.Off, ledger.OffCPUSpan{From: from, To: to, P: k.onP, CPU: k.cpu, Why: why})
}

// lackOf reports why a thread that is off the CPUs is.
func (m *Accumulator) lackOf(k *task) ledger.OffCPUReason {
	switch {
	case stopped(k.how):
		return ledger.LackStopped
	case k.how != 'R':
		return ledger.LackBlocked
	case k.cpu < 0 || !m.cpus[k.cpu].known:
		return ledger.LackUnknown
	case m.cpus[k.cpu].tid == 0:
		return ledger.LackIdle
	}
	return ledger.LackTurn
}

// runsOn notes that a thread runs a goroutine on P p.
func (m *Accumulator) runsOn(k *task, p int32) {
	k.onP = p
	if p < 0 || p >= ledger.MaxPs {
		return
	}
	for int(p) >= len(m.onPs) {
		m.onPs = append(m.onPs, nil)
	}
	m.onPs[p] = k
}

// addOpen records what is not over at the end of a block.
func (m *Accumulator) addOpen() {
	open := m.stretches.OpenOn
	for i := range m.cpus {
		c := &m.cpus[i]
		if !c.Seen {
			continue
		}
		known := c.since // up to when it is known who has the CPU
		if c.known {
			known = max(c.since, m.until())
			if c.tid != 0 {
				open = m.appendOn(open, m.occupant(c, m.until()))
			}
		}
		open = m.appendOn(open, ledger.OnCPU{From: known, To: m.now, CPU: c.CPU, Who: ledger.OnUnknown})
	}
	m.stretches.OpenOn = open
	for p, k := range m.onPs {
		if k == nil || !k.runs || k.onP != int32(p) || k.on != isOff {
			continue
		}
		if from := max(k.booked, k.from, m.opt.From); from < min(m.now, m.opt.To) {
			m.stretches.OpenOff = append(m.stretches.OpenOff, ledger.OffCPUSpan{From: from, To: min(m.now, m.opt.To), P: k.onP, CPU: k.cpu, Why: m.lackOf(k)})
		}
	}
}

// CPUs returns the use of CPUs since the last block, which no Block.CPUs has. It is to be called after
// [Accumulator.Finish].
func (m *Accumulator) CPUs() *ledger.CPUs { return m.stretches }

// ProcessName returns the name of what had a CPU. name is a handle, a small number that stands for it:
// the Name of a [ledger.OnCPU] in [Accumulator.CPUs] or in Block.CPUs. The result is the kernel's name
// of the thread; without the part from the last "/" on if a number follows, as in "kworker/0:1", so that
// such threads of the kernel have one name.
func (m *Accumulator) ProcessName(name int32) string {
	return processName(m.r.Name(Comm(name)))
}

package kernel

import (
	"bytes"
	"errors"
	"strconv"
)

// A line is that of ftrace,
//
//	handlers-1234  (   1230) [001] d..2. 4006.162036: sched_switch: prev_comm=handlers prev_pid=1234 …
//
// or that of perf script,
//
//	handlers 1230/1234 [001] 4006.162036123: sched:sched_switch: handlers:1234 [120] R ==> node:77 [120]
//
// both with either form of what follows the name of the event; the parts in parentheses and
// before the slash may be missing.

var names = []struct {
	text []byte
	kind Kind
}{
	{[]byte("sched_switch: "), Switch},
	{[]byte("sched_waking: "), Wake},
	{[]byte("sched_wakeup: "), Wake},
	{[]byte("sched_wakeup_new: "), Wake},
}

const (
	maxCPU     = 1 << 13       // NR_CPUS of no distribution is larger
	maxTID     = 1 << 22       // PID_MAX_LIMIT
	maxSeconds = 1_000_000_000 // 31 years of uptime
)

var (
	errHead   = errors.New("no CPU in brackets and time in seconds before the name of the event")
	errSwitch = errors.New("a sched_switch does not say which threads it is about")
	errWake   = errors.New("a wake-up does not say which thread it is about")
	errRange  = errors.New("the number of a CPU or a thread is out of range")
)

type parser struct {
	comms  comms
	digits int // most that follow the point of a time
}

// parse reads a line. ok is false if it is about nothing that counts.
func (p *parser) parse(line []byte) (r Record, ok bool, err error) {
	if !bytes.Contains(line, []byte("sched_")) {
		return p.lost(line)
	}
	for i := range names {
		n := &names[i]
		// The name of a thread may contain that of an event: then what is before it is no head.
		for from := 0; ; {
			at := bytes.Index(line[from:], n.text)
			if at < 0 {
				break
			}
			at += from
			from = at + 1
			head, isEvent := eventHead(line[:at])
			if !isEvent {
				continue
			}
			r, err = p.head(head)
			if err != nil {
				return r, false, err
			}
			return p.body(r, n.kind, bytes.TrimSpace(line[at+len(n.text):]))
		}
	}
	return r, false, nil
}

// eventHead returns what is before the name of an event, up to the colon after the time,
// and whether that is what it looks like.
func eventHead(b []byte) (head []byte, ok bool) {
	b = bytes.TrimRight(bytes.TrimSuffix(b, []byte("sched:")), " \t")
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	if i := bytes.LastIndexAny(b, " \t"); i >= 0 && !bytes.ContainsFunc(b[i+1:], notDigit) { // the period, with perf script -F period
		b = bytes.TrimRight(b[:i], " \t")
	}
	return bytes.TrimSuffix(b, []byte(":")), bytes.HasSuffix(b, []byte(":"))
}

// head reads what stands before the name of the event: thread, CPU, flags, time.
func (p *parser) head(b []byte) (r Record, err error) {
	b, last := cutLast(b)
	var ok bool
	if r.Time, ok = p.time(last); !ok {
		return r, errHead
	}
	for range 2 { // the flags of ftrace may be missing
		if b, last = cutLast(b); len(last) > 2 && last[0] == '[' && last[len(last)-1] == ']' {
			n, ok := number(last[1:len(last)-1], maxCPU)
			if !ok {
				return r, errRange
			}
			r.CPU, r.Group = n, group(b)
			return r, nil
		}
	}
	return r, errHead
}

// group reads the process from what stands before the CPU, if it is there.
func group(b []byte) int32 {
	_, last := cutLast(b)
	if pair, _, ok := bytes.Cut(last, []byte("/")); ok { // perf script -F pid,tid
		n, _ := number(pair, maxTID)
		return n
	}
	if len(b) > 0 && b[len(b)-1] == ')' { // the option record-tgid of ftrace
		n, _ := number(bytes.TrimSpace(b[bytes.LastIndexByte(b, '(')+1:len(b)-1]), maxTID)
		return n
	}
	return 0
}

// cutLast returns what is before the last word of b, and that word.
func cutLast(b []byte) (before, word []byte) {
	b = bytes.TrimRight(b, " \t")
	i := bytes.LastIndexAny(b, " \t") + 1
	return bytes.TrimRight(b[:i], " \t"), b[i:]
}

// time reads seconds with six or nine digits after the point, as ns.
func (p *parser) time(b []byte) (ns int64, ok bool) {
	whole, part, ok := bytes.Cut(b, []byte("."))
	if !ok || len(part) != 6 && len(part) != 9 {
		return 0, false
	}
	s, okWhole := number(whole, maxSeconds)
	f, okPart := number(part, maxSeconds)
	if !okWhole || !okPart {
		return 0, false
	}
	ns = int64(f)
	if len(part) == 6 {
		ns *= 1000
	}
	p.digits = max(p.digits, len(part))
	return int64(s)*1e9 + ns, true
}

// number reads a number below limit.
func number(b []byte, limit int32) (int32, bool) {
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil || len(b) > 10 {
		return 0, false
	}
	return int32(n), n < uint64(limit)
}

func (p *parser) body(r Record, k Kind, b []byte) (Record, bool, error) {
	var ok bool
	r.Kind = k
	if k == Wake {
		var rest []byte
		if r.Comm, r.TID, rest, ok = p.thread(b, "comm=", " pid="); !ok {
			return r, false, errWake
		}
		r.Group = 0 // that of the waker
		r.CPU = target(rest)
		return r, r.TID != 0, nil
	}
	const arrow = " ==> "
	i := bytes.LastIndex(b, []byte(arrow+"next_comm="))
	if i < 0 {
		i = bytes.LastIndex(b, []byte(arrow))
	}
	if i < 0 {
		return r, false, errSwitch
	}
	var rest []byte
	if r.Comm, r.TID, rest, ok = p.thread(b[:i], "prev_comm=", " prev_pid="); ok {
		r.State, ok = state(rest)
	}
	if ok {
		r.Into, r.Next, _, ok = p.thread(b[i+len(arrow):], "next_comm=", " next_pid=")
	}
	if !ok {
		return r, false, errSwitch
	}
	return r, true, nil
}

// thread reads "comm=NAME pid=N" or "NAME:N [", and returns what follows.
func (p *parser) thread(b []byte, comm, pid string) (c Comm, tid int32, rest []byte, ok bool) {
	if named, has := bytes.CutPrefix(b, []byte(comm)); has {
		i := bytes.LastIndex(named, []byte(pid))
		if i < 0 {
			return 0, 0, nil, false
		}
		n, rest, _ := bytes.Cut(named[i+len(pid):], []byte(" "))
		tid, ok = number(n, maxTID)
		return p.comm(named[:i], tid), tid, rest, ok
	}
	i := bytes.LastIndex(b, []byte(" ["))
	if i < 0 {
		return 0, 0, nil, false
	}
	colon := bytes.LastIndexByte(b[:i], ':')
	if colon < 0 {
		return 0, 0, nil, false
	}
	tid, ok = number(b[colon+1:i], maxTID)
	return p.comm(b[:colon], tid), tid, b[i+1:], ok
}

// maxComm is the length of the name of a thread (TASK_COMM_LEN), and a few bytes more, as
// kernel threads show.
const maxComm = 64

func (p *parser) comm(b []byte, tid int32) Comm {
	if tid == 0 {
		return 0
	}
	return p.comms.of(b[:min(len(b), maxComm)])
}

// state reads the state of the thread that left the CPU, the last word of what is before
// the arrow, perhaps after "prev_state=".
func state(b []byte) (byte, bool) {
	_, w := cutLast(b)
	w = bytes.TrimPrefix(w, []byte("prev_state="))
	if len(w) == 0 || (w[0] < 'A' || w[0] > 'Z') && w[0] != 't' {
		return 0, false
	}
	return w[0], true
}

// target reads the CPU of "target_cpu=N" or "CPU:N"; NoCPU if there is none.
func target(b []byte) int32 {
	_, w := cutLast(b)
	for _, name := range []string{"target_cpu=", "CPU:"} {
		if v, ok := bytes.CutPrefix(w, []byte(name)); ok {
			if n, ok := number(v, maxCPU); ok {
				return n
			}
		}
	}
	return NoCPU
}

// lost reads a line that may say that records are missing: "CPU:3 [LOST 512 EVENTS]" of
// ftrace, PERF_RECORD_LOST of perf script --show-lost-events. It has no time.
func (p *parser) lost(line []byte) (r Record, ok bool, err error) {
	r.Kind = Lost
	if n, found := bytes.CutPrefix(line, []byte("CPU:")); found && bytes.Contains(line, []byte("[LOST ")) {
		n, _, _ = bytes.Cut(n, []byte(" "))
		if r.CPU, ok = number(n, maxCPU); !ok {
			return r, false, errRange
		}
		return r, true, nil
	}
	if i := bytes.Index(line, []byte("PERF_RECORD_LOST")); i >= 0 {
		h, err := p.head(bytes.TrimRight(bytes.TrimRight(line[:i], " \t"), ":"))
		r.CPU, ok = h.CPU, err == nil // else a line of something else that has these letters in it
	}
	return r, ok, nil
}

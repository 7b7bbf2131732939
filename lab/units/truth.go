package units

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// Unit is what a program wrote down of a unit. Times are in ns after the first event of the trace.
type Unit struct {
	Kind  string `json:"kind"`
	Class string `json:"class"` // start function of its goroutine
	G     int64  `json:"g"`
	T0    int64  `json:"t0_ns"`
	T1    int64  `json:"t1_ns"`
	// R0 is when the trace has the goroutine made runnable for the unit; T0 if it has not.
	R0 int64 `json:"r0_ns"`
	// W1 is when the unit was written down or, if that is later, when the trace has the
	// goroutine's last write to the network for it return, or the goroutine end.
	W1 int64 `json:"w1_ns"`
	// Visible reports whether the goroutine has events near both ends.
	Visible bool `json:"visible"`
}

// tolerance is how far an end of the unit may be off.
func (u *Unit) tolerance() int64 { return max(50_000, (u.T1-u.T0)/20) }

// moment is an event of a goroutine.
type moment struct {
	at   int64
	what momentKind
}

type momentKind int8

const (
	other  momentKind = iota
	ready             // it was made runnable, or created
	block             // it begins to wait
	writes            // a write to the network begins
	called            // a system call has returned
	ended
)

// read reads units, a line each.
func read(lines []byte) (out []*Unit, err error) {
	for dec := json.NewDecoder(bytes.NewReader(lines)); ; {
		u := &Unit{}
		if err := dec.Decode(u); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("units: %w", err)
		}
		out = append(out, u)
	}
	if len(out) == 0 {
		return nil, errors.New("the program wrote down no unit")
	}
	return out, nil
}

// align holds what a program wrote down, in ns of the trace's clock, against the events of its
// trace.
func align(lines, data []byte) ([]*Unit, error) {
	out, err := read(lines)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(x, y *Unit) int { return cmp.Or(cmp.Compare(x.G, y.G), cmp.Compare(x.T0, y.T0)) })
	base, moments, err := momentsOf(data)
	if err != nil {
		return nil, err
	}
	for i, u := range out {
		u.T0 -= base
		u.T1 -= base
		u.W1 -= base
		from, to := int64(0), int64(1)<<62
		if i > 0 && out[i-1].G == u.G {
			from = out[i-1].T1
		}
		if i+1 < len(out) && out[i+1].G == u.G {
			to = out[i+1].T0 - base
		}
		u.bound(moments[u.G], from, to)
	}
	return out, nil
}

// bound finds what the trace has of the unit; its goroutine does no other one in the time
// (from, to).
func (u *Unit) bound(moments []moment, from, to int64) {
	u.R0 = u.T0
	for _, m := range moments {
		if m.what == ready && m.at > from && m.at <= u.T0 {
			u.R0 = m.at
		}
	}
	writing := false
	for _, m := range moments {
		if m.at < u.T1 {
			continue
		}
		if m.what == block || m.at >= to {
			break
		}
		if m.what == called && writing || m.what == ended {
			u.W1 = max(u.W1, m.at)
		}
		writing = m.what == writes
	}
	near := func(from, to int64) bool {
		from, to = from-u.tolerance(), to+u.tolerance()
		return slices.ContainsFunc(moments, func(m moment) bool { return m.at >= from && m.at <= to })
	}
	u.Visible = near(u.R0, u.T0) && near(u.T1, u.W1)
}

// momentsOf reads a trace with the public reader, and returns the time of its first event, in ns
// of its clock, and what happens to goroutines.
func momentsOf(data []byte) (base int64, out map[int64][]moment, err error) {
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, nil, err
	}
	out = map[int64][]moment{}
	for first := true; ; first = false {
		e, err := r.ReadEvent()
		if err == io.EOF {
			return base, out, nil
		}
		if err != nil {
			return 0, nil, err
		}
		if first {
			base = int64(e.Time())
		}
		g, what := int64(e.Goroutine()), other
		if e.Kind() == trace.EventStateTransition && e.StateTransition().Resource.Kind == trace.ResourceGoroutine {
			t := e.StateTransition()
			if id := int64(t.Resource.Goroutine()); id != g {
				out[g] = append(out[g], moment{int64(e.Time()) - base, other})
				g = id
			}
			what = momentOf(t)
		}
		out[g] = append(out[g], moment{int64(e.Time()) - base, what})
	}
}

func momentOf(t trace.StateTransition) momentKind {
	from, to := t.Goroutine()
	switch {
	case to == trace.GoRunnable && (from == trace.GoWaiting || from == trace.GoNotExist):
		return ready
	case to == trace.GoWaiting && from != trace.GoWaiting:
		return block
	case to == trace.GoSyscall && from == trace.GoRunning && writesIn(t.Stack):
		return writes
	case from == trace.GoSyscall:
		return called
	case to == trace.GoNotExist:
		return ended
	}
	return other
}

func writesIn(s trace.Stack) bool {
	for f := range s.Frames() {
		if strings.HasPrefix(f.Func, "internal/poll.(*FD).Write") {
			return true
		}
	}
	return false
}

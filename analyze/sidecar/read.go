package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/gmpscope/gmpscope/internal/files"
)

// maxBytes is the most that a file may hold.
const maxBytes = 1 << 20

// maxCPUs is more than any machine has, and maxPeriod more than a quota's period can be.
const (
	maxCPUs   = 1e5
	maxPeriod = int64(time.Minute)
)

// Read reads the sidecar of a trace; nil if there is none. An unusable one is an error, a
// [files.Conflict] if it is an output.
func Read(ctx context.Context, trace string) (*Meta, error) {
	f, err := files.Regular(ctx, trace+Suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Decode(f)
}

// Decode reads the content of a sidecar.
func Decode(r io.Reader) (*Meta, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxBytes)
	}
	var m Meta
	if json.Unmarshal(text, &m) != nil { // whose error may quote it
		return nil, errors.New("it is not as docs/schema/meta.json says")
	}
	if m.Version != Version {
		return nil, fmt.Errorf("its version is %d, and %d is known", m.Version, Version)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return &m, nil
}

// check is an error if something cannot be.
func (m *Meta) check() error {
	texts := []string{m.Time, m.GoVersion, m.GOOS, m.GOARCH}
	if b := m.Build; b != nil {
		texts = append(texts, b.Path, b.Module, b.Version, b.Revision)
	}
	if x := m.Host; x != nil {
		texts = append(texts, x.CPU, x.Boot)
		if u := x.Use; x.CPUs < 0 || x.CPUs > maxCPUs || u != nil && (u.Ns <= 0 || u.OwnNs < 0 || u.BusyNs < u.OwnNs) {
			return errors.New("its host is out of range")
		}
	}
	if r := m.Request; r != nil {
		if r.TraceID != "" && !IsTraceID(r.TraceID) {
			return errors.New("its trace ID is none")
		}
		texts = append(texts, r.Name)
	}
	for _, s := range texts {
		if len(s) > maxText {
			return fmt.Errorf("a text is longer than %d bytes", maxText)
		}
	}
	if err := CheckLabels(m.Labels); err != nil {
		return err
	}
	q := m.Quota
	switch {
	case m.CPUs < 0 || m.CPUs > maxCPUs || m.GOMAXPROCS < 0 || m.MemoryLimit < 0 || m.MemoryMax < 0:
		return errors.New("a number is out of range")
	case q == nil:
		return nil
	case q.CPUs <= 0 || q.CPUs > maxCPUs || q.PeriodNs <= 0 || q.PeriodNs > maxPeriod:
		return errors.New("its CPU quota is out of range")
	}
	b, a := &q.Before, &q.After
	if b.Periods < 0 || b.Throttled < 0 || b.ThrottledNs < 0 || a.Periods < b.Periods || a.Throttled < b.Throttled || a.ThrottledNs < b.ThrottledNs || b.AtNs < 0 || a.AtNs < b.AtNs {
		return errors.New("its cpu.stat runs backwards")
	}
	return nil
}

// HadCPUs returns the most CPUs that the process can have had on average; 0 if unknown.
func (m *Meta) HadCPUs() float64 {
	n := float64(m.CPUs)
	if q := m.Quota; q != nil && (n == 0 || q.CPUs < n) {
		n = q.CPUs
	}
	return n
}

// Counted returns the use of the quota between the two counts, After less Before.
func (q *Quota) Counted() Counted {
	b, a := &q.Before, &q.After
	return Counted{AtNs: a.AtNs, Periods: a.Periods - b.Periods, Throttled: a.Throttled - b.Throttled, ThrottledNs: a.ThrottledNs - b.ThrottledNs}
}

// Ns returns the time between the two counts, in ns.
func (q *Quota) Ns() int64 { return q.After.AtNs - q.Before.AtNs }

// Anonymous returns m without what identifies a program and its owner. m may be nil.
func (m *Meta) Anonymous() *Meta {
	if m == nil {
		return nil
	}
	c := *m
	c.Build, c.Labels, c.Request = nil, nil, nil
	if m.Host != nil {
		h := *m.Host
		h.Boot = ""
		c.Host = &h
	}
	return &c
}

package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/fleet"
)

// described is what is known of a recording beside its trace.
type described struct {
	process *sidecar.Process // nil: it may run elsewhere
	before  sidecar.Counted
	program string // its file; "" if that is not known
	labels  map[string]string
}

// describe begins to look at the process that is recorded: a command that record runs, or the one
// with an ID. A command has the control group and the CPUs of record itself.
func (r *recording) describe(command []string) (*described, error) {
	d := &described{labels: map[string]string{}}
	for _, s := range r.labels {
		l, err := fleet.ParseLabel(s)
		if err != nil {
			return nil, usagef("--label %v", err)
		}
		d.labels[l.Name] = l.Value
	}
	if err := sidecar.CheckLabels(d.labels); err != nil {
		return nil, usagef("--label: %v", err)
	}
	switch {
	case command != nil:
		d.process = sidecar.NewProcess("/", "self")
		if file, err := exec.LookPath(command[0]); err == nil {
			d.program = file
		}
	case r.pid > 0:
		d.process = sidecar.NewProcess("/", strconv.Itoa(r.pid))
		d.program = fmt.Sprintf("/proc/%d/exe", r.pid)
	}
	if d.process != nil {
		d.before, _ = d.process.Count()
	}
	return d, nil
}

// meta is what d knows at the end of the recording.
func (d *described) meta() *sidecar.Meta {
	p := d.process
	if p == nil {
		p = &sidecar.Process{}
	}
	m := p.Meta(d.before)
	m.Labels = d.labels
	if info, err := buildinfo.ReadFile(d.program); err == nil {
		m.Built(info)
	}
	return m
}

// writeMeta writes the file beside a trace, which tells of another one else. The trace is worth
// having without it.
func (a *app) writeMeta(ctx context.Context, trace string, d *described) {
	if st, err := os.Stat(trace); err != nil || !st.Mode().IsRegular() {
		return
	}
	err := func() error {
		out, err := a.create(ctx, "beside the trace,", trace+sidecar.Suffix)
		if err != nil {
			return err
		}
		defer out.Discard()
		text, err := json.MarshalIndent(d.meta(), "", "  ")
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
		return out.Commit()
	}()
	if err != nil {
		a.warn([]string{fmt.Sprintf("nothing of the machine is kept with the trace: %v", err)})
	}
}

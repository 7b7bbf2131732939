package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/internal/files"
)

// described is what is known of a recording beside its trace.
type described struct {
	process *sidecar.Process // nil: it may run elsewhere
	pid     string           // its ID, or "self"
	before  sidecar.Counted
	used    sidecar.Use // CPU time until then
	program string      // its file; "" if that is not known
	labels  map[string]string
	out     *files.Output // the file beside the trace; nil for none, or if err says why not
	err     error
}

// besideTrace is what messages call the file beside a trace.
const besideTrace = "the file beside the trace,"

// describe begins to look at the process that is recorded: a command that record runs, or the one
// with an ID. A command has the control group and the CPUs of record itself. The file beside the
// trace must be none that is read, and no other output.
func (a *app) describe(ctx context.Context, out *files.Output, r *recording, command []string) (*described, error) {
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
		d.pid = "self" // its children are
		if file, err := exec.LookPath(command[0]); err == nil {
			d.program = file
		}
	case r.pid > 0:
		d.pid = strconv.Itoa(r.pid)
		d.program = fmt.Sprintf("/proc/%d/exe", r.pid)
	}
	if _, direct := out.Path(); !direct {
		d.out, d.err = a.create(ctx, besideTrace, r.output+sidecar.Suffix)
		if _, same := errors.AsType[*files.Conflict](d.err); same {
			return nil, d.err
		}
	}
	if d.pid != "" {
		d.process = sidecar.NewProcess("/", d.pid)
		d.before, _ = d.process.Count()
		d.used = sidecar.CPUTime("/", d.pid)
	}
	return d, nil
}

// discard ends the file beside the trace, unless it has been written.
func (d *described) discard() {
	if d.out != nil {
		d.out.Discard()
	}
}

// meta is what d knows at the end of the recording.
func (d *described) meta() *sidecar.Meta {
	m := cmp.Or(d.process, &sidecar.Process{}).Meta(d.before)
	if m.Host != nil {
		m.Host.Use = sidecar.CPUTime("/", d.pid).Since(d.used)
	}
	m.Labels = d.labels
	if info, err := buildinfo.ReadFile(d.program); err == nil {
		m.Built(info)
	}
	return m
}

// writeMeta writes the file beside a trace that has the name asked for, or another one. It replaces
// that of a trace before, and nothing else. The trace is worth having without it.
func (a *app) writeMeta(ctx context.Context, trace string, asked bool, d *described) {
	if st, err := os.Stat(trace); err != nil || !st.Mode().IsRegular() {
		return
	}
	if !asked {
		d.discard()
		d.out, d.err = a.create(ctx, besideTrace, trace+sidecar.Suffix)
	}
	err := d.err
	if _, no := sidecar.Read(context.Background(), trace); no != nil && err == nil { // without the guard: it is replaced
		err = fmt.Errorf("%s stays as it is: %w", trace+sidecar.Suffix, no)
	}
	if err == nil {
		err = d.write()
	}
	if err != nil {
		a.warn(fmt.Sprintf("nothing of the machine is kept with the trace: %v", err))
	}
}

func (d *described) write() error {
	text, err := json.MarshalIndent(d.meta(), "", "  ")
	if err != nil {
		return err
	}
	if _, err := d.out.Write(append(text, '\n')); err != nil {
		return err
	}
	return d.out.Commit()
}

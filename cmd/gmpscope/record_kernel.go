package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gmpscope/gmpscope/cmd/gmpscope/internal/ftrace"
	"github.com/gmpscope/gmpscope/internal/files"
)

// kernelRecording records the kernel's scheduler while a trace is recorded. A nil one, of
// which nobody asked, does nothing.
type kernelRecording struct {
	a       *app
	name    string
	maxSize size
	out     *files.Output
	packer  io.WriteCloser
	rec     *ftrace.Recording
}

// recordKernel begins to record what --kernel-output asks for.
func (a *app) recordKernel(ctx context.Context, r recording) (_ *kernelRecording, err error) {
	if r.kernel == "" {
		return nil, nil
	}
	k := &kernelRecording{a: a, name: r.kernel, maxSize: r.maxSize}
	if k.out, err = a.create(ctx, "--kernel-output", r.kernel); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			k.out.Discard()
		}
	}()
	if k.packer, err = files.Packer(k.out, r.kernel); err != nil {
		return nil, err
	}
	k.rec, err = ftrace.Start(k.packer, ftrace.Options{PID: r.pid, MaxBytes: int64(r.maxSize)})
	switch {
	case errors.Is(err, ftrace.ErrNoProcess):
		return nil, usagef("--pid %d: %v", r.pid, err)
	case err != nil:
		return nil, fmt.Errorf("recording the kernel's scheduler: %w", err)
	}
	return k, nil
}

// stop ends the recording, of which finish tells what came.
func (k *kernelRecording) stop() {
	if k != nil {
		_, _ = k.rec.Stop() // finish asks again
	}
}

// discard ends the recording; what was not finished is removed.
func (k *kernelRecording) discard() {
	if k != nil {
		k.stop()
		k.out.Discard()
	}
}

// finish keeps what was recorded beside a trace, however that came out: err says that, and
// comes before what fails here.
func (k *kernelRecording) finish(err error) error {
	if k == nil {
		return err
	}
	failed := k.commit()
	if err == nil {
		return failed
	}
	if failed != nil {
		k.a.warn(failed.Error())
	}
	return err
}

// commit gives the file its name, and says how large it is and what is missing in it.
func (k *kernelRecording) commit() error {
	stats, err := k.rec.Stop()
	if err != nil {
		return fmt.Errorf("recording the kernel's scheduler: %w", err)
	}
	if err := k.packer.Close(); err != nil {
		return err
	}
	if err := k.out.Commit(); err != nil {
		return err
	}
	if stats.Full {
		k.a.warn(fmt.Sprintf("%s ends at --max-size %v: what the kernel's scheduler did later is not in it", k.name, k.maxSize))
	}
	if stats.Lost > 0 {
		k.a.warn(fmt.Sprintf("the kernel had no room for %d events: lines with LOST in %s say where", stats.Lost, k.name))
	}
	if stats.Left != nil {
		k.a.warn(fmt.Sprintf("the kernel's instance is still there: %v", stats.Left))
	}
	st, err := os.Stat(k.name)
	if err != nil || !st.Mode().IsRegular() {
		return nil // a device tells no size
	}
	return k.a.printSize(k.name, st.Size())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// While the CPU profiler runs, its samples are in the trace, too (runtime.sigprof). The
// profile itself is not needed.

// recordWithProfile is recordURL while the program is profiled.
func (a *app) recordWithProfile(ctx context.Context, u string, r recording) error {
	end, err := profileBeside(ctx, u)
	if err != nil {
		return err
	}
	err = a.recordURL(ctx, u, r)
	if failed := end(); failed != nil && err == nil {
		a.warn(fmt.Sprintf("no CPU profile could be had, so the trace may have no CPU samples: %v", failed))
	}
	return err
}

// profileBeside asks the program that gives the trace at traceURL for a CPU profile
// over the same time. end ends that, and returns why there was none.
func profileBeside(ctx context.Context, traceURL string) (end func() error, err error) {
	u, err := profileURL(traceURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- discardProfile(ctx, u) }()
	return func() error {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}, nil
}

// profileURL is where net/http/pprof gives a CPU profile as long as the trace.
func profileURL(traceURL string) (string, error) {
	u, err := url.Parse(traceURL)
	if err != nil || path.Base(u.Path) != "trace" {
		return "", usagef("--cpu needs a URL that ends in /trace, as that of net/http/pprof: the CPU profile is beside it")
	}
	u.Path = path.Join(path.Dir(u.Path), "profile")
	seconds, err := strconv.ParseFloat(u.Query().Get("seconds"), 64)
	if err != nil || !(seconds > 0) {
		seconds = 1
	}
	// It takes whole seconds only.
	u.RawQuery = url.Values{"seconds": {strconv.Itoa(int(math.Ceil(min(seconds, maxRecording))))}}.Encode()
	return u.String(), nil
}

func discardProfile(ctx context.Context, u string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // which does not repeat the URL
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// withCPUProfile adds to a go test command what has the profiler run. Where a profile
// is written, go test keeps the test's program, so that is told where to.
func withCPUProfile(args []string) ([]string, error) {
	if hasFlag(args, "cpuprofile") {
		return nil, usagef("the command has -cpuprofile already: its samples are in the trace without --cpu")
	}
	added := []string{"-cpuprofile=" + os.DevNull}
	if !hasFlag(args, "o") {
		added = append(added, "-o="+os.DevNull)
	}
	return slices.Insert(slices.Clone(args), 2, added...), nil
}

// hasFlag reports whether a go test command has a flag, in any of its spellings.
func hasFlag(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		if !strings.HasPrefix(flag, "-") {
			return false
		}
		return strings.TrimPrefix(strings.TrimLeft(flag, "-"), "test.") == name
	})
}

package events

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/wire"
)

// work counts what it takes to put the events of a generation in order, and
// bounds it: where threads wait for one another, each event can take a look at
// all of them.
type work struct {
	message string // Options.Message
	ctx     context.Context
	steps   int64 // so far
	most    int64
	checkAt int64 // at how many steps to look whether to stop

	gomaxprocs int32
}

// lookAfter is how many steps are done between two looks at the context: some
// 10 ms.
const lookAfter = 1 << 20

// tryCost is what it takes to find that a thread has to wait, in steps.
const tryCost = 8

// anyWork has no bound.
func anyWork() *work { return &work{ctx: context.Background(), most: math.MaxInt64} }

// workOn is the work on a generation.
func workOn(ctx context.Context, gen *input.Generation) *work {
	return &work{ctx: ctx, most: input.Steps(gen.Stored)}
}

// errTooManySteps is why the rest of a generation, or of a trace, is left out.
type errTooManySteps int64

func (e errTooManySteps) Error() string {
	return fmt.Sprintf("to order and follow its events takes more than %d million steps, the limit for a trace of its size as stored, which no real one comes near: what follows is left out", int64(e)/1e6)
}

// spend counts steps. Its error says that there are too many, or errStopped.
func (w *work) spend(steps int64) error {
	w.steps += steps
	if w.steps > w.most {
		return errTooManySteps(w.most)
	}
	if w.steps >= w.checkAt {
		w.checkAt = w.steps + lookAfter
		return w.stopped()
	}
	return nil
}

// stopped returns errStopped if nobody wants the events any more.
func (w *work) stopped() error {
	if w.ctx.Err() != nil {
		return errStopped
	}
	return nil
}

// procs counts a change of GOMAXPROCS: whoever follows the Ps looks at those that
// come or go.
func (w *work) procs(n int32) error {
	const (
		followed = 1 << 10 // at most
		cost     = 16      // of each, for all who follow them
	)
	n = min(n, followed)
	was := w.gomaxprocs
	w.gomaxprocs = n
	return w.spend(cost * int64(max(n-was, was-n)))
}

// sort counts sorting n threads.
func (w *work) sort(n int) error { return w.spend(int64(n) * int64(bits.Len(uint(n)))) }

// public counts the most that the public reader can take for data, which does not
// count: for each event it may sort the threads. An event has 4 bytes at least
// where there is something to wait for.
func (w *work) public(data []byte) error {
	n := threads(data)
	if n <= 1 {
		return nil
	}
	return w.spend(int64(n) * int64(len(data)/4))
}

// threads returns how many threads have batches in data, as far as it makes
// sense.
func threads(data []byte) int {
	seen := map[int64]struct{}{}
	s := scanner{p: data, at: headerSize}
	for !s.done() {
		h, why := s.batch()
		if why != "" {
			break
		}
		if h.kind != wire.EndOfGeneration {
			seen[h.m] = struct{}{}
			s.at += h.size
		}
	}
	return len(seen)
}

// leftOut reports whether an error says that no other reader is to be asked.
func leftOut(err error) bool {
	return errors.Is(err, errStopped) || errors.As(err, new(errTooManySteps))
}

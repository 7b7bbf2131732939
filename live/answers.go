package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
)

// errBusy is the error of an answer that was not begun in time.
var errBusy = errors.New("others are being answered: try again later")

// answers makes answers, one at a time, and bounds how many are in memory.
type answers struct {
	room     chan struct{} // has as many elements as answers are in memory
	turn     chan struct{} // has an element while an answer is made
	patience time.Duration
	maxTime  time.Duration

	mu    sync.Mutex         // of what follows, and of the users of all answers
	under map[string]*answer // that are being made, by key
}

// answer is what a client gets, and those who asked for the same thing before it was there.
type answer struct {
	done chan struct{} // closed when body and err are there
	body []byte
	err  error

	key    string
	users  int // clients, and the goroutine that makes it
	cancel context.CancelFunc
	room   bool // it has an element of answers.room
}

func newAnswers(room int) *answers {
	return &answers{room: make(chan struct{}, room), turn: make(chan struct{}, 1), patience: patience, maxTime: maxTime, under: map[string]*answer{}}
}

// ask returns the answer that is being made for a key, or has it made; with an empty key always a
// new one. The caller must leave it.
func (d *answers) ask(key string, produce func(context.Context) ([]byte, error)) *answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.under[key]; a != nil {
		a.users++
		return a
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &answer{done: make(chan struct{}), key: key, users: 2, cancel: cancel}
	if key != "" {
		d.under[key] = a
	}
	go d.make(ctx, a, produce)
	return a
}

// make makes an answer.
func (d *answers) make(ctx context.Context, a *answer, produce func(context.Context) ([]byte, error)) {
	defer d.leave(a)
	defer close(a.done)
	defer func() {
		if v := recover(); v != nil {
			a.err = analyze.Caught(v)
		}
		d.mu.Lock()
		d.forget(a)
		d.mu.Unlock()
	}()
	late := time.NewTimer(d.patience)
	defer late.Stop()
	for _, queue := range []chan struct{}{d.room, d.turn} {
		select {
		case queue <- struct{}{}:
		case <-late.C:
			a.err = errBusy
			return
		case <-ctx.Done(): // all clients have gone
			a.err = ctx.Err()
			return
		}
		if queue == d.room {
			a.room = true
		}
	}
	defer func() { <-d.turn }()
	ctx, cancel := context.WithTimeoutCause(ctx, d.maxTime, fmt.Errorf("it took longer than %v: %w", d.maxTime, context.DeadlineExceeded))
	defer cancel()
	if a.body, a.err = produce(ctx); a.err != nil && ctx.Err() != nil {
		a.err = context.Cause(ctx)
	}
}

// leave ends the use of an answer. One that no client waits for any more is given up.
func (d *answers) leave(a *answer) {
	d.mu.Lock()
	a.users--
	users := a.users
	if users <= 1 {
		d.forget(a)
		a.cancel()
	}
	d.mu.Unlock()
	if users == 0 && a.room {
		<-d.room
	}
}

// forget has nobody else get the answer.
func (d *answers) forget(a *answer) {
	if d.under[a.key] == a {
		delete(d.under, a.key)
	}
}

// Package mailbox is the inbox of an actor: messages are posted from outside
// and handled one after the other by the actor's own goroutine.
package mailbox

import "sync"

// Message is a request with a channel for the answer.
type Message struct {
	Body  string
	Reply chan string
}

// Handler answers a message.
type Handler func(body string) string

// Actor owns a mailbox.
type Actor struct {
	handle Handler

	mu    sync.Mutex
	queue []Message

	notify chan struct{} // tells a sleeping actor that there is mail
	quit   chan struct{}
	done   chan struct{}
}

// Spawn starts an actor.
func Spawn(h Handler) *Actor {
	a := &Actor{
		handle: h,
		notify: make(chan struct{}),
		quit:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	go a.loop()
	return a
}

// Post puts a message into the mailbox and wakes the actor if it sleeps.
func (a *Actor) Post(m Message) {
	a.mu.Lock()
	a.queue = append(a.queue, m)
	a.mu.Unlock()
	select {
	case a.notify <- struct{}{}:
	default: // awake: it will look into the queue itself
	}
}

func (a *Actor) next() (Message, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return Message{}, false
	}
	m := a.queue[0]
	a.queue = a.queue[1:]
	return m, true
}

func (a *Actor) loop() {
	defer close(a.done)
	for {
		if m, ok := a.next(); ok {
			m.Reply <- a.handle(m.Body)
			continue
		}
		select {
		case <-a.notify:
		case <-a.quit:
			return
		}
	}
}

// Stop ends the actor.
func (a *Actor) Stop() {
	close(a.quit)
	<-a.done
}

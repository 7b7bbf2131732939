// Package timeline plays back a recorded session: every event happens a fixed
// time after the start, and observers write down what they saw.
package timeline

import (
	"fmt"
	"sync"
	"time"
)

// Event is something that happens At after the start of the playback.
type Event struct {
	At   time.Duration
	Name string
}

// Observer gets every event as it happens, from the event's own goroutine.
type Observer func(Event)

// Player plays events.
type Player struct {
	mu        sync.Mutex
	observers []Observer
	speed     float64
}

// NewPlayer plays at the given speed (1 is real time).
func NewPlayer(speed float64) *Player {
	if speed <= 0 {
		speed = 1
	}
	return &Player{speed: speed}
}

// Observe adds an observer.
func (p *Player) Observe(o Observer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observers = append(p.observers, o)
}

func (p *Player) fire(e Event) {
	p.mu.Lock()
	obs := append([]Observer(nil), p.observers...)
	p.mu.Unlock()
	for _, o := range obs {
		o(e)
	}
}

// Play lets every event happen at its time and returns after the last.
// Events are independent: a slow observer of one does not delay the next.
func (p *Player) Play(events []Event) {
	var wg sync.WaitGroup
	for _, e := range events {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(float64(e.At) / p.speed))
			p.fire(e)
		}()
	}
	wg.Wait()
}

// Journal is an observer that remembers the names in the order seen.
type Journal struct {
	mu    sync.Mutex
	names []string
}

// See appends the event's name.
func (j *Journal) See(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.names = append(j.names, e.Name)
}

// String is the journal in one line.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprint(j.names)
}

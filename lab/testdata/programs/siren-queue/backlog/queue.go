// Package backlog holds alarms until somebody looks at them.
package backlog

import "sync"

type Alarm struct {
	Siren int
	At    int64
	Text  [96]byte
}

type Queue struct {
	mu     sync.Mutex
	alarms []Alarm
	head   int
	Ring   bool // remember the head instead of moving all: the remedy
}

func (q *Queue) Put(a Alarm) {
	q.mu.Lock()
	q.alarms = append(q.alarms, a)
	q.mu.Unlock()
}

// Take takes the oldest alarm.
func (q *Queue) Take() (a Alarm, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.alarms) {
		return a, false
	}
	a = q.alarms[q.head]
	if q.Ring {
		q.head++
		return a, true
	}
	copy(q.alarms, q.alarms[1:])
	q.alarms = q.alarms[:len(q.alarms)-1]
	return a, true
}

func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.alarms) - q.head
}

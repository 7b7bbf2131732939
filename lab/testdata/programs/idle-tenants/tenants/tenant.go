// Package tenants has an actor per tenant, who does little or nothing.
package tenants

import "time"

type request struct {
	amount int
	answer chan int
}

// A Tenant is a goroutine that lives as long as the program.
type Tenant struct {
	requests chan request
	balance  int
}

func Start() *Tenant {
	t := &Tenant{requests: make(chan request)}
	go t.run()
	return t
}

func (t *Tenant) run() {
	for r := range t.requests {
		t.balance += r.amount
		r.answer <- t.balance
	}
}

// Add adds to what a tenant has, and returns how long that took.
func (t *Tenant) Add(amount int) time.Duration {
	begin := time.Now()
	answer := make(chan int, 1)
	t.requests <- request{amount, answer}
	<-answer
	return time.Since(begin)
}

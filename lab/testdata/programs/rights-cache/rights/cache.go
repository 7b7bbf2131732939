// Package rights keeps what users may do, up to a number of users.
package rights

import (
	"sync"
	"sync/atomic"
	"time"
)

type Grants struct {
	Roles []string
	used  atomic.Int64
}

// A Cache forgets who was not asked for the longest.
type Cache struct {
	Sample int // look at so many entries only to find one to forget: the remedy; 0: at all
	limit  int
	mu     sync.RWMutex
	users  map[int]*Grants
}

func NewCache(limit int) *Cache {
	return &Cache{limit: limit, users: make(map[int]*Grants, limit)}
}

func (c *Cache) Get(user int) (*Grants, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	g, ok := c.users[user]
	if ok {
		g.used.Store(time.Now().UnixNano())
	}
	return g, ok
}

func (c *Cache) Put(user int, g *Grants) {
	g.used.Store(time.Now().UnixNano())
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.users) >= c.limit {
		c.forget()
	}
	c.users[user] = g
}

func (c *Cache) forget() {
	oldest, when, seen := 0, int64(0), 0
	for user, g := range c.users {
		if used := g.used.Load(); seen == 0 || used < when {
			oldest, when = user, used
		}
		if seen++; seen == c.Sample {
			break
		}
	}
	delete(c.users, oldest)
}

package permcache

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestRevokedRightIsGone(t *testing.T) {
	c := NewCache(NewStore(2 * time.Millisecond))
	for i := range 6 {
		user := fmt.Sprintf("user%d", i)
		if err := c.Grant(user, "read", "write", "admin"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 3 { // the user clicks about
			wg.Go(func() { c.May(user, "read") })
		}
		if err := c.Grant(user, "read", "write"); err != nil { // no longer an admin
			t.Fatal(err)
		}
		wg.Wait()
		if may, err := c.May(user, "admin"); may || err != nil {
			t.Fatalf("%s is still admin after the revocation (%v)", user, err)
		}
	}
}

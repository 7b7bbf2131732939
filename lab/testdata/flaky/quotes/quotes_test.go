package quotes

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"
)

func TestQuotesAnswerInTime(t *testing.T) {
	model := &Server{Rounds: 4000}
	srv := httptest.NewServer(model)
	defer srv.Close()
	c := NewClient(srv.URL, 75*time.Millisecond)
	for i := range 40 {
		sym := fmt.Sprintf("SYM%d", i)
		q, err := c.Get(sym)
		if err != nil {
			t.Fatal(err)
		}
		if want := model.Price(sym); q.Cents != want {
			t.Fatalf("%s: %d cents, want %d", sym, q.Cents, want)
		}
	}
}

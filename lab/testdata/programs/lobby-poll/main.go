// Lobby-poll serves forty players who wait for what happens at ten tables.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/lobby-poll/lobby"
)

const (
	players = 40
	tables  = 10
	events  = 120
	period  = 8 * time.Millisecond
	wait    = 60 * time.Millisecond
)

func main() {
	l := lobby.New(wait)
	server := httptest.NewServer(l)
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = players
	ctx, cancel := context.WithCancel(context.Background())
	rec.Start()
	var open sync.WaitGroup
	for player := range players {
		open.Go(func() { poll(ctx, client, fmt.Sprintf("%s/?table=%d", server.URL, player%tables)) })
	}
	ticker := time.NewTicker(period)
	for n := range events {
		<-ticker.C
		l.Tell(fmt.Sprint(n * 3 % tables))
	}
	cancel()
	open.Wait()
	rec.Stop()
	count := l.Delay[0].Load()
	fmt.Fprintf(os.Stderr, "proof: %d answers, %v after the event on average, %v at most\n",
		count, time.Duration(l.Delay[1].Load()/max(count, 1)), time.Duration(l.Delay[2].Load()))
}

// poll is a player.
func poll(ctx context.Context, client *http.Client, url string) {
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return
		}
		answer, err := client.Do(request)
		if err != nil {
			return
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

// Match-ratings pairs players for games, and after each tournament works out the
// ratings of all its players anew.
package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type ladder struct {
	ratings []float64
	spent   time.Duration
}

// recomputeRatings lets the ratings settle over all results.
func (l *ladder) recomputeRatings(results [][2]int) []float64 {
	start := time.Now()
	ratings := slices.Clone(l.ratings)
	for range 60 {
		for _, game := range results {
			winner, loser := game[0], game[1]
			expected := 1 / (1 + math.Pow(10, (ratings[loser]-ratings[winner])/400))
			ratings[winner] += 8 * (1 - expected)
			ratings[loser] -= 8 * (1 - expected)
		}
	}
	l.spent += time.Since(start)
	return ratings
}

func main() {
	l := &ladder{ratings: make([]float64, 500)}
	for i := range l.ratings {
		l.ratings[i] = 1200 + float64(i%300)
	}
	var games, tournaments sync.WaitGroup
	took := make([]time.Duration, 300)
	rec.Start()
	tournaments.Go(func() { closeTournaments(l) })
	due := time.Now()
	for id := range took {
		due = due.Add(1500 * time.Microsecond)
		time.Sleep(time.Until(due))
		came := due
		games.Go(func() {
			handleMatch(l.ratings, id)
			took[id] = time.Since(came)
		})
	}
	games.Wait()
	tournaments.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d matches of 0.05 ms took p50 %v, p90 %v; the ratings took %v in 5 runs\n",
		len(took), took[len(took)/2], took[len(took)*9/10], l.spent)
}

func closeTournaments(l *ladder) {
	for round := range 5 {
		time.Sleep(50 * time.Millisecond)
		results := make([][2]int, 9000)
		for i := range results {
			results[i] = [2]int{(i*7 + round) % 500, (i*13 + 1) % 500}
		}
		l.recomputeRatings(results)
	}
}

func handleMatch(ratings []float64, player int) (opponent int) {
	nearest := math.Inf(1)
	for other, rating := range ratings {
		if d := math.Abs(rating - ratings[player%len(ratings)]); d < nearest && other != player {
			opponent, nearest = other, d
		}
	}
	rec.Work(50)
	return opponent
}

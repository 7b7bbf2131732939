// Ferry-booking answers what is free on the sailings, and sends the harbour
// office a report of all of them every now and then.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/ferry-booking/berths"
)

const (
	sailings = 40
	phase    = 900 * time.Millisecond
)

type asked struct {
	at   time.Time
	took time.Duration
}

func main() {
	plan := berths.New(sailings, 400)
	here, office := net.Pipe()
	go printReports(office)
	var reports []asked
	questions := make([][]asked, 8)
	rec.Start()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	open.Go(func() {
		for time.Now().Before(end) {
			time.Sleep(70 * time.Millisecond)
			begin := time.Now()
			if err := plan.WriteReport(here); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			reports = append(reports, asked{begin, time.Since(begin)})
		}
	})
	for agent := range 3 {
		open.Go(func() { sellTickets(plan, agent, end) })
	}
	for id := range questions {
		open.Go(func() { questions[id] = searchSailings(plan, id, end) })
	}
	open.Wait()
	rec.Stop()
	var during, else_ []time.Duration
	for _, q := range slices.Concat(questions...) {
		if slices.ContainsFunc(reports, func(r asked) bool { return q.at.After(r.at) && q.at.Before(r.at.Add(r.took)) }) {
			during = append(during, q.took)
		} else {
			else_ = append(else_, q.took)
		}
	}
	slices.Sort(during)
	slices.Sort(else_)
	fmt.Fprintf(os.Stderr, "proof: %d reports, the first took %v; a question for free berths took p50 %v during one (n=%d), and p50 %v otherwise (n=%d)\n",
		len(reports), reports[0].took.Round(time.Millisecond), during[len(during)/2], len(during), else_[len(else_)/2], len(else_))
}

func sellTickets(plan *berths.Plan, agent int, end time.Time) {
	for n := agent; time.Now().Before(end); n++ {
		plan.Assign(n % sailings)
		time.Sleep(2 * time.Millisecond)
	}
}

func searchSailings(plan *berths.Plan, id int, end time.Time) (questions []asked) {
	for n := id; time.Now().Before(end); n++ {
		begin := time.Now()
		plan.Free(n % sailings)
		questions = append(questions, asked{begin, time.Since(begin)})
		time.Sleep(time.Millisecond)
	}
	return questions
}

// printReports is the office, with a printer of about a line a millisecond.
func printReports(office net.Conn) {
	lines := bufio.NewScanner(office)
	for lines.Scan() {
		time.Sleep(time.Millisecond)
	}
}

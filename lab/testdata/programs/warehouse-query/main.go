// Warehouse-query runs the nightly reports of a few departments against a data
// warehouse, which takes its time; nobody waits for the reports before morning.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const reports = 8

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	go serveWarehouse(listener)
	var departments sync.WaitGroup
	rows := make([]int, 5)
	spent := make([]time.Duration, len(rows))
	rec.Start()
	start := time.Now()
	for id := range rows {
		departments.Go(func() { rows[id], spent[id] = runReports(listener.Addr().String(), id) })
	}
	departments.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d departments each ran %d queries of 50 ms in %v; rows %v, own work %v\n", len(rows), reports, took, rows, spent)
}

// runReports returns the number of rows, and how long the work on them took.
func runReports(address string, department int) (rows int, spent time.Duration) {
	conn, err := net.Dial("tcp", address)
	check(err)
	defer conn.Close()
	replies := bufio.NewReader(conn)
	for n := range reports {
		_, err := fmt.Fprintf(conn, "select * from sales where department = %d and month = %d\n", department, n+1)
		check(err)
		count := 0
		_, err = fmt.Fscanf(replies, "%d rows\n", &count)
		check(err)
		start := time.Now()
		formatReport(count)
		spent += time.Since(start)
		rows += count
	}
	return rows, spent
}

func formatReport(rows int) { rec.Work(2 * rows) }

func serveWarehouse(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go answerQueries(conn)
	}
}

// answerQueries has each client's queries run one after another, as they come.
func answerQueries(conn net.Conn) {
	defer conn.Close()
	queries := bufio.NewScanner(conn)
	for n := 0; queries.Scan(); n++ {
		time.Sleep(50 * time.Millisecond)
		if _, err := fmt.Fprintf(conn, "%d rows\n", 100+10*n); err != nil {
			return
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

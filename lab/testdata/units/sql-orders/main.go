// Sql-orders queries a database through database/sql, with at most three connections.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"math/rand/v2"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

// wire is a driver whose queries say how many microseconds they take.
type wire struct{}

func (wire) Connect(context.Context) (driver.Conn, error) { return &conn{backend.Dial()}, nil }
func (w wire) Driver() driver.Driver                      { return w }
func (w wire) Open(string) (driver.Conn, error)           { return w.Connect(context.Background()) }

type conn struct{ server *textproto.Conn }

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (c *conn) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (c *conn) Close() error                        { return c.server.Close() }

func (c *conn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if err := c.server.PrintfLine("%s", query); err != nil {
		return nil, err
	}
	_, err := c.server.ReadLine()
	return rows{}, err
}

// rows are none.
type rows struct{}

func (rows) Columns() []string         { return nil }
func (rows) Close() error              { return nil }
func (rows) Next([]driver.Value) error { return io.EOF }

type shop struct{ db *sql.DB }

func (s *shop) query(micros string) {
	found, err := s.db.Query(micros)
	mark.Check(err)
	mark.Check(found.Close())
}

func (s *shop) order() {
	defer mark.Begin("order").End()
	s.query("700")
	mark.Work(120)
	s.query("500")
}

// report holds a connection for long.
func (s *shop) report() {
	defer mark.Begin("report").End()
	s.query("16000")
	mark.Work(200)
}

func (s *shop) reports(end time.Time) {
	for at := range time.Tick(45 * time.Millisecond) {
		if at.After(end) {
			return
		}
		s.report()
	}
}

func main() {
	s := &shop{sql.OpenDB(wire{})}
	s.db.SetMaxOpenConns(3)
	s.db.SetMaxIdleConns(3)
	mark.Start()
	end := time.Now().Add(1200 * time.Millisecond)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { s.reports(end) })
	}
	for time.Now().Before(end) {
		all.Add(1)
		go func() {
			defer all.Done()
			s.order()
		}()
		time.Sleep(time.Duration(2000+rand.IntN(3000)) * time.Microsecond)
	}
	all.Wait()
	mark.Stop()
}

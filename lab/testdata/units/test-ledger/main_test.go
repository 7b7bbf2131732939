package main

import (
	"fmt"
	"net/textproto"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

// fixture is a bank for all tests: its lock is held while it answers.
var fixture struct {
	mu   sync.Mutex
	bank *textproto.Conn
}

func settle(micros int) {
	fixture.mu.Lock()
	defer fixture.mu.Unlock()
	mark.Check(fixture.bank.PrintfLine("%d", micros))
	_, err := fixture.bank.ReadLine()
	mark.Check(err)
}

// nightly settles what is left over.
func nightly() {
	for {
		settle(70000)
		time.Sleep(time.Millisecond)
	}
}

func TestTransfer(t *testing.T) {
	defer mark.Begin("test").End()
	l := ledger{}
	for range 20 {
		l.transfer("a", "b", 5)
	}
	if l["b"] != 100 {
		t.Error(l)
	}
}

func TestSum(t *testing.T) {
	defer mark.Begin("test").End()
	l := ledger{}
	l.transfer("a", "b", 5)
	if l.sum() != 0 {
		t.Error(l)
	}
}

func TestFile(t *testing.T) {
	defer mark.Begin("test").End()
	file := t.TempDir() + "/ledger"
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
}

func TestOpening(t *testing.T) {
	defer mark.Begin("test").End()
	for n := range 3 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			defer mark.Begin("subtest").End()
			ledger{}.sum()
		})
	}
}

func TestExpiry(t *testing.T) {
	defer mark.Begin("test").End()
	time.Sleep(12 * time.Millisecond)
}

func testSettle(t *testing.T, micros int) {
	t.Parallel()
	defer mark.Begin("test").End()
	mark.Work(300)
	settle(micros)
}

func TestSettleCard(t *testing.T)     { testSettle(t, 900) }
func TestSettleCash(t *testing.T)     { testSettle(t, 1200) }
func TestSettleTransfer(t *testing.T) { testSettle(t, 1000) }
func TestSettleCheque(t *testing.T)   { testSettle(t, 1500) }
func TestSettleVoucher(t *testing.T)  { testSettle(t, 1100) }

func TestMain(m *testing.M) {
	fixture.bank = backend.Dial()
	go nightly()
	mark.Start()
	if status := m.Run(); status != 0 {
		os.Exit(status)
	}
	mark.Stop()
}

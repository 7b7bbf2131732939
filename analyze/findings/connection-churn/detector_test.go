package connectionchurn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	connectionchurn "github.com/gmpscope/gmpscope/analyze/findings/connection-churn"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

// detect has goroutine 9 create n goroutines that open a connection each, a millisecond apart, of
// which ended are closed again, under the names of a Go release.
func detect(n, ended int64, opener string) []findings.Finding {
	s := New(2).Class(1, 9)
	for i := range n {
		open, read := 1000+2*i, 1001+2*i
		s.Class(2, open).Class(3, read)
		s.Local(9, 0, reference.WhyUnblock).Start(9, 0).Create(open, 9).Stop(9, reference.WhyBlock)
		s.Start(open, 0).Pass(500*Us).Create(read, open).Stop(open, reference.WhyExit)
		why := reference.WhyBlock
		if i < ended {
			why = reference.WhyExit
		}
		s.Run(read, 0, 500*Us, why)
	}
	f := s.Facts()
	f.ClassName = func(c int32) (string, string) {
		return []string{"", "main.fetch", opener, "net/http.(*persistConn).readLoop"}[c], "main.main"
	}
	return s.DetectWith(connectionchurn.New(connectionchurn.Default()), f)
}

func TestFindsConnectionsThatAreNotKept(t *testing.T) {
	for _, opener := range []string{"net/http.(*Transport).dialConnFor", "net/http.(*Transport).startDialConnForLocked.func1"} {
		x := One(t, detect(200, 150, opener), connectionchurn.ID, findings.Warning)
		want := "main.f9, called by main.fetch, opened connections for requests of net/http: 200, 1,000 a second, of which 150 were not kept; opening them took 100 ms in all"
		if x.Title.String() != want {
			t.Errorf("%s, want %s", x.Title, want)
		}
		if c := x.Cause(); c == nil || c.Class != "main.fetch" || c.G != 9 {
			t.Errorf("cause %v", c)
		}
	}
}

func TestNearMisses(t *testing.T) {
	for _, c := range []struct {
		what     string
		n, ended int64
		opener   string
	}{
		{"a pool that fills", 200, 90, "net/http.(*Transport).dialConnFor"},
		{"few", 40, 40, "net/http.(*Transport).dialConnFor"},
		{"other goroutines", 200, 200, "main.work"},
	} {
		t.Run(c.what, func(t *testing.T) { None(t, detect(c.n, c.ended, c.opener)) })
	}
}

const (
	block int32 = 20 + iota
	open
	closes
	accept
	create
	module = "example.com/db.(*pool)."
	at     = " (/go/pkg/mod/example.com/db@v1.2.0/pool.go:7)"
)

// stacks are those of a client, whose functions dial and put are called by main.query.
func stacks(dial, put string) map[int32][]string {
	dials := []string{"net.(*sysDialer).doDialTCP (tcpsock_posix.go:75)", "net.(*Dialer).DialContext (dial.go:557)", dial, "main.query (main.go:5)", "main.worker (main.go:3)"}
	return map[int32][]string{
		block: append([]string{"internal/poll.(*FD).WaitWrite (fd_unix.go:685)", "net.(*netFD).connect (fd_unix.go:119)"}, dials...),
		open:  append([]string{"syscall.setsockopt (zsyscall.go:1)", "net.setNoDelay (tcpsockopt_posix.go:15)", "net.newTCPConn (tcpsock.go:290)"}, dials...),
		closes: {"syscall.Close (zsyscall.go:2)", "internal/poll.(*FD).destroy (fd_unix.go:82)", "net.(*netFD).Close (fd_posix.go:50)", "net.(*conn).Close (net.go:220)",
			put, "main.query (main.go:6)", "main.worker (main.go:3)"},
		accept: {"syscall.setsockopt (zsyscall.go:1)", "net.setNoDelay (tcpsockopt_posix.go:15)", "net.newTCPConn (tcpsock.go:290)", "net.(*TCPListener).accept (tcpsock_posix.go:5)", "main.serve (main.go:9)"},
		create: append([]string{"net.(*sysDialer).dialParallel (dial.go:657)"}, dials[1:]...),
	}
}

// call has running goroutine g make a system call.
func call(s *Stream, g int64, stack int32) {
	s.Syscall(g)
	s.Decisions[len(s.Decisions)-1].Stack = stack
	s.Pass(10 * Us).SyscallExit(g)
}

// ask has goroutine 5 open 100 connections, one in 2 ms, and make a system call after each that then
// names.
func ask(then func(i int) []int32) *Stream {
	s := New(1).Class(2, 5).Local(5, 0, reference.WhyCreate).Start(5, 0)
	for i := range 100 {
		s.BlockAt(5, reference.ReasonNetwork, block).Pass(2*Ms).Next(5, 0, reference.WhyNetwork).Start(5, 0)
		call(s, 5, open)
		for _, stack := range then(i) {
			call(s, 5, stack)
		}
	}
	return s.Stop(5, reference.WhyExit)
}

func detectClient(s *Stream, stacks map[int32][]string) []findings.Finding {
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	f.ClassName = func(c int32) (string, string) {
		return []string{"", "main.class1", "main.worker", "net.(*sysDialer).dialParallel (go wrapper 2)"}[c], "main.main"
	}
	return s.DetectWith(connectionchurn.New(connectionchurn.Default()), f)
}

func always(stack ...int32) func(int) []int32 { return func(int) []int32 { return stack } }

func TestFindsAPoolThatKeepsFew(t *testing.T) {
	x := One(t, detectClient(ask(always(closes)), stacks(module+"dial"+at, module+"put"+at)), connectionchurn.ID, findings.Warning)
	want := "example.com/db.(*pool).dial, called by main.query, opened connections: 100, 495 a second, of which 100 were not kept: example.com/db.(*pool).put closed most; goroutines were blocked for 200 ms to open them"
	if x.Title.String() != want || x.Basis != findings.Inferred {
		t.Errorf("%s %s, want %s", x.Basis, x.Title, want)
	}
}

// What may be a crawler is noted, whatever the dials cost.
func TestNotesCrawlers(t *testing.T) {
	served := func(put string) map[int32][]string {
		all := stacks("main.scan (main.go:7)", put)
		for h := range all {
			all[h] = append(all[h], "net/http.(*conn).serve (server.go:1)")
		}
		return all
	}
	for _, c := range []struct {
		what   string
		stacks map[int32][]string
		want   findings.Severity
	}{
		{"its own code", stacks("main.scan (main.go:7)", "main.done (main.go:8)"), findings.Note},
		{"for requests", served("main.done (main.go:8)"), findings.Critical},
		{"once for each request", served("main.scan (main.go:8)"), findings.Note},
		{"once, with a deferred literal", served("main.scan.func1 (main.go:8)"), findings.Note},
	} {
		if x := One(t, detectClient(ask(always(closes)), c.stacks), connectionchurn.ID, findings.Note); x.Severity != c.want {
			t.Errorf("%s: %s", c.what, x.Severity)
		}
	}
}

// A server in the same program closes as many, and functions of another module more.
func TestNamesWhoCloses(t *testing.T) {
	all := stacks("main.dial (main.go:7)", "main.put (main.go:8)")
	all[create] = append(all[closes][:4:4], "main.answer (main.go:9)", "main.serve (main.go:10)")
	all[block] = append(all[closes][:4:4], module+"put"+at, "main.worker (main.go:3)")
	x := One(t, detectClient(ask(always(accept, accept, create, create, closes, block, block, block)), all), connectionchurn.ID, findings.Note)
	if title := x.Title.String(); !strings.Contains(title, ": main.put closed most") {
		t.Error(title)
	}
}

// Where a host has addresses of IPv4 and IPv6, goroutines of package net dial.
func TestFindsWhoHasTwoFamiliesDialed(t *testing.T) {
	s := New(1).Class(2, 5).Local(5, 0, reference.WhyCreate).Start(5, 0)
	for i := range int64(100) {
		racer := 100 + i
		s.Class(3, racer).Create(racer, 5)
		s.Decisions[len(s.Decisions)-1].Stack = create
		call(s, 5, closes)
		s.Block(5, reference.ReasonSelect).Start(racer, 0)
		call(s, racer, open)
		s.Pass(2*Ms).Wake(5, racer).Stop(racer, reference.WhyExit).Start(5, 0)
	}
	all := stacks(module+"dial"+at, module+"put"+at)
	all[open] = append(all[open][:4:4], "net.(*sysDialer).dialParallel.func1 (dial.go:600)")
	x := One(t, detectClient(s, all), connectionchurn.ID, findings.Note)
	if c := x.Cause(); x.Basis != findings.Inferred || c.G != 5 || c.AtInnermost().Short() != "example.com/db.(*pool).dial" {
		t.Errorf("%s %v", x.Basis, c)
	}
}

func TestClientsThatKeepConnections(t *testing.T) {
	pool := func() map[int32][]string { return stacks(module+"dial"+at, module+"put"+at) }
	own := stacks("main.dial (main.go:7)", "main.serve.func1 (main.go:12)")
	transport := pool()
	for h := range transport {
		transport[h] = append(transport[h], "net/http.(*Transport).dialConn (transport.go:1)")
	}
	datagrams := pool()
	datagrams[open] = datagrams[open][3:]
	for _, c := range []struct {
		what   string
		then   func(i int) []int32
		stacks map[int32][]string
	}{
		{"a pool that fills", always(), pool()},
		{"a pool that fills, and is closed", func(i int) []int32 {
			if i < 99 {
				return nil
			}
			return slices.Repeat([]int32{closes}, 100)
		}, pool()},
		{"a server closes what it accepted", always(accept, closes), own},
		{"another module closes", always(closes), stacks(module+"dial"+at, "main.done (main.go:7)")},
		{"a dial function of net/http", always(closes), transport},
		{"UDP", always(closes), datagrams},
	} {
		t.Run(c.what, func(t *testing.T) { None(t, detectClient(ask(c.then), c.stacks)) })
	}
}

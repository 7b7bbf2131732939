package connectionchurn

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// function is one that opens or closes connections, and the module that it does so for, "" for the
// program: the innermost one in the stack, as the pool of a library closes what a function of the
// program may have dialed.
type function struct {
	name   findings.Name
	module string
}

// client is the TCP connections that a function has opened and closed.
type client struct {
	function
	churn
	closes churn
	raced  churn // the goroutines of package net that it had created to open them
}

// Functions of package net. It sets TCP_NODELAY once a connection is open: connect may fail, and is
// for UDP, too.
const (
	noDelay  = "net.setNoDelay"
	accepts  = "net.(*TCPListener).accept"
	connects = "net.(*netFD).connect"
	destroy  = "internal/poll.(*FD).destroy"
	racers   = "net.(*sysDialer).dialParallel" // its goroutines try IPv6 and IPv4
	ofHTTP   = "net/http.(*Transport).dialConn"
	serves   = "net/http.(*conn).serve"
)

var (
	opened = []string{"net.(*sysDialer).doDialTCP", "net.(*sysDialer).doDialTCPProto"}
	closed = []string{"net.(*netFD).Close", "net.(*netFD).Read", "net.(*netFD).Write"} // the last user closes
	others = []string{"net.socket", "net.(*TCPListener).close"}                        // that closes what it could not connect
)

// ofClients is for the TCP connections of all clients but net/http. It compares how many each module
// opens and closes: which ones it closes is not known.
func (w *watcher) ofClients(f *findings.Facts) []findings.Finding {
	clients := findings.NewTable(math.MaxInt, func(by function) client { return client{function: by} })
	opens, closes := map[string]int64{}, map[string]int64{} // by module; less those that it accepted
	var raced churn                                         // by goroutines that have no caller
	for _, c := range w.view.Callers() {
		inner, rest := split(f.Frames(c.Stack))
		sets := findings.Through(inner, noDelay)
		switch opening := sets && findings.Through(inner, opened...); {
		case opening && rest == nil:
			raced.n += c.N
		case opening:
			x := clients.At(caller(f, rest))
			x.add(&c)
			opens[x.module] += c.N
		case rest == nil: // whose it is does not show
		case sets && findings.Through(inner, accepts):
			closes[caller(f, rest).module] -= c.N
		case findings.Through(inner, destroy) && findings.Through(inner, closed...) && !findings.Through(inner, others...):
			x := clients.At(caller(f, rest))
			closes[x.module] += c.N
			x.closes.add(&c)
		}
	}
	for _, b := range w.blocks.List {
		switch inner, rest := split(f.Frames(b.stack)); {
		case !findings.Through(inner, connects):
		case rest == nil:
			raced.openNs += b.ns
		default:
			clients.At(caller(f, rest)).openNs += b.ns
		}
	}
	all := int64(0)
	for _, m := range w.made.List {
		if !strings.HasPrefix(string(f.Name(m.class)), racers) {
			continue
		}
		all += m.n
		if _, rest := split(f.Frames(m.stack)); rest != nil {
			x, c := clients.At(caller(f, rest)), m.caller()
			x.raced.add(&c)
		}
	}
	for _, x := range clients.List {
		if x.raced.n == 0 || raced.n == 0 {
			continue
		}
		// Whose goroutines opened how many is not known, unless one function created them all: divide.
		part, c := float64(x.raced.n)/float64(all), x.raced.by
		c.N = int64(part * float64(raced.n))
		x.add(&c)
		x.openNs += int64(part * float64(raced.openNs))
		opens[x.module] += c.N
	}
	var most *client
	for _, x := range clients.List {
		x.closed = min(x.n, closes[x.module]-(opens[x.module]-x.n)) // others of the module keep none
		if w.many(f, &x.churn) && (most == nil || x.n > most.n) {
			most = x
		}
	}
	if most == nil {
		return nil
	}
	closer := slices.MaxFunc(clients.List, func(x, y *client) int { return cmp.Compare(x.closesFor(f, most), y.closesFor(f, most)) })
	if closer.closes.by.From > most.by.From/2+most.by.To/2 {
		return nil // many were open at once
	}
	return []findings.Finding{w.client(f, most, closer)}
}

// closesFor ranks functions by how many connections they close. What shares the goroutine with the one
// that opens some comes first: a server in the same program closes as many.
func (x *client) closesFor(f *findings.Facts, c *client) int64 {
	switch n := x.closes.n; {
	case x.module != c.module:
		return -1
	case findings.Common(f.Frames(x.closes.by.Stack), f.Frames(c.by.Stack)) != "":
		return n + math.MaxInt64/2
	default:
		return n
	}
}

// add adds those of one stack.
func (x *churn) add(c *findings.Caller) {
	by := *c
	if x.n > 0 {
		if c.N <= x.by.N {
			by = x.by
		}
		by.From, by.To = min(x.by.From, c.From), max(x.by.To, c.To)
	}
	x.n, x.by = x.n+c.N, by
}

// split divides a stack into the innermost frames, which are the standard library's, and those of who
// called it; both are nil for connections of net/http.
func split(frames []string) (inner, rest []string) {
	i := slices.IndexFunc(frames, func(fr string) bool { return !findings.OfLibrary(findings.FunctionOf(fr)) })
	if i < 0 {
		i = len(frames)
	}
	inner = frames[:i]
	if findings.Through(frames, ofHTTP) || slices.ContainsFunc(inner, func(fr string) bool { return strings.HasPrefix(fr, "net/http") }) {
		return nil, nil
	}
	if i == len(frames) {
		return inner, nil
	}
	return inner, frames[i:]
}

// caller returns who called the standard library.
func caller(f *findings.Facts, frames []string) (by function) {
	by.name, _ = findings.InnermostFunction(frames, f.Tested)
	for ; len(frames) > 0 && by.module == ""; frames = frames[1:] {
		by.module = (&findings.Actor{Stack: frames, Tested: f.Tested, Innermost: true}).Module()
	}
	return by
}

// client is the finding about connections that a function opens, most of which closer closes.
func (w *watcher) client(f *findings.Facts, c, closer *client) findings.Finding {
	s, ok := w.t.Grade.Severity(c.openNs, f.RecordedNs())
	frames := f.Frames(c.by.Stack)
	// A crawler or a load generator may need them all: its own code dials, for no request that it serves,
	// or a function opens a connection, uses it, and closes it.
	once := closer.name == c.name || strings.HasPrefix(string(closer.name), string(c.name)+".") || strings.HasPrefix(string(c.name), string(closer.name)+".")
	x, who := w.finding(f, s, &c.churn)
	if !ok || once || who.Module() == "" && !findings.Through(frames, serves) {
		x.Severity = findings.Note
	}
	x.Basis = findings.Inferred // both are counted: that the client closes its own is not
	inner, _ := split(frames)
	x.Actors[0].Stack = frames[max(0, len(inner)-1):] // from the call on: what package net did last says little
	x.Title = findings.Say("%s opened connections: %s, %s a second, of which %s were not kept: %s closed most; goroutines were blocked for %s to open them",
		who.Doer(), quantity.Count(c.n), quantity.Number(rate(f, c.n)), quantity.Count(c.closed), closer.name, quantity.Duration(c.openNs))
	if once {
		x.Advise("If %s asks the same peers again and again, have it keep its connections: in a pool, or one for each goroutine that needs one.", who.Short())
		return x
	}
	x.Advise("Let requests share connections: see why %s closes them. Have the client that dials in %s keep as many idle connections as requests are under way at once (MaxIdleConns, PoolSize or the like), and keep one client for all requests.", closer.name, who.Short())
	return x
}

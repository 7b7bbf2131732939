package work

import "strings"

// maxClasses bounds the classes. Goroutines of further ones do no units.
const maxClasses = 4096

// class is the goroutines with one start function.
type class struct {
	name    int32 // function
	does    int32 // function that the start function was given to run; 0 if it runs its own, or that is not known
	lent    int32 // the handle of a class of what one call gave a library to run; else 0
	how     How
	home    home
	tree    tree
	nodes   map[int32]int32 // of the tree, by stack
	by      int32           // then, the function that did so
	call    int             // and which of its calls
	carries bool            // its start function carries the requests of others
	served  bool            // one was begun for a connection or a request
	log     []event
	blocks  int   // that say something
	review  int   // of them, at which the class is decided again
	since   int64 // when it was decided anew; 0 if its first home stands
	ends    int   // in the log, of goroutines that were created in the trace
	phases  *phases
	woken   int64 // for nothing
	idle    int64 // ns blocked at home
	busy    int64 // ns in units
	peers   peers
	sends   int64 // writes to the network
}

// classKey is what tells classes apart.
type classKey struct{ name, does, lent int32 }

// notWork are start functions of goroutines that serve another's unit, or none.
var notWork = []string{
	"runtime/trace.", "net/http.(*connReader).backgroundRead", "net/http.(*http2clientStream).doRequest",
	"golang.org/x/net/http2.(*clientStream).doRequest", "context.", "database/sql.(*DB).connectionOpener",
	"database/sql.(*DB).connectionCleaner", "testing.(*B).launch", "testing.(*B).run1.func1", "runtime/pprof.", "net/http/pprof.",
	"os/signal.", "testing.(*M).", "google.golang.org/grpc/internal/transport.(*http2Server).keepalive",
	"google.golang.org/grpc/internal/transport.(*http2Client).keepalive",
}

// newClass returns a class about which nothing is known but its name.
func newClass(p *places, k classKey) *class {
	c := &class{name: k.name, does: k.does, lent: k.lent, tree: newTree(), nodes: map[int32]int32{}}
	name := p.functions[k.name]
	c.carries = protocolTraits(name) != 0
	for _, prefix := range notWork {
		if strings.HasPrefix(name, prefix) {
			c.how = none
		}
	}
	switch {
	case strings.HasPrefix(name, "runtime.") && name != "runtime.main":
		c.how = none
	case name == "testing.tRunner":
		c.how = Test
	}
	return c
}

// runs returns the function that says what goroutines of the class do.
func (c *class) runs() int32 {
	if c.does != 0 {
		return c.does
	}
	return c.name
}

// OPT: How has 32 bits so that a kindKey has no gaps, and is hashed at once.

// How is the way in which units of work were found.
type How uint32

// The ways in which units of work are found. The package comment says more about each.
const (
	undecided   How = iota
	none            // no units are found
	Cycle           // a goroutine comes back again and again to where it waits for something to do
	Producer        // a goroutine loops at a channel send
	Lifetime        // a goroutine does one job and ends
	Test            // package testing runs a test
	Benchmark       // package testing runs a benchmark
	Calibration     // package testing runs a benchmark to determine b.N
	Phase           // main does one part of its work after another
	Run             // all that a looping goroutine, or the program, does
	Task            // the program marked it as a task (runtime/trace)
	Region          // the program marked it as a region (runtime/trace)
)

var hows = [...]string{"", "none", "cycle", "producer", "lifetime", "test", "benchmark", "calibration", "phase", "run", "task", "region"}

// String returns the word for the way, as in UnitKind.How; "" for the zero value.
func (h How) String() string { return hows[h] }

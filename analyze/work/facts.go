package work

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/reference"
)

// Frame is a frame of a stack, for Options.Frames. It caches what one [Accumulator] knows about it, so
// that it must not be used for another.
type Frame struct {
	Function, File string // full name of the function, and path of its file
	Line           uint64 // line in File, from 1

	function int32 // its number; 0: nothing is learnt yet
	own      bool  // it is of the module that was built
	inTests  bool  // it is in a file of tests
}

// trait is what the frames of a stack say about an event there.
type trait uint16

const (
	inGC          trait = 1 << iota // the runtime's collector works or waits
	inWrite                         // writes to the network
	inConnect                       // connects
	inAccept                        // accepts connections
	inHarness                       // what package testing does beside tests
	inParallel                      // testing.(*T).Parallel
	timerStarts                     // package testing starts a benchmark's timer
	timerStops                      // and stops it
	inGroup                         // sync.(*WaitGroup).Wait
	inChild                         // waits for a child process
	inExec                          // copies between a child process and the program
	leavesProgram                   // a library was called by the program's own module
	inProtocol                      // a loop that carries the requests of others
	inServer                        // such a loop, which begins a goroutine for each request
	inRun                           // testing.(*T).Run
	inFile                          // reads or writes an os.File, which is a pipe or terminal if that blocks
)

// facts is what is known of a stack, whoever has it. It holds no pointers.
type facts struct {
	known   bool
	traits  trait
	root    int32 // function
	site    int32 // function: the innermost before the machinery
	from    int32 // function of the program's own module that calls site, if that is none; 0: none does
	waits   int64 // blocks and system calls there
	handler int32 // function: the outermost of the program's own module, else of any
	class   int32 // whose tree node is of
	node    int32
}

// places knows stacks and functions by numbers.
type places struct {
	stack     func(stack int32) []*Frame // innermost first; valid until the next call
	facts     []facts                    // by handle
	functions []string                   // 0 is none
	named     []named                    // by function
	byName    map[string]int32
	hasTests  map[string]bool // modules at a version, by their folders
}

func newPlaces(stack func(int32) []*Frame) places {
	return places{stack: stack, functions: make([]string, 1), named: make([]named, 1), byName: map[string]int32{"": 0}, hasTests: map[string]bool{}}
}

// function returns the number of a function.
func (p *places) function(name string) int32 {
	n, ok := p.byName[name]
	if !ok {
		n = int32(len(p.functions))
		p.functions, p.named = append(p.functions, name), append(p.named, learnName(name))
		p.byName[name] = n
	}
	return n
}

// isMain reports whether a function is what the main goroutine starts with.
func (p *places) isMain(function int32) bool {
	return p.functions[function] == "main.main" || p.functions[function] == "runtime.main"
}

// at returns what is known of a stack. It is valid until the next call.
func (p *places) at(stack int32) *facts {
	if int(stack) >= len(p.facts) {
		p.facts = append(p.facts, make([]facts, int(stack)+1-len(p.facts))...)
	}
	f := &p.facts[stack]
	if !f.known {
		*f = p.learn(p.frames(stack))
	}
	return f
}

// frames returns the frames of a stack, innermost first. They are valid until the next call.
func (p *places) frames(stack int32) []*Frame {
	frames := p.stack(stack)
	for _, f := range frames {
		if f.function != 0 || f.Function == "" {
			continue
		}
		f.function = p.function(f.Function)
		n := &p.named[f.function]
		module := n.module
		f.inTests = module && strings.HasSuffix(f.File, "_test.go")
		n.inTests, n.at = f.inTests, versioned(f.File)
		// Neither of a module at a version, nor vendored.
		if f.own = module && n.at == "" && !strings.Contains(f.File, "/vendor/"); f.own {
			n.own = true
		}
	}
	return frames
}

// versioned returns the folder of the module at a version in which a file is, "" if it is in none.
func versioned(file string) string {
	before, after, _ := strings.Cut(file, "@")
	version, _, ok := strings.Cut(after, "/")
	if !ok {
		return ""
	}
	return file[:len(before)+1+len(version)]
}

// tested reports whether a function is of the module that is tested, and in no file of tests.
func (p *places) tested(function int32) bool {
	n := &p.named[function]
	return n.module && !n.inTests && (n.own || n.at != "" && p.hasTests[n.at])
}

// learn reads the frames of a stack.
func (p *places) learn(frames []*Frame) facts {
	f := facts{known: true, class: -1, traits: p.traitsOf(frames)}
	if len(frames) == 0 {
		return f
	}
	f.root = frames[len(frames)-1].function
	path := p.core(frames)
	f.site = path[0].function
	if i := slices.IndexFunc(path, func(f *Frame) bool { return f.own }); i > 0 {
		f.from = path[i].function
	}
	var test bool
	if f.handler, test = p.handler(path); test {
		p.named[f.handler].test = true
		p.hasTests[p.named[f.handler].at] = true
	}
	return f
}

// handler returns the outermost function of the program's own module on a path, or else of
// any module but the standard library, and whether it is in a file of tests. Of what package
// testing calls, what such a file has comes first, since a helper that runs all tests tells
// none apart. Of what net/http calls, only what its innermost handler calls counts, so that
// middleware around all routes gives no name.
func (p *places) handler(path []*Frame) (function int32, test bool) {
	if i := slices.IndexFunc(path, func(f *Frame) bool { return p.named[f.function].serveHTTP }); i >= 0 {
		path = path[:i]
	}
	own, other := int32(0), int32(0)
	for _, f := range path {
		switch {
		case f.inTests && p.named[path[len(path)-1].function].pkg == "testing":
			function = f.function
		case f.own:
			own = f.function
		case p.named[f.function].module:
			other = f.function
		}
	}
	return cmp.Or(function, own, other), function != 0
}

// improve has a goroutine be called by a handler if it has none, or one that is shared by
// tests.
func (p *places) improve(handler *int32, by int32) {
	if *handler == 0 || p.named[by].test && !p.named[*handler].test {
		*handler = by
	}
}

// machinery are the packages through which a program waits: a path of places ends before
// the first frame of theirs that comes after another one.
var machinery = map[string]bool{
	"runtime": true, "internal/poll": true, "net": true, "sync": true, "internal/sync": true, "time": true,
	"syscall": true, "bufio": true, "io": true, "crypto/tls": true, "os": true, "fmt": true, "net/textproto": true,
	"encoding/binary": true, "encoding/gob": true, "encoding/json": true,
}

// core returns the frames of a stack that lie before the machinery, innermost first.
func (p *places) core(frames []*Frame) []*Frame {
	for i := len(frames) - 2; i >= 0; i-- {
		if p.named[frames[i].function].machinery {
			return frames[i+1:]
		}
	}
	return frames
}

// named is what is known of a function, most of it by its name.
type named struct {
	pkg       string
	traits    trait // of a stack with the function
	module    bool  // it is not of the standard library
	machinery bool
	serveHTTP bool   // it is a handler of net/http's own
	harness   bool   // it starts and stops the timer of what is measured
	own       bool   // it is of the module that was built
	test      bool   // it is a handler in a file of tests
	inTests   bool   // it is in a file of tests
	at        string // the folder of its module, if that has a version
}

func learnName(function string) named {
	pkg, rest := std.Split(function)
	return named{
		pkg: pkg, traits: traitsOf(pkg, rest) | protocolTraits(function), module: !std.Has(pkg),
		machinery: machinery[pkg] && !strings.HasPrefix(function, "io.Copy") && !strings.HasPrefix(function, "io.copy") && function != "runtime.main",
		serveHTTP: pkg == "net/http" && strings.HasSuffix(rest, ".ServeHTTP"),
		harness:   pkg == "testing" && (rest == "(*B).runN" || rest == "(*B).Loop" || rest == "(*B).loopSlowPath"),
	}
}

// traitsOf returns the traits of a stack with these frames.
func (p *places) traitsOf(frames []*Frame) (t trait) {
	network, own, other := false, false, false
	for i, f := range frames {
		n := &p.named[f.function]
		of := n.traits
		if of&(timerStarts|timerStops) != 0 && (i+1 == len(frames) || !p.named[frames[i+1].function].harness) {
			of &^= timerStarts | timerStops // a benchmark does that itself
		}
		network = network || n.pkg == "net"
		if network {
			of &^= inFile // the file copies from or to a connection
		}
		t |= of
	}
	if !network {
		t &^= inWrite
	}
	for _, f := range p.core(frames) {
		if own, other = own || f.own && other, other || !f.own; own {
			return t | leavesProgram
		}
	}
	return t
}

// collecting are functions of the runtime under which a goroutine works for the collector.
var collecting = []string{"mallocgc", "gcStart", "gcAssistAlloc", "gcMarkDone", "gcWaitOnMark", "gcMarkTermination", "gcParkAssist"}

// traitsOf returns the traits of a stack with a function of a package.
func traitsOf(pkg, rest string) trait {
	switch pkg {
	case "runtime":
		if slices.ContainsFunc(collecting, func(name string) bool { return strings.HasPrefix(rest, name) }) {
			return inGC
		}
	case "internal/poll":
		return pollTraits(rest)
	case "net":
		if strings.HasSuffix(rest, "Listener).accept") {
			return inAccept
		}
	case "sync":
		if rest == "(*WaitGroup).Wait" {
			return inGroup
		}
	case "os":
		if rest == "(*Process).Wait" || rest == "(*Process).blockUntilWaitable" || rest == "(*Process).pidfdWait" {
			return inChild
		}
		if strings.HasPrefix(rest, "(*File).") {
			return inFile
		}
	case "os/exec":
		return inExec
	case "testing":
		return testingTraits[rest]
	}
	return 0
}

// testingTraits are those of functions of package testing.
var testingTraits = map[string]trait{
	"(*M).Run": inHarness, "(*T).Parallel": inParallel, "(*T).Run": inRun, "(*B).StartTimer": timerStarts, "(*B).ResetTimer": timerStarts, "(*B).StopTimer": timerStops,
}

// Loops of HTTP/1 clients, of HTTP/2 and gRPC: they carry the requests of others.
var (
	protocolLoop = regexp.MustCompile(`^(net/http\.\(\*persistConn\)|(net/http|net/http/internal/http2|golang\.org/x/net/http2)\.\(\*(http2)?(serverConn\)\.(serve|read|writeFrame)|ClientConn|clientConn|clientStream)|google\.golang\.org/grpc/internal/transport\.(New|\(\*(http2Client|http2Server|controlBuffer)\)))`)
	serverLoop   = regexp.MustCompile(`\.\(\*((http2)?serverConn\)\.serve|http2Server\)\.HandleStreams)$`)
)

func protocolTraits(function string) trait {
	switch {
	case !protocolLoop.MatchString(function):
		return 0
	case serverLoop.MatchString(function):
		return inProtocol | inServer
	}
	return inProtocol
}

func pollTraits(rest string) (t trait) {
	switch {
	case strings.HasPrefix(rest, "(*FD).Write"), rest == "SendFile", rest == "Splice":
		t |= inWrite
	case rest == "(*FD).Accept":
		t |= inAccept
	case rest == "(*FD).WaitWrite":
		t |= inConnect
	}
	return t
}

// family is what kind of wait a block is.
type family uint8

const (
	unknown family = iota
	read
	write
	receive
	selects
	cond
	sleep
	lock
	send
	collector
	preempted
	numFamilies
)

// familyOf returns that of a goroutine that stopped to wait for a reason.
func familyOf(r reference.Reason, t trait) family {
	if t&inGC != 0 {
		return collector
	}
	if r == reference.ReasonNetwork && t&(inWrite|inConnect) != 0 {
		return write
	}
	return byReason[r]
}

// byReason are the families of blocks, but for writes to the network.
var byReason = [1 << 8]family{
	reference.ReasonNetwork: read, reference.ReasonChanReceive: receive, reference.ReasonSelect: selects,
	reference.ReasonCond: cond, reference.ReasonSleep: sleep, reference.ReasonSync: lock, reference.ReasonChanSend: send,
	reference.ReasonAssist: collector, reference.ReasonGCEnds: collector, reference.ReasonPreempted: preempted,
}

// families is a set of them.
type families uint16

// one returns the only one in a set; unknown if there is none or more.
func (s families) one() family {
	for f := range numFamilies {
		if s == 1<<f {
			return f
		}
	}
	return unknown
}

// shown reports whether a block of a family says something of what a class does.
func (f family) shown() bool { return f != unknown && f != collector && f != preempted }

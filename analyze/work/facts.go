package work

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/reference"
)

// Frame is a frame of a stack.
type Frame struct {
	Function, File string
	Line           uint64
}

// trait is what the frames of a stack say of an event there.
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
)

// facts is what is known of a stack, whoever has it. It holds no pointers.
type facts struct {
	known   bool
	traits  trait
	root    int32 // function
	site    int32 // function: the innermost before the machinery
	handler int32 // function: the outermost of the program's own module, else of any
	class   int32 // whose tree node is of
	node    int32
}

// places knows stacks and functions by numbers.
type places struct {
	frames    func(stack int32) []Frame // innermost first; valid until the next call
	facts     []facts                   // by handle
	functions []string                  // 0 is none
	byName    map[string]int32
	owned     map[int32]bool // functions of the program's own module
	tests     map[int32]bool // handlers in files of tests
}

func newPlaces(frames func(int32) []Frame) places {
	return places{frames: frames, functions: make([]string, 1), byName: map[string]int32{"": 0}, owned: map[int32]bool{}, tests: map[int32]bool{}}
}

// function returns the number of a function.
func (p *places) function(name string) int32 {
	n, ok := p.byName[name]
	if !ok {
		n = int32(len(p.functions))
		p.functions = append(p.functions, name)
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

// learn reads the frames of a stack.
func (p *places) learn(frames []Frame) facts {
	f := facts{known: true, class: -1, traits: traitsOf(frames)}
	if len(frames) == 0 {
		return f
	}
	f.root = p.function(frames[len(frames)-1].Function)
	path := core(frames)
	f.site = p.function(path[0].Function)
	name, test := handler(path)
	if f.handler = p.function(name); test {
		p.tests[f.handler] = true
	}
	for i := range frames {
		if frames[i].own() {
			p.owned[p.function(frames[i].Function)] = true
		}
	}
	return f
}

// handler returns the outermost function of the program's own module on a path, or else of
// any module but the standard library, and whether it is in a file of tests. Of what package
// testing calls, what such a file has comes first, since a helper that runs all tests tells
// none apart. Of what net/http calls, only what its innermost handler calls counts, so that
// middleware around all routes gives no name.
func handler(path []Frame) (name string, test bool) {
	for i := range path {
		if f := &path[i]; packageOf(f.Function) == "net/http" && strings.HasSuffix(f.Function, ".ServeHTTP") {
			path = path[:i]
			break
		}
	}
	if len(path) > 0 && packageOf(path[len(path)-1].Function) == "testing" {
		if name := outermost(path, (*Frame).inTests); name != "" {
			return name, true
		}
	}
	return cmp.Or(outermost(path, (*Frame).own), outermost(path, (*Frame).ofModule)), false
}

// outermost returns the outermost function on a path of frames that are something.
func outermost(path []Frame, is func(*Frame) bool) string {
	for i := len(path) - 1; i >= 0; i-- {
		if is(&path[i]) {
			return path[i].Function
		}
	}
	return ""
}

func (f *Frame) inTests() bool { return strings.HasSuffix(f.File, "_test.go") && f.ofModule() }

// ofModule reports whether a frame is not of the standard library.
func (f *Frame) ofModule() bool { return !std.Has(packageOf(f.Function)) }

// improve has a goroutine be called by a handler if it has none, or one that is shared by
// tests.
func (p *places) improve(handler *int32, by int32) {
	if *handler == 0 || p.tests[by] && !p.tests[*handler] {
		*handler = by
	}
}

// own reports whether a frame is of the module that was built: neither of the standard
// library, nor of a module at a version, nor vendored.
func (f *Frame) own() bool {
	return f.ofModule() && !strings.ContainsRune(f.File, '@') && !strings.Contains(f.File, "/vendor/")
}

func packageOf(function string) string {
	pkg, _ := std.Split(function)
	return pkg
}

// machinery are the packages through which a program waits: a path of places ends before
// the first frame of theirs that comes after another one.
var machinery = map[string]bool{
	"runtime": true, "internal/poll": true, "net": true, "sync": true, "internal/sync": true, "time": true,
	"syscall": true, "bufio": true, "io": true, "crypto/tls": true, "os": true, "fmt": true, "net/textproto": true,
	"encoding/binary": true, "encoding/gob": true, "encoding/json": true,
}

func isMachinery(function string) bool {
	pkg := packageOf(function)
	return machinery[pkg] && !strings.HasPrefix(function, "io.Copy") && !strings.HasPrefix(function, "io.copy") && function != "runtime.main"
}

// core returns the frames of a stack that lie before the machinery, innermost first.
func core(frames []Frame) []Frame {
	for i := len(frames) - 2; i >= 0; i-- {
		if isMachinery(frames[i].Function) {
			return frames[i+1:]
		}
	}
	return frames
}

// collecting are functions of the runtime under which a goroutine works for the collector.
var collecting = []string{"mallocgc", "gcStart", "gcAssistAlloc", "gcMarkDone", "gcWaitOnMark", "gcMarkTermination", "gcParkAssist"}

func traitsOf(frames []Frame) (t trait) {
	network := false
	for i := range frames {
		fn := frames[i].Function
		pkg, rest := std.Split(fn)
		switch pkg {
		case "runtime":
			for _, name := range collecting {
				if strings.HasPrefix(rest, name) {
					t |= inGC
				}
			}
		case "internal/poll":
			t |= pollTraits(rest)
		case "net":
			network = true
			if strings.HasSuffix(rest, "Listener).accept") {
				t |= inAccept
			}
		case "sync":
			if rest == "(*WaitGroup).Wait" {
				t |= inGroup
			}
		case "os":
			if rest == "(*Process).Wait" || rest == "(*Process).blockUntilWaitable" || rest == "(*Process).pidfdWait" {
				t |= inChild
			}
		case "os/exec":
			t |= inExec
		case "testing":
			t |= testingTraits(frames, i, rest)
		}
		t |= protocolTraits(fn)
	}
	if !network {
		t &^= inWrite
	}
	if leaves(core(frames)) {
		t |= leavesProgram
	}
	return t
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

// isHarness has the functions that start and stop the timer of what is measured.
var isHarness = map[string]bool{"testing.(*B).runN": true, "testing.(*B).Loop": true, "testing.(*B).loopSlowPath": true}

// testingTraits reads frame i, a function of package testing.
func testingTraits(frames []Frame, i int, rest string) (t trait) {
	byHarness := i+1 < len(frames) && isHarness[frames[i+1].Function]
	switch rest {
	case "(*M).Run":
		t |= inHarness
	case "(*T).Parallel":
		t |= inParallel
	case "(*B).StartTimer", "(*B).ResetTimer":
		if byHarness {
			t |= timerStarts
		}
	case "(*B).StopTimer":
		if byHarness {
			t |= timerStops
		}
	}
	return t
}

// leaves reports whether a path goes from the program's own module into another.
func leaves(path []Frame) bool {
	other := false
	for i := range path {
		own := path[i].own()
		if own && other {
			return true
		}
		other = other || !own
	}
	return false
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
	switch r {
	case reference.ReasonNetwork:
		if t&(inWrite|inConnect) != 0 {
			return write
		}
		return read
	case reference.ReasonChanReceive:
		return receive
	case reference.ReasonSelect:
		return selects
	case reference.ReasonCond:
		return cond
	case reference.ReasonSleep:
		return sleep
	case reference.ReasonSync:
		return lock
	case reference.ReasonChanSend:
		return send
	case reference.ReasonAssist, reference.ReasonGCEnds:
		return collector
	case reference.ReasonPreempted:
		return preempted
	}
	return unknown
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

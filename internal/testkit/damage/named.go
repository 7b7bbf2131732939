package damage

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// Named is a program for [Apply], with the name of the damage that it does.
type Named struct {
	Name    string
	Program []byte
}

// kindsOf are the events that programs look for, in the formats since Go 1.22
// and before.
type kindsOf struct {
	stack, text, proc, create, block byte
	procArg, blockStack              int // arguments: the P or its thread, and the stack
}

// Programs returns a program for each damage that every reader of traces must
// expect, where the trace has what it needs.
func Programs(trace []byte) []Named {
	t := Parse(trace)
	k := kindsOf{stack: wire.Stack, text: wire.String, proc: wire.ProcStatus, create: wire.GoCreate, block: wire.GoBlock, procArg: 1, blockStack: 2}
	if t.V1() {
		k = kindsOf{stack: 3, text: evStringV1, proc: 5, create: 13, block: 23, procArg: 1, blockStack: 1} // runtime/trace.go, Go 1.21
	}
	var out []Named
	add := func(name string, program ...int) {
		n := Named{Name: name}
		for _, x := range program {
			n.Program = append(n.Program, byte(x))
		}
		out = append(out, n)
	}
	number := func(x uint64) int { return slices.Index(numbers[:], x) }
	const none = 1_000_003 // that no table has
	middle := len(t.Blocks) / 2
	add("a batch dropped", 0, middle>>8, middle)
	add("a batch twice", 1, middle>>8, middle, 0, 1)
	add("batches swapped", 2, middle>>8, middle, 0, 1)
	add("a generation removed", 3, middle>>8, middle)
	if t.V1() {
		add("time running backwards", 15, middle>>8, middle, 0, 0, 1, 0)
	} else {
		add("time running backwards", 5, middle>>8, middle, 1, 0)
	}
	// at adds a program that changes the first event of a kind.
	at := func(name string, kind byte, op int, rest ...int) {
		for i := range t.Blocks {
			if j := slices.IndexFunc(t.Blocks[i].Events, func(e Event) bool { return e.Kind == kind }); j >= 0 {
				program := []int{op, i >> 8, i}
				if op >= 9 { // else it concerns the batch
					program = append(program, j>>8, j)
				}
				add(name, append(program, rest...)...)
				return
			}
		}
	}
	at("a wrong size", k.create, 4, 255)
	at("a batch cut", k.block, 10)
	at("a huge number", k.create, 14, 1, len(numbers)-1)
	at("a number longer than it has to be", k.create, 19)
	at("a string with a bad id", k.text, 14, 0, number(0))
	at("a frame without its string", k.stack, 14, 3, number(none))
	at("a stack with the id of another", k.stack, 15, 0, 129)
	at("an event without its stack", k.block, 14, k.blockStack, number(none))
	at("a million Ps", k.proc, 14, k.procArg, number(1_000_000))
	at("a storm of Ps", k.proc, 12, 3, k.procArg)
	at("a storm of events", k.block, 11, 3, 0)
	at("a goroutine's id used again", k.create, 11, 0, 0)
	return out
}

package work

import (
	"math"
	"strings"
)

// maxNodes bounds the tree of a class. A path ends where there is no room for more of it.
const maxNodes = 256

// tree holds the paths of places, from the root on, at which the goroutines of a class did
// something. Node 0 is in front of the root.
type tree struct {
	nodes    []node
	children map[step]int32
}

// node is a place, and how it was come to.
type node struct {
	parent, depth int32
	function      int32
	at            int32 // line in the file
	line          int32 // the node at depth 1 above it, or itself
	left          bool  // at depth 1: a goroutine went on from there to another line
	closure       bool  // at depth 1: a function literal of the start function is called there
	own           bool  // a function of the program's own module is on the path
	done          bool  // at depth 1: what it calls answers a request of HTTP/2, after its handler
}

// step is a place behind a node.
type step struct {
	parent, function int32
	line             uint64
}

func newTree() tree { return tree{nodes: make([]node, 1), children: map[step]int32{}} }

// add returns the node of a path, which has its innermost frame first.
func (t *tree) add(path []*Frame) int32 {
	if len(path) == 0 {
		return 0
	}
	at, root := int32(0), path[len(path)-1].Function
	for i := len(path) - 1; i >= 0; i-- {
		s := step{at, path[i].function, path[i].Line}
		next, ok := t.children[s]
		if !ok {
			if len(t.nodes) == maxNodes {
				break
			}
			next = t.grow(s, t.nodes[at].own || path[i].own)
		}
		if i == len(path)-2 && strings.HasPrefix(path[i].Function, root+".func") {
			t.nodes[t.nodes[next].line].closure = true
		}
		if i == len(path)-3 && strings.HasSuffix(path[i].Function, "esponseWriter).handlerDone") {
			t.nodes[t.nodes[next].line].done = true
		}
		at = next
	}
	return at
}

func (t *tree) grow(s step, own bool) int32 {
	at := int32(len(t.nodes))
	n := node{parent: s.parent, depth: t.nodes[s.parent].depth + 1, function: s.function, at: int32(min(s.line, math.MaxInt32)), line: at, own: own}
	if n.depth > 1 {
		n.line = t.nodes[s.parent].line
	}
	t.nodes, t.children[s] = append(t.nodes, n), at
	return at
}

// under reports whether node n is at, or below it.
func (t *tree) under(n, at int32) bool {
	depth := t.nodes[at].depth
	for t.nodes[n].depth > depth {
		n = t.nodes[n].parent
	}
	return n == at
}

// calls reports whether a function is on the path of node n.
func (t *tree) calls(n, function int32) bool {
	for n > 0 && t.nodes[n].function != function {
		n = t.nodes[n].parent
	}
	return n > 0
}

// lines returns how many nodes there are at depth 1.
func (t *tree) lines() (n int) {
	for i := range t.nodes {
		if t.nodes[i].depth == 1 {
			n++
		}
	}
	return n
}

// Package scenegraph keeps a scene as a tree of nodes and lays every frame out
// as a new display list.
package scenegraph

import "time"

// Node of the scene: position relative to the parent.
type Node struct {
	Name     string
	X, Y     float64
	Visible  bool
	parent   *Node
	Children []*Node
}

// Add appends a child.
func (n *Node) Add(c *Node) *Node {
	c.parent = n
	n.Children = append(n.Children, c)
	return c
}

// Forest builds a regular tree, fan children a node, depth levels.
func Forest(fan, depth int) *Node {
	n := &Node{Name: "group", Visible: true, X: float64(fan), Y: float64(depth)}
	if depth == 0 {
		return n
	}
	for range fan {
		n.Add(Forest(fan, depth-1))
	}
	return n
}

// Item of the display list: a node at its place on the screen.
type Item struct {
	Node *Node
	X, Y float64
	Path []*Node
	Next *Item
}

// Stage shows a scene.
type Stage struct {
	Root  *Node
	shown *Item
}

// Frame lays out up to limit visible nodes and reports how many it placed and
// how long that took.
func (s *Stage) Frame(limit int) (placed int, took time.Duration) {
	start := time.Now()
	var head *Item
	var walk func(n *Node, x, y float64, path []*Node)
	walk = func(n *Node, x, y float64, path []*Node) {
		if !n.Visible || placed >= limit {
			return
		}
		placed++
		x, y = x+n.X, y+n.Y
		path = append(path[:len(path):len(path)], n)
		head = &Item{Node: n, X: x, Y: y, Path: path, Next: head}
		for _, c := range n.Children {
			walk(c, x, y, path)
		}
	}
	walk(s.Root, 0, 0, nil)
	s.shown = head
	return placed, time.Since(start)
}

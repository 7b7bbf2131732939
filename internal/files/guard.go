package files

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Guard knows the files that a program reads and those that it is about to write, by what
// they are and not by their names, and refuses an output that is an input. [Open], [Regular],
// [Cache.Get] and [Create] declare what they open to the guard of their context.
type Guard struct {
	mu              sync.Mutex
	inputs, outputs table
}

// Conflict is the error for an output that is the same file as an input, or as another output.
// Both fields are names for messages.
type Conflict struct{ Output, Other string }

// Error names the output and the file that it would overwrite.
func (c *Conflict) Error() string {
	return fmt.Sprintf("%s is the same file as %s: write to another", c.Output, c.Other)
}

type guardKey struct{}

// With returns a context in which the guard sees what is opened.
func (g *Guard) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, guardKey{}, g)
}

// guardOf returns the guard of a context. Without one it returns one that knows nothing.
func guardOf(ctx context.Context) *Guard {
	if g, ok := ctx.Value(guardKey{}).(*Guard); ok {
		return g
	}
	return &Guard{}
}

// Reads declares an input, and what messages call it unless it was declared before. It fails if
// that is an output. It stays an input all the same, so that the output cannot be committed.
func (g *Guard) Reads(what string, id ID) error {
	if !id.Same(id) {
		return nil // a pipe, a device or a URL has nothing to lose
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	in := g.inputs.find(id)
	if in == nil {
		in = g.inputs.add(id, what)
	}
	if out := g.outputs.find(id); out != nil && !in.kept {
		return &Conflict{out.what, in.what}
	}
	return nil
}

// Adds declares an input that an output may replace, since it will hold all that the input has.
func (g *Guard) Adds(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inputs.add(id, "").kept = true
}

// Stream declares an output that is open already, such as standard output.
func (g *Guard) Stream(what string, id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outputs.add(id, what)
}

// writes declares an output, unless that is an input or another output.
func (g *Guard) writes(what string, id ID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if other := g.outputs.find(id); other != nil {
		return &Conflict{what, other.what}
	}
	if err := g.free(what, id); err != nil {
		return err
	}
	g.outputs.add(id, what)
	return nil
}

// free fails if an output is an input.
func (g *Guard) free(what string, id ID) error {
	if in := g.inputs.find(id); in != nil && !in.kept {
		return &Conflict{what, in.what}
	}
	return nil
}

// unread fails if an output has been read since it was declared.
func (g *Guard) unread(what string, id ID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.free(what, id)
}

// written ends what writes began.
func (g *Guard) written(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outputs.remove(id)
}

// table finds files by their IDs. Those that may be the same are in one bucket.
type table map[bucket][]*claimedFile

// claimedFile is a file of the program.
type claimedFile struct {
	id   ID
	what string // what messages call it
	kept bool   // see Adds
}

func (t table) find(id ID) *claimedFile {
	for _, h := range t[id.bucket()] {
		if h.id.Same(id) {
			return h
		}
	}
	return nil
}

func (t *table) add(id ID, what string) *claimedFile {
	if *t == nil {
		*t = table{}
	}
	h := &claimedFile{id: id, what: what}
	(*t)[id.bucket()] = append((*t)[id.bucket()], h)
	return h
}

func (t table) remove(id ID) {
	b := id.bucket()
	t[b] = slices.DeleteFunc(t[b], func(h *claimedFile) bool { return h.id == id })
	if len(t[b]) == 0 {
		delete(t, b)
	}
}

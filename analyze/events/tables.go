package events

import (
	"encoding/binary"
	"iter"
	"slices"

	"golang.org/x/exp/trace"
)

// Tables holds the stacks and strings of a stream, each distinct one once.
type Tables struct {
	View     // of what they hold now
	byStack  map[string]Handle
	byName   map[string]Handle
	byFrame  map[Frame]int32 // index of frames
	byPlace  map[Frame]int32 // likewise, of the first with a place: its program counter is left out
	frames   []known
	bytes    int64
	messages int // texts of logs

	numbers []int32 // scratch: frames of a block
	key     []byte  // likewise: places of a stack
}

// known is a frame of some stack.
type known struct {
	*Frame
	place int32 // index of the first that differs in nothing but its program counter
}

// NewTables returns tables that hold the fixed strings and no stack.
func NewTables() *Tables {
	t := &Tables{
		View:    View{stacks: make([][]*Frame, 1)},
		byStack: map[string]Handle{},
		byName:  map[string]Handle{},
		byFrame: map[Frame]int32{},
		byPlace: map[Frame]int32{},
	}
	for _, s := range fixedStrings {
		t.String(s)
	}
	return t
}

// View is a snapshot of [Tables]. It may be read while they grow.
type View struct {
	stacks  [][]*Frame
	strings []string
}

// Frames returns the frames of the stack with a handle, innermost first. The caller must not
// change them.
func (v *View) Frames(h Handle) []*Frame {
	if int(h) >= len(v.stacks) {
		return nil
	}
	return v.stacks[h]
}

// Name returns the string with a handle.
func (v *View) Name(h Handle) string {
	if int(h) >= len(v.strings) {
		return ""
	}
	return v.strings[h]
}

// Stacks returns the number of stack handles in use.
func (t *Tables) Stacks() int { return len(t.stacks) }

// AllFrames returns the frames of all stacks, as Frames does, in the order of their handles.
func (t *Tables) AllFrames() iter.Seq[[]*Frame] { return slices.Values(t.stacks) }

// Memory returns the estimated size of the tables, in bytes.
func (t *Tables) Memory() int64 { return t.bytes }

// What an entry takes beside its text: headers, and its place in a map.
const (
	nameMemory  = 120
	stackMemory = 150
	frameMemory = 12
	placeMemory = 300
)

// String returns the handle of s, a new one if s was not known.
func (t *Tables) String(s string) Handle {
	h, ok := t.byName[s]
	if !ok {
		h = Handle(len(t.strings))
		t.strings = append(t.strings, s)
		t.byName[s] = h
		t.bytes += nameMemory + int64(len(s))
	}
	return h
}

// message is String for the text of a log, of which only so many are kept; 0 beyond.
func (t *Tables) message(s string) Handle {
	if _, ok := t.byName[s]; !ok {
		if t.messages == maxAllMessages {
			return 0
		}
		t.messages++
	}
	return t.String(s)
}

// newStacks are stacks that come with a block of events.
type newStacks struct {
	places []Frame // of them, mostly each once
	frames []int32 // of all stacks, one after the other: indices of places
	ends   []int32 // of each stack, in frames
}

// add adds those of another block.
func (n *newStacks) add(m *newStacks) {
	places, frames := int32(len(n.places)), int32(len(n.frames))
	n.places = append(n.places, m.places...)
	for _, i := range m.frames {
		n.frames = append(n.frames, places+i)
	}
	for _, end := range m.ends {
		n.ends = append(n.ends, frames+end)
	}
}

// maxFrames bounds what is kept of one stack; the runtime writes at most 128.
const maxFrames = 128

// addFrames adds a stack that the public reader gives.
func (n *newStacks) addFrames(seq iter.Seq[trace.StackFrame]) {
	from := len(n.frames)
	for f := range seq {
		if len(n.frames) == from+maxFrames {
			break
		}
		n.frames = append(n.frames, int32(len(n.places)))
		n.places = append(n.places, Frame{Func: f.Func, File: f.File, Line: f.Line, PC: f.PC})
	}
	n.ends = append(n.ends, int32(len(n.frames)))
}

// addStacks appends the handles of the stacks of a block to handles.
//
// OPT: of a program with deep stacks, telling stacks apart by their text was a fifth of all
// time, and three quarters of the memory that the tables took.
func (t *Tables) addStacks(handles []Handle, n *newStacks) []Handle {
	t.numbers = t.numbers[:0]
	for i := range n.places {
		t.numbers = append(t.numbers, t.frame(&n.places[i]))
	}
	from := int32(0)
	for _, end := range n.ends {
		frames := n.frames[from:end]
		from = end
		t.key = t.key[:0]
		for _, i := range frames {
			t.key = binary.LittleEndian.AppendUint32(t.key, uint32(t.frames[t.numbers[i]].place))
		}
		h, ok := t.byStack[string(t.key)]
		if !ok {
			h = t.newStack(frames)
		}
		handles = append(handles, h)
	}
	return handles
}

// frame returns the index of a frame, which is new if it was not known.
func (t *Tables) frame(f *Frame) int32 {
	i, ok := t.byFrame[*f]
	if ok {
		return i
	}
	i = int32(len(t.frames))
	place := Frame{Func: f.Func, File: f.File, Line: f.Line}
	first, ok := t.byPlace[place]
	if ok {
		first := t.frames[first] // which has the strings that are kept
		place.Func, place.File = first.Func, first.File
	} else {
		first = i
		t.byPlace[place] = i
		t.bytes += placeMemory + int64(len(f.Func)+len(f.File))
	}
	kept := place
	kept.PC = f.PC
	t.frames = append(t.frames, known{&kept, first})
	t.byFrame[kept] = i
	t.bytes += placeMemory
	return i
}

// newStack adds the stack of which t.key is the key.
func (t *Tables) newStack(frames []int32) Handle {
	var s []*Frame
	if len(frames) > 0 {
		s = make([]*Frame, len(frames))
	}
	for k, i := range frames {
		s[k] = t.frames[t.numbers[i]].Frame
	}
	h := Handle(len(t.stacks))
	t.stacks = append(t.stacks, s)
	t.byStack[string(t.key)] = h
	t.bytes += stackMemory + frameMemory*int64(len(frames))
	return h
}
